/// A block of Markdown that shows commands and what they print:
/// ```` ```console ````, then `$ command` lines, each with the expected output below it.
struct ConsoleBlock {
    /// A command and its expected output. A command goes on behind a `\` and within quotation marks.
    struct Step {
        /// Line of the document, counted from 1.
        let line: Int
        var command: String
        var output: [String] = []
    }

    let steps: [Step]
    /// Marked `norun`: it cannot run beside the tests.
    let isSkipped: Bool

    /// The console blocks of a document, in order.
    static func all(in text: String) -> [ConsoleBlock] {
        var blocks: [ConsoleBlock] = []
        var open: (isConsole: Bool, isSkipped: Bool, steps: [Step])?
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            guard line.hasPrefix("```") else {
                if var block = open, block.isConsole {
                    read(String(line), number: index + 1, into: &block.steps)
                    open = block
                }
                continue
            }
            if let ended = open {
                if ended.isConsole { blocks.append(ConsoleBlock(steps: ended.steps, isSkipped: ended.isSkipped)) }
                open = nil
            } else {
                let words = line.dropFirst(3).split(separator: " ")
                open = (words.first == "console", words.contains("norun"), [])
            }
        }
        return blocks
    }

    private static func read(_ line: String, number: Int, into steps: inout [Step]) {
        if let last = steps.indices.last, steps[last].output.isEmpty, isUnfinished(steps[last].command) {
            steps[last].command += "\n" + line
        } else if line.hasPrefix("$ ") {
            steps.append(Step(line: number, command: String(line.dropFirst(2))))
        } else if let last = steps.indices.last {
            steps[last].output.append(line)
        }
    }

    private static func isUnfinished(_ command: String) -> Bool {
        command.hasSuffix("\\") || command.count { $0 == "'" } % 2 == 1
    }
}
