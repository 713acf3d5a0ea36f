/// One parser of outside input, given bytes that may be anything.
///
/// `run` returns for every input. A trap, a failed `precondition` or an endless loop is a finding. The fuzzer
/// (`make fuzz`) calls `run` with inputs it makes from `seeds`; `FuzzTests` calls it with the seeds, with mutations of
/// them, and with every input that was ever found.
public struct FuzzTarget: Sendable {
    /// As given to the fuzzer, and the name of the directory of found inputs.
    public let name: String
    /// Inputs from which others are made; each reaches far into the parser.
    public let seeds: [[UInt8]]
    public let run: @Sendable ([UInt8]) -> Void

    init(_ name: String, seeds: [String], _ run: @escaping @Sendable ([UInt8]) -> Void) {
        self.init(name, bytes: seeds.map { Array($0.utf8) }, run)
    }

    init(_ name: String, bytes seeds: [[UInt8]], _ run: @escaping @Sendable ([UInt8]) -> Void) {
        self.name = name
        self.seeds = seeds
        self.run = run
    }

    /// A target whose parser reads text: bytes that are not UTF-8 are replaced, as they are where the text comes in.
    init(text name: String, seeds: [String], _ run: @escaping @Sendable (String) -> Void) {
        self.init(name, seeds: seeds) { run(String(decoding: $0, as: UTF8.self)) }
    }

    public static let all: [FuzzTarget] = [
        .json, .rpcLines, .httpDialect, .responseHeads, .contentRange, .contentDisposition, .structuredFields, .digests,
        .cookies, .dates, .tus, .resumableUpload, .timeZoneFile, .netrc, .configuration, .certificates, .netlink, .urls,
        .quantities,
    ]

    public static func named(_ name: String) -> FuzzTarget? { all.first { $0.name == name } }
}
