import Testing

@Suite struct ImportTests {
    private let tree = SourceTree()

    @Test func everyImportIsInTheTable() throws {
        let files = try tree.swiftFiles(in: "Sources")
        #expect(files.count > 50)
        let broken = files.flatMap { file in
            file.lines.compactMap(ImportLine.init).filter { !ImportTable.allows(file.target, $0.module) }
                .map { "\(file.path) imports \($0.module)" }
        }
        #expect(broken == [])
    }

    @Test func everyTargetHasARowInTheImportTable() throws {
        let targets = Set(try tree.names(in: "Sources"))
        #expect(targets == Set(ImportTable.rows.keys).union(ImportTable.cTargets).union([ImportTable.testSupport]))
    }

    @Test func testsReachTheEffectsOnlyThroughTheirTargets() throws {
        let broken = try tree.swiftFiles(in: "Tests").flatMap { file in
            file.lines.compactMap(ImportLine.init).map(\.module)
                .filter { ["CCurl", "Synchronization"].contains($0) }.map { "\(file.path) imports \($0)" }
        }
        #expect(broken == [])
    }

    @Test func theImportTableKeepsTheEffectsApart() {
        let effects = ["XferCurl", "XferStore", "XferFiles", "JSONRPC"]
        for one in effects {
            for other in effects where one != other { #expect(!ImportTable.allows(one, other), "\(one) → \(other)") }
        }
        #expect(!ImportTable.allows("XferCommands", "XferDaemon"))
        #expect(!ImportTable.allows("XferClient", "XferDaemon"))
        for target in ImportTable.pure {
            for module in ["Glibc", "Foundation", "CLinux", "NIOCore", "Logging"] {
                #expect(!ImportTable.allows(target, module), "\(target) → \(module)")
            }
        }
    }

    @Test(arguments: [
        ("import NIOCore", "NIOCore"), ("public import XferModel", "XferModel"), ("import struct GRDB.Row", "GRDB"),
        ("@testable import XferCore", "XferCore"), ("@_exported public import Logging", "Logging"),
    ])
    func importLinesAreParsed(_ line: String, _ module: String) {
        #expect(ImportLine(line[...])?.module == module)
    }

    @Test(arguments: ["// import NIOCore", "important NIOCore", "let import_ = 1", "import"])
    func linesThatImportNothingAreIgnored(_ line: String) { #expect(ImportLine(line[...]) == nil) }
}
