import NIOConcurrencyHelpers
import XferModel

/// A server that is honest but unlucky: each request meets the next of a series of misfortunes, drawn from a seed.
/// After the last one the server is correct, so that a patient client finishes.
///
/// It breaks off, trickles, refuses for a while, requests a second's wait, hides behind a portal for several requests,
/// ignores ranges and cannot use them, leads to bad mirrors and nodes, and has several nodes and mirrors. It never sends
/// bytes of another version.
public final class UnluckyServer: Sendable, CustomStringConvertible {
    /// A fault of a response.
    private enum Misfortune: CaseIterable {
        case drop, dropEarly, noAnswer, reset, unavailable, overloaded, refused, empty, noContent, shortRange
        /// A sign-in page in place of this answer, and of up to five that follow.
        case portal
        /// 503 with `Retry-After`, which is about the URL, and 429, which is about all requests to the host.
        case delayed, tooMany
        /// No range can be used.
        case uselessRange
        /// The server ignores ranges.
        case whole
        /// A part without the version that it belongs to.
        case untagged
        /// Another node with the same name, with a tag of its own.
        case node
        /// A redirect to a sign-in page.
        case signIn
        /// A slow body that breaks off.
        case trickle
        /// Chunks that break off before the last one.
        case chunks
        /// A redirect to another host, or to another path of the same one, that does not have the file.
        case badMirror, badNode
    }

    /// Redirects to places without the file: a client may give up after more.
    private static let mostBadPlaces = 3

    private struct State {
        var left: Int
        var random: SplitMix64
        var badPlaces = 0
        /// Answers with `Retry-After` that are left.
        var delays: Int
        /// Further requests that the portal answers.
        var portal = 0
        var log: [String] = []
    }

    public let version: SourceVersion
    private let hasNodes: Bool
    /// The scheme and authority of another host, to whose missing files it redirects; nil for no such redirects.
    private let elsewhere: String?
    /// True if bodies of unknown length break off. Over HTTP/2 libcurl 7.88 does not report each such end as what it
    /// is.
    private let breaksChunks: Bool
    private let state: NIOLockedValueBox<State>

    /// - Parameters:
    ///   - misfortunes: the number of misfortunes.
    ///   - hasNodes: true if nodes and mirrors have tags of their own. Without a checksum nothing then shows that their
    ///     bytes are the same.
    ///   - transport: the way on which the requests arrive.
    public init(
        _ version: SourceVersion, misfortunes: Int, hasNodes: Bool, over transport: UnluckyTransport, seed: UInt64
    ) {
        self.version = version
        self.hasNodes = hasNodes
        elsewhere = transport.elsewhere
        breaksChunks = !transport.isHTTP2
        // Clients wait in real time, so only each fourth server makes them wait, for two seconds in all.
        let delays = seed % 4 == 0 ? 2 : 0
        state = NIOLockedValueBox(State(left: misfortunes, random: SplitMix64(seed: seed), delays: delays))
    }

    /// The misfortunes so far, one a line.
    public var description: String { state.withLockedValue { $0.log.joined(separator: "\n") } }

    fileprivate static let signInPath = "/sign-in"

    fileprivate static func page(_ words: Int) -> Reply {
        Reply(
            200, headers: [HeaderField(name: "Content-Type", value: "text/html")],
            text: String(repeating: "sign in ", count: words))
    }

    /// The reply to a request.
    ///
    /// - Parameter mirror: the number of the server among several with the same file, from 0.
    public func reply(to request: RecordedRequest, mirror: Int = 0) -> Reply {
        var version = version
        if hasNodes, mirror > 0 { version.etag = "\"mirror\(mirror)\"" }
        guard let drawn = draw(for: request) else { return version.honestReply(to: request) }
        return bent(drawn.kind, drawn.count, drawn.node, request, version)
    }

    /// The next misfortune with its numbers; nil if there is none left.
    private func draw(for request: RecordedRequest) -> (kind: Misfortune, count: Int64, node: UInt64)? {
        state.withLockedValue { state -> (kind: Misfortune, count: Int64, node: UInt64)? in
            guard state.left > 0 else { return nil }
            state.left -= 1
            var kind = Misfortune.allCases.randomElement(using: &state.random) ?? .drop
            if state.portal > 0 { kind = .portal }
            switch kind {
            case .portal where state.portal > 0: state.portal -= 1
            case .portal: state.portal = Int.random(in: 0...5, using: &state.random)
            case .badMirror where elsewhere == nil: kind = .drop
            case .badMirror, .badNode:
                state.badPlaces += 1
                if state.badPlaces > Self.mostBadPlaces { kind = .drop }
            case .delayed, .tooMany:
                state.delays -= 1
                if state.delays < 0 { kind = .unavailable }
            default: break
            }
            let count = Int64.random(in: 1...200_000, using: &state.random)
            let node = state.random.next() % 4
            state.log.append("\(request.path) \(request.header("Range") ?? "whole"): \(kind) \(count)")
            return (kind, count, node)
        }
    }

    private func bent(
        _ kind: Misfortune, _ count: Int64, _ node: UInt64, _ request: RecordedRequest, _ version: SourceVersion
    ) -> Reply {
        var reply = version.honestReply(to: request)
        let isContinued = request.header("Range") != nil
        func apply(_ faults: Fault...) { for fault in faults { fault.apply(to: &reply, request, version) } }
        switch kind {
        case .drop: apply(.drop(after: count))
        case .dropEarly: apply(.drop(after: count % 100, by: .close))
        case .noAnswer: apply(.noAnswer(.close))
        case .reset: apply(.noAnswer(.reset))
        case .unavailable: return Reply(503, text: "later")
        case .overloaded: return Reply(500, text: "later")
        case .delayed: return .failure(503, retryAfter: "1")
        case .tooMany: return .failure(429, retryAfter: "1")
        // A first answer cannot be compared with anything.
        case .portal where isContinued: return Self.page(Int(clamping: count / 100))
        case .refused where isContinued: return Reply(403, text: "not now")
        case .empty where isContinued: return Reply(200, text: "")
        case .noContent where isContinued: return Reply(204, headers: [], body: [])
        case .uselessRange where isContinued: return Reply(416, text: "")
        case .whole: apply(.ignoreRange, .drop(after: count * 8))
        case .untagged where isContinued: apply(.header("ETag", nil), .drop(after: count))
        case .shortRange: apply(.shortRange(count), .drop(after: count))
        case .node where hasNodes:
            var other = version
            other.etag = "\"node\(node)\""
            reply = other.honestReply(to: request)
            Fault.drop(after: count).apply(to: &reply, request, other)
        case .signIn where isContinued: return .redirect(to: Self.signInPath)
        case .trickle: apply(.drop(after: count), .drip(20_000, every: .milliseconds(2)))
        case .chunks where breaksChunks: apply(.chunked, .drop(after: count))
        case .badMirror: return .redirect(to: "\(elsewhere ?? "")/gone")
        case .badNode: return .redirect(to: "/gone")
        case .portal, .refused, .empty, .noContent, .uselessRange, .untagged, .node, .signIn, .chunks:
            apply(.drop(after: count))
        }
        return reply
    }
}

extension FaultServer {
    /// Offers the unlucky server's file under each of these paths: the first is the file's own, the others are mirrors.
    public func serve(_ paths: [String], _ unlucky: UnluckyServer) {
        on(UnluckyServer.signInPath) { _ in UnluckyServer.page(9) }
        for (mirror, path) in paths.enumerated() { on(path) { unlucky.reply(to: $0, mirror: mirror) } }
    }
}
