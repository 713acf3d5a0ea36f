import StrictJSON
import Testing
import XferModel
import XferProtocol

struct MethodTests {
    @Test func methodNamesAreUniqueAndOfOneForm() {
        let names = MethodRegistry.documented.map { $0.name }
        #expect(Set(names).count == names.count)
        for name in names {
            #expect(name.wholeMatch(of: /[a-z]+(_[a-z]+)*\.[a-z_]+/) != nil, "\(name)")
            #expect(MethodRegistry.method(named: name)?.name == name)
        }
        #expect(MethodRegistry.method(named: "task.ad") == nil)
        #expect(MethodRegistry.suggestion(for: "task.ad") == "task.add")
        #expect(MethodRegistry.suggestion(for: "task.add_many") == "task.add")
        #expect(MethodRegistry.suggestion(for: "make.coffee") == nil)
    }

    /// What the examples say is what the types read and write.
    @Test func theExamplesOfEveryMethodParseToThemselves() throws {
        func check<Method: RPCMethod>(_ method: Method.Type) throws {
            #expect(!Method.examples.isEmpty)
            #expect(!Method.summary.isEmpty)
            for example in Method.examples {
                let params = try Method.Params(strict: example.params)
                #expect(try Method.Params(strict: params.wire).wire == params.wire)
                let result = try Method.Result(strict: example.result)
                #expect(result.wire == example.result, "\(Method.name) \(example.name)")
                // What goes over the wire is written without a value in between.
                var text: [UInt8] = []
                result.write(to: &text)
                #expect(String(decoding: text, as: UTF8.self) == result.wire.text, "\(Method.name) \(example.name)")
            }
        }
        for method in MethodRegistry.documented { try check(method) }
    }

    @Test func noMethodTakesParametersItDoesNotKnow() {
        func check<Method: RPCMethod>(_ method: Method.Type) {
            var params = Method.examples.first?.params.objectValue ?? JSONObject()
            params["bogus"] = 1
            let error = #expect(throws: WireError.self) { try Method.Params(strict: .object(params)) }
            #expect(error?.path == "bogus", "\(Method.name)")
            #expect(throws: WireError.self) { try Method.Params(strict: []) }
        }
        for method in MethodRegistry.documented { check(method) }
    }

    @Test func movingNeedsATargetOnlyForRelativePlaces() throws {
        #expect(try TaskMove.Params(strict: ["ids": [1], "to": "before", "target": 2]).target == TaskID(2))
        for json in [
            ["ids": [1], "to": "before"], ["ids": [1], "to": "top", "target": 2],
            ["ids": [1], "to": "after", "target": 1], ["ids": [1], "to": "sideways"],
        ] as [JSONValue] {
            #expect(throws: WireError.self) { try TaskMove.Params(strict: json) }
        }
    }

    @Test func limitsAreSetOrReset() throws {
        let params = try QueueSetLimits.Params(strict: ["max_active": 2, "max_active_per_host": nil])
        #expect(params.maxActive == .set(2))
        #expect(params.maxActivePerHost == .clear)
        #expect(throws: WireError.self) { try QueueSetLimits.Params(strict: [:]) }
        #expect(throws: WireError.self) { try QueueSetLimits.Params(strict: ["max_active": 0]) }
    }

    @Test func putContentIsEitherAFileOrBytes() throws {
        let bytes = try CachePut.Params(strict: ["url": "http://h/f", "base64": ""])
        #expect(bytes.base64?.bytes == [] && bytes.maxAge == 86_400)
        #expect(try CachePut.Params(strict: ["url": "http://h/f", "file": "/f", "max_age": 0]).file == "/f")
        for json in [
            ["url": "http://h/f"], ["url": "http://h/f", "file": "/f", "base64": ""],
            ["url": "http://h/f", "file": "f"], ["url": "http://h/f", "base64": "", "max_age": -1],
            ["url": "http://h/f", "base64": "", "content_type": "text/plain\r\nA: b"],
        ] as [JSONValue] {
            #expect(throws: WireError.self) { try CachePut.Params(strict: json) }
        }
    }

    @Test func everyStateIsCounted() {
        var counts = StateCounts()
        for (index, state) in TaskState.allCases.enumerated() { counts[state] = Int64(index + 1) }
        for state in TaskState.allCases { #expect(counts.wire[state.rawValue]?.integerValue == counts[state]) }
        #expect(counts.unfinished == 1 + 2 + 3 + 4 + 5)
    }
}

struct ErrorTests {
    @Test func errorCodesAndNamesAreUnique() {
        #expect(Set(ErrorCode.allCases.map(\.name)).count == ErrorCode.allCases.count)
        #expect(ErrorCode.notFound.rawValue == -32001)
        #expect(ErrorCode.shuttingDown.rawValue == -32008)
    }

    @Test func aWireErrorBecomesInvalidParams() {
        let failure = RPCFailure(WireError(.wrongType, at: "tasks[3].checksum", expected: "a string"))
        #expect(
            failure.wire == [
                "code": -32602, "message": "tasks[3].checksum: expected a string",
                "data": ["reason": "wrong_type", "path": "tasks[3].checksum", "expected": "a string"],
            ])
    }

    @Test func aFailureParsesToItselfAndToleratesOtherData() throws {
        let failure = RPCFailure.noSuchTask(TaskID(9))
        #expect(try RPCFailure(lenient: failure.wire) == failure)
        let odd = try RPCFailure(lenient: ["code": -32099, "message": "m", "data": [1]])
        #expect(odd.knownCode == nil)
        #expect(odd.data == nil)
        #expect(throws: WireError.self) { try RPCFailure(lenient: ["message": "m"]) }
    }
}
