import XferCore
import XferModel

extension FleetLeaseTable {
    /// Reports ends, releases, progress and the last applied event in one transaction.
    ///
    /// - Throws: `superseded`, and `invalid` for an end that is too large; nothing was written then.
    public func report(_ registration: FleetRegistration, _ report: FleetReport) async throws(FleetError)
        -> FleetReportOutcome
    {
        for end in report.ends {
            guard end.detail.utf8.count <= FleetEnd.detailLimit else {
                throw .invalid(field: "detail", reason: "longer than \(FleetEnd.detailLimit) bytes")
            }
            guard end.result?.count ?? 0 <= FleetEnd.resultLimit else {
                throw .invalid(field: "result", reason: "longer than \(FleetEnd.resultLimit) bytes")
            }
        }
        let answer = try await work.run(
            """
            SELECT lost FROM fleet_report(
                $1::bigint, $2::bigint, $3::bigint, $4::bigint[], $5::uuid[], $6::text[], $7::text[], $8::bytea[],
                $9::bigint[], $10::uuid[], $11::text[], $12::text[], $13::text[],
                $14::bigint[], $15::uuid[], $16::bigint[], $17::bigint[], $18::bigint[])
            """,
            [
                registration.node.description, String(registration.incarnation), report.applied.map { String($0) },
            ] + report.ends.map(\.claimKey).arrays + [
                PostgresArray.texts(report.ends.map(\.ending.rawValue)), PostgresArray.texts(report.ends.map(\.detail)),
                PostgresArray.bytes(report.ends.map(\.result)),
            ] + report.releases.map(\.claimKey).arrays + [
                PostgresArray.texts(report.releases.map(\.next.name)),
                PostgresArray.texts(report.releases.map(\.next.place)),
                PostgresArray.texts(report.releases.map(\.cutReason)),
            ] + report.progress.map(\.claimKey).arrays + [
                PostgresArray.integers(report.progress.map(\.received)),
                PostgresArray.integers(report.progress.map(\.total)), PostgresArray.integers(report.wishes),
            ], node: registration.name)
        return FleetReportOutcome(
            lost: try answer.map { (row) throws(PostgresError) in FleetTaskID(try row.integer(0)) })
    }
}

extension FleetRelease.Next {
    fileprivate var name: String {
        switch self {
        case .queue: "queue"
        case .decline: "decline"
        case .paused: "paused"
        case .move: "move"
        }
    }

    fileprivate var place: String? { if case .move(let place) = self { place.description } else { nil } }
}

extension FleetRelease {
    /// The reason, cut to 1,000 bytes at a border of characters.
    fileprivate var cutReason: String {
        var text = reason[...]
        while text.utf8.count > 1000 { text = text.prefix(min(text.count - 1, 1000)) }
        return String(text)
    }
}
