/// One step of the schema, never edited once it has landed. The schema's version (`PRAGMA user_version`) is the number
/// of the last step taken.
struct Migration: Sendable {
    /// The name, for people who inspect the database.
    let name: String
    let sql: String

    /// All migrations in order; new ones are added at the end, each in a file of its own.
    static let all: [Migration] = [
        .firstRelease, .cheapRemovals, .briefRuns, .eventSeries,
        .answerDoubts, .hostCooldowns, .lastAttempts,
        .cooldownCauses, .secureHosts, .tokenDirectories, .openDependencies,
        .storedBytes, .uploadParts, .operations, .publishedDigests,
        .userShares, .updateOperations,
    ]

    /// The number of the first step. Only development versions made databases with lower ones.
    static let first = 20
    /// The number of the last step: the schema of this program.
    static var newest: Int { first + all.count - 1 }

    /// The steps that a database of schema `version` lacks, with their numbers. All of them for 0, a blank database.
    static func missing(after version: Int) -> [(number: Int, migration: Migration)] {
        all.enumerated().map { (first + $0.offset, $0.element) }.filter { $0.number > version }
    }

    /// `PRAGMA application_id`: "xfer" in ASCII, by which file(1) and this program recognise its databases.
    static let applicationID: Int32 = 0x7866_6572
}
