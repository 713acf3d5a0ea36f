import XferProtocol

/// An argument that is an entry of a list: its id, or a URL.
enum EntryArgument {
    /// The id, or nil for an argument that is a URL.
    static func id<ID: RawRepresentable>(_ argument: String) -> ID? where ID.RawValue == Int64 {
        Int64(argument, radix: 10).flatMap { $0 > 0 ? ID(rawValue: $0) : nil }
    }
}

extension DaemonOptions {
    /// Removes the entries with these ids or URLs from a list, and says how many.
    ///
    /// - Parameter text: the line about that many removed entries.
    func remove<Method: RPCMethod, ID: RawRepresentable & CustomStringConvertible>(
        _ method: Method.Type, _ entries: [String], _ text: (Int) -> String
    ) throws
    where
        Method.Params: RemovalParams, Method.Params.ID == ID, Method.Result: RemovalRecord, Method.Result.ID == ID,
        ID.RawValue == Int64
    {
        let daemon = try open()
        let ids: [ID] = entries.compactMap { EntryArgument.id($0) }
        let urls = entries.filter { EntryArgument.id($0) as ID? == nil }
        var all = Method.Result()
        for params in (ids.isEmpty ? [] : [Method.Params(ids: ids)]) + urls.map({ Method.Params(url: $0) }) {
            let answer = try daemon.call(method, params).value
            all.removed += answer.removed
            all.missing += answer.missing
        }
        // Ids that name nothing are reported below.
        let isSilent = all.removed.isEmpty && !all.missing.isEmpty
        show(all.wire, isSilent ? [] : [text(all.removed.count)])
        guard all.missing.isEmpty else {
            let missing = all.missing.map(\.description).joined(separator: ", ")
            throw CommandFailure(.refused, "there is no entry \(missing)")
        }
    }
}
