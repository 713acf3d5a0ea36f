import NIOCore
import NIOHTTP1

/// The target of a request, decided from its head.
enum HTTPTarget: Sendable {
    /// `POST /rpc`: the body is one message or batch.
    case rpc
    case route(HTTPRoute, HTTPRequest)
    case refused(HTTPAnswer)
    /// The request opens a WebSocket.
    case upgrade

    static let rpcPath = "/rpc"

    /// - Parameter isGated: true if a gate has judged the request's origin.
    init(_ head: HTTPRequestHead, routes: HTTPRouteTable, isGated: Bool = false) {
        let request = HTTPRequest(head)
        let path = request.path
        if !isGated, head.headers.contains(name: "origin") {
            // Only browsers send `Origin`. A web page must not be able to send commands to the daemon through a proxy.
            self = .refused(.text("requests from web pages (with an Origin header) are refused\n", status: 403))
        } else if path == Self.rpcPath {
            self = head.method == .POST ? .rpc : .refused(.methodNotAllowed(allowed: "POST"))
        } else if let route = routes.route(for: path) {
            guard route.methods.contains(head.method.rawValue) else {
                self = .refused(.methodNotAllowed(allowed: route.methods.joined(separator: ", ")))
                return
            }
            self = .route(route, request)
        } else {
            let known = (["POST \(Self.rpcPath)"] + routes.names).joined(separator: ", ")
            self = .refused(.text("no such path; expected \(known)\n", status: 404))
        }
    }
}

extension HTTPRequest {
    func with(_ body: [UInt8]) -> HTTPRequest {
        var request = self
        request.body = body
        return request
    }

    init(_ head: HTTPRequestHead) {
        let parts = head.uri.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        self.init(
            method: head.method.rawValue, path: parts.first.map(String.init) ?? "",
            query: parts.count > 1 ? String(parts[1]) : nil,
            headers: head.headers.map { (name: $0.name, value: $0.value) })
    }
}

extension HTTPAnswer {
    static func json(_ text: [UInt8], status: Int = 200) -> HTTPAnswer {
        HTTPAnswer(status: status, contentType: "application/json", body: .bytes(text))
    }

    fileprivate static func methodNotAllowed(allowed: String) -> HTTPAnswer {
        var answer = HTTPAnswer.text("only \(allowed) is allowed here\n", status: 405)
        answer.headers = [("Allow", allowed)]
        return answer
    }
}
