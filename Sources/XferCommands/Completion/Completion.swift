import XferClient
import XferModel

/// What may stand at the cursor of a command line. A value: from the tree of verbs and the words typed so far.
enum Completion: Hashable, Sendable {
    /// In the order of help; only those that begin with what is typed.
    case words([Word])
    /// The shell knows best.
    case files
    case directories
    /// Only the daemon, or the protocol, knows.
    case asked(Question)

    struct Word: Hashable, Sendable {
        let text: String
        let meaning: String
    }

    /// What to ask, and which answers fit.
    struct Question: Hashable, Sendable {
        let values: DaemonValues
        /// Nil where tasks of every state are meant.
        var states: Set<TaskState>?
        /// What stands before the value in the same word: `--group=`, `1,2,`, `7-`.
        var before = ""
        /// What is typed of the value.
        var prefix = ""
        /// Values that the command line has already.
        var excluded: Set<String> = []
        /// Of a range's end: the id that it begins with.
        var after: Int64?
        let daemon: SocketLocator.Instance
    }

    /// - Parameters:
    ///   - words: after the program's name; the last one is at the cursor and may be empty.
    ///   - tree: the program's.
    init(_ words: [String], in tree: CommandTree) {
        var reader = CompletionReader(tree)
        for word in words.dropLast() { reader.read(word) }
        self = reader.completion(of: words.last ?? "")
    }

    /// With the values that the daemon knows.
    func resolved() -> Completion {
        guard case .asked(let question) = self else { return self }
        return .words(question.words(of: DaemonValueSource(instance: question.daemon)))
    }

    /// As the shells' scripts read it: what it is in the first line, then a word in each, with its meaning behind a tab.
    var lines: [String] {
        switch self {
        case .words(let words):
            ["words"] + words.map { $0.meaning.isEmpty ? $0.text : "\($0.text)\t\($0.meaning)" }
        case .files: ["files"]
        case .directories: ["directories"]
        case .asked: resolved().lines
        }
    }
}

extension Completion.Question {
    /// The question about a word, whose last part between commas, or behind a range's dash, is typed.
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
