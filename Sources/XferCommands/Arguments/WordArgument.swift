import ArgumentParser
import XferProtocol

/// One of the wire's words as an argument: usage errors, help and completions list them all.
struct WordArgument<Word: WireEnum>: ExpressibleByArgument {
    let word: Word

    init(_ word: Word) { self.word = word }

    init?(argument: String) {
        guard let word = Word(wireName: argument) else { return nil }
        self.word = word
    }

    static var allValueStrings: [String] { Word.allCases.map(\.wireName) }

    var defaultValueDescription: String { word.wireName }
}
