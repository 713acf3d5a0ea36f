import JSONRPC
import Testing
import XferTestSupport

@testable import XferGateway

struct WebPageTests {
    @Test func everyFileOfThePageIsPartOfTheProgram() throws {
        let tests = try #require(#filePath.firstRange(of: "/Tests/"))
        let folder = #filePath[..<tests.lowerBound] + "/Sources/XferGateway/Web"
        #expect(WebPage.files.map(\.name).sorted() == (try FileTree.names(in: String(folder))).sorted())
        for (name, bytes) in WebPage.files { #expect(try FileTree.read("\(folder)/\(name)") == bytes, "\(name)") }
    }

    @Test func everyFileIsAnsweredWithoutATokenAsWhatItIs() async throws {
        try await GatewayWorld.with { world in
            for (name, type) in [("main.js", "text/javascript"), ("page.css", "text/css"), ("icon.svg", "image/svg")] {
                let answer = try await world.exchange(GatewayWorld.get("/web/\(name)", token: nil))
                #expect(answer.hasPrefix("HTTP/1.1 200 ") && answer.contains("Content-Type: \(type)"), "\(answer)")
            }
            #expect(try await world.exchange(GatewayWorld.get("/web/none.js", token: nil)).hasPrefix("HTTP/1.1 404 "))
        }
    }
}
