/// One step of the schema, never edited once it has landed. The schema's version (`PRAGMA user_version`) is the number
/// of steps taken.
struct Migration: Sendable {
    /// For people looking into the database.
    let name: String
    let sql: String

    /// In order; new ones go to the end, each in a file of its own.
    static let all: [Migration] = [
        .initialSchema, .trustPolicies, .requestsAndUploads, .transferSources, .spool, .abandonedUploads,
        .slotsAndFailedURLs, .coalescing, .cache, .stagingAndHooks, .schedules, .groupsAndBatches,
        .mirrors, .profileLanes, .waitEnds, .cheapStates, .crashes, .fileMarks,
        .webhooks, .tokens, .cheapRemovals, .briefRuns, .eventSeries,
        .answerDoubts, .hostCooldowns, .lastAttempts,
        .cooldownCauses, .secureHosts, .tokenDirectories, .openDependencies,
        .storedBytes, .uploadParts, .operations,
    ]

    /// `PRAGMA application_id`: "xfer" in ASCII, by which file(1) and this program recognise its databases.
    static let applicationID: Int32 = 0x7866_6572
}
