/// One step of the fleet's schema, never edited once it is in a release. The schema's number is that of the last step
/// taken.
struct FleetMigration: Sendable {
    /// SQL scripts of the folder `Schema`, in order.
    let scripts: [[UInt8]]

    /// All migrations in order; new ones go to the end.
    static let all = [
        FleetMigration(scripts: [
            PackageResources.tables_sql, PackageResources.positions_sql, PackageResources.adding_sql,
            PackageResources.claiming_sql, PackageResources.reporting_sql, PackageResources.wishing_sql,
            PackageResources.nodes_sql, PackageResources.limits_sql, PackageResources.showing_sql,
            PackageResources.permits_sql,
        ])
    ]

    /// The number of the first step. Only development versions made databases with lower ones.
    static let first = 14
    /// The number of the last step: the schema of this program.
    static var newest: Int { first + all.count - 1 }

    /// The oldest program that may work with this schema, by the number of the last step it knows. A step that a
    /// program of the version before cannot live with raises it.
    static let minimum = 11

    /// The statements of the steps that a database of schema `found` lacks, in order. All for 0, a database without
    /// tables.
    static func statements(after found: Int) -> [String] {
        let scripts = all.enumerated().filter { first + $0.offset > found }.flatMap { $0.element.scripts }
        guard !scripts.isEmpty else { return [] }
        // Last: it is about the functions of all steps.
        return (scripts + [PackageResources.settings_sql]).flatMap {
            statements(of: String(decoding: $0, as: UTF8.self))
        }
    }

    /// The statements of a script: PQexecParams takes one at a time. Each ends with a semicolon at the end of a line
    /// outside of a function's body, which is between two `$$`.
    static func statements(of script: String) -> [String] {
        var found: [String] = []
        var lines: [Substring] = []
        var isInBody = false
        for line in script.split(separator: "\n") {
            lines.append(line)
            if (line.split(separator: "$$", omittingEmptySubsequences: false).count - 1) % 2 == 1 { isInBody.toggle() }
            guard !isInBody, line.hasSuffix(";") else { continue }
            found.append(lines.joined(separator: "\n"))
            lines = []
        }
        return found
    }
}
