import XferClient
import XferModel

/// The possible completions at the cursor of a command line. They are computed from the tree of verbs and the words
/// typed so far.
enum Completion: Hashable, Sendable {
    /// Words in the order of help; only those that begin with the typed text.
    case words([Word])
    /// The shell knows best.
    case files
    case directories
    /// The values are known only to the daemon, or to the protocol.
    case query(Query)

    struct Word: Hashable, Sendable {
        let text: String
        let meaning: String
    }

    /// The query, and the condition for its answers.
    struct Query: Hashable, Sendable {
        let values: DaemonValues
        /// The states of the tasks; nil for all states.
        var states: Set<TaskState>?
        /// The text before the value in the same word: `--group=`, `1,2,`, `7-`.
        var before = ""
        /// The typed beginning of the value.
        var prefix = ""
        /// Values that the command line has already.
        var excluded: Set<String> = []
        /// The first id of the range whose end is completed.
        var after: Int64?
        let daemon: SocketLocator.Instance
    }

    /// - Parameters:
    ///   - words: the words after the program's name; the last one is at the cursor and may be empty.
    ///   - tree: the program's verbs and options.
    init(_ words: [String], in tree: CommandTree) {
        var reader = CompletionReader(tree)
        for word in words.dropLast() { reader.read(word) }
        self = reader.completion(of: words.last ?? "")
    }

    /// The completion with the values that the daemon knows.
    func resolved() -> Completion {
        guard case .query(let query) = self else { return self }
        return .words(query.words(of: DaemonValueSource(instance: query.daemon)))
    }

    /// The lines for the shells' scripts: the kind in the first line, then a word in each, with its meaning after a
    /// tab.
    var lines: [String] {
        switch self {
        case .words(let words):
            ["words"] + words.map { $0.meaning.isEmpty ? $0.text : "\($0.text)\t\($0.meaning)" }
        case .files: ["files"]
        case .directories: ["directories"]
        case .query: resolved().lines
        }
    }
}

extension Completion.Query {
    /// The query for a word. The part after the last comma, or after a range's dash, is the typed beginning.
    init(_ values: DaemonValues, word: Substring, states: Set<TaskState>?, daemon: SocketLocator.Instance) {
        self.init(values: values, states: values == .tasks ? states : nil, daemon: daemon)
        var start = word.startIndex
        if values.isList, let comma = word.lastIndex(of: ",") {
            start = word.index(after: comma)
            excluded = Set(word[..<comma].split(separator: ",").map(String.init))
        }
        if values == .tasks, let dash = word[start...].lastIndex(of: "-") {
            after = Int64(word[start..<dash], radix: 10)
            start = word.index(after: dash)
        }
        before = String(word[..<start])
        prefix = String(word[start...])
    }

    func words(of source: DaemonValueSource) -> [Completion.Word] {
        let fitting = source.words(values, states: states).filter { word in
            word.text.hasPrefix(prefix) && !excluded.contains(word.text)
                && after.map { first in Int64(word.text, radix: 10).map { $0 > first } ?? false } ?? true
        }
        let most = values == .methods || values == .fields ? fitting.count : DaemonValueSource.most
        return fitting.prefix(most).map { Completion.Word(text: before + $0.text, meaning: $0.meaning) }
    }
}
