import StrictJSON
import Testing

@testable import XferAria2

/// Messages of clients in both of aria2's dialects.
struct Aria2MessageTests {
    private func message(_ text: String) -> Aria2Message {
        Aria2Message(parsing: Array(text.utf8), maxDepth: 32, maxCalls: 3)
    }

    @Test func aCallIsReadAsAria2ReadsIt() {
        #expect(
            message(#"{"id":"q","method":"aria2.tellActive","params":["token:x",["gid"]]}"#)
                == .single(.request(id: "q", method: "aria2.tellActive", params: ["token:x", ["gid"]])))
        #expect(message(#"{"id":1,"method":"m"}"#) == .single(.request(id: 1, method: "m", params: [])))
    }

    @Test func faultsHaveAria2sCodes() {
        #expect(message("{") == .refused(.parseError))
        #expect(message("[]") == .refused(.invalidRequest))
        #expect(message("[1,2,3,4]") == .refused(.invalidRequest))
        #expect(message(#"{"method":"m"}"#) == .single(.invalid(id: .null, .invalidRequest)))
        #expect(message(#"{"id":1}"#) == .single(.invalid(id: 1, .invalidRequest)))
        #expect(message(#"{"id":1,"method":"m","params":{}}"#) == .single(.invalid(id: 1, .invalidParams)))
        #expect(message(#"[1]"#) == .batch([.invalid(id: .null, .invalidRequest)]))
        let statuses = [Aria2Fault.unauthorized, .invalidRequest, .invalidParams, .parseError].map(\.status)
        #expect(statuses == [400, 400, 500, 500])
        #expect(Aria2Fault("x", code: -32601).status == 404)
    }

    @Test func answersAreThoseOfJSONRPC() {
        let good = Aria2Answer(.success("OK"), id: 1)
        #expect(String(decoding: good.text, as: UTF8.self) == #"{"id":1,"jsonrpc":"2.0","result":"OK"}"#)
        let bad = Aria2Answer(.failure(.unauthorized), id: "q")
        #expect(
            String(decoding: bad.text, as: UTF8.self)
                == #"{"id":"q","jsonrpc":"2.0","error":{"code":1,"message":"Unauthorized"}}"#)
        #expect(bad.status == 400 && Aria2Answer(batch: [good, bad]).status == 200)
    }

    @Test func tokensAreTakenFromTheFirstParameter() {
        #expect(Aria2Parameters.token(in: ["token:abc", "x"]).token == "abc")
        #expect(Aria2Parameters.token(in: ["token:abc", "x"]).rest == ["x"])
        #expect(Aria2Parameters.token(in: ["x", "token:abc"]).token == nil)
    }

    @Test func faultyParametersAreNamed() {
        let params = Aria2Parameters(["a", 1, ["x"], nil])
        #expect(throws: Aria2Fault.self) { try params.integer(0) }
        #expect(throws: Aria2Fault.self) { try params.string(3) }
        #expect(throws: Aria2Fault.self) { try params.string(9) }
        #expect(throws: Aria2Fault.self) { try params.slice(0) }
        #expect(throws: Aria2Fault.self) { try params.position(0) }
        #expect(throws: Aria2Fault.self) { try params.calls(atMost: 3) }
    }

    @Test func keysThatAria2DoesNotHaveAreLeftOut() throws {
        #expect(try Aria2Parameters([["gid", "bitfield"]]).keys(0) == [.gid])
        #expect(try Aria2Parameters([[]]).keys(0).count == Aria2Status.Key.allCases.count)
    }

    // MARK: XML-RPC

    private func call(_ params: String) throws -> XMLRPCCall {
        try XMLRPCCall(
            parsing: Array(
                "<?xml version='1.0'?>\n<methodCall><methodName>aria2.addUri</methodName><params>\(params)</params></methodCall>\n"
                    .utf8))
    }

    @Test func anXMLCallIsReadWithAllTypes() throws {
        let call = try call(
            """
            <param><value><string>token:x</string></value></param>
            <param><value>plain &amp; &lt;&#233;&#x41;</value></param>
            <param><value><array><data><value><int>-3</int></value><value><boolean>1</boolean></value></data></array></value></param>
            <param><value><struct><member><name>out</name><value><string/></value></member></struct></value></param>
            <param><value><double>1.5</double></value></param><param><value/></param>
            """)
        #expect(call.method == "aria2.addUri")
        #expect(call.params == ["token:x", "plain & <éA", [-3, true], ["out": ""], 1.5, ""])
    }

    @Test(arguments: [
        "<param>", "<param><value><int>x</int></value></param>", "<param><value>&evil;</value></param>",
        "<param><value>&#0;</value></param>", "<param><value><date>1</date></value></param>",
        "<param><value><boolean>2</boolean></value></param>", "<param><value><int>1</i4></value></param>",
        "<param><value><struct><member><name>a</name><value/></member><member><name>a</name><value/></member></struct></value></param>",
        "<!DOCTYPE x [<!ENTITY a \"b\">]>", "<param a=\"b\"><value/></param>",
        "<param><value><double>inf</double></value></param>",
    ])
    func faultyXMLIsRefused(params: String) { #expect(throws: XMLRPCFault.self) { try call(params) } }

    @Test func deepAndLongXMLIsRefused() {
        let deep = String(repeating: "<value><array><data>", count: 100_000)
        #expect(throws: XMLRPCFault.self) { try call("<param>" + deep) }
        let long = String(repeating: "<param><value/></param>", count: 20_001)
        #expect(throws: XMLRPCFault.self) { try call(long) }
        for end in 0..<120 {
            let text =
                "<?xml version='1.0'?><methodCall><methodName>a</methodName><params><param><value><int>1</int></value>"
            #expect(throws: XMLRPCFault.self) { try XMLRPCCall(parsing: Array(text.utf8.prefix(end))) }
        }
    }

    @Test func xmlAnswersAreEscaped() {
        let text = String(decoding: XMLRPCAnswer.text(.success(["a<b": ["&", 5_000_000_000, true]])), as: UTF8.self)
        #expect(text.contains("<name>a&lt;b</name><value><array><data><value><string>&amp;</string></value>"))
        #expect(text.contains("<i8>5000000000</i8>") && text.contains("<boolean>1</boolean>"))
        let fault = String(decoding: XMLRPCAnswer.text(.failure(.unauthorized)), as: UTF8.self)
        #expect(fault.contains("<fault>") && fault.contains("<int>1</int>") && fault.contains("Unauthorized"))
    }
}
