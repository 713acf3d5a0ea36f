import ArgumentParser
import StrictJSON
import XferModel
import XferProtocol

/// `xferctl result`: prints a task's stored response.
struct ResultCommand: TaskVerb {
    static let configuration = CommandConfiguration(
        commandName: "result", abstract: "Print the stored response of a data or upload task.",
        discussion: """
            Writes the body as it was received to standard output, or to the file given with -o. Bytes that are not \
            text are not written to a terminal. With --object it writes the result of --parse instead, as JSON.
            """)
    static let states: Set<TaskState> = [.completed, .failed]

    @OptionGroup var task: TaskArgument

    @Option(
        name: [.customShort("o"), .long],
        help: ArgumentHelp("Write to this file; - is standard output.", valueName: "file"))
    var output: String?

    @Flag(help: "Write the parsed object.")
    var object = false

    @OptionGroup var options: VerbOptions

    func run() throws {
        let daemon = try options.open()
        let first = try daemon.call(TaskResult.self, TaskResult.Params(id: task.id))
        if options.output.json { return Output.standard.document(first.raw) }
        if object {
            guard let object = first.value.object else {
                throw CommandFailure(.refused, "task \(task.id) has no parser for its response, or the parser failed")
            }
            return Output.standard.document(object)
        }
        try Self.write(first.value, of: task.id, from: daemon, to: output)
    }

    /// Writes the whole response, of which `first` is the beginning.
    ///
    /// - Parameter output: a file; nil and `-` are standard output; with `-` also binary data goes to a terminal.
    static func write(
        _ first: TaskResult.Result, of id: TaskID, from daemon: DaemonSession, to output: String? = nil
    ) throws {
        let file = try ByteOutput(path: output == "-" ? nil : output)
        var page = first
        while true {
            guard let bytes = page.bytes else {
                throw CommandFailure(.refused, "cannot decode the daemon's answer to task.result: invalid field data")
            }
            if output == nil, Terminal.standard.isInteractive, page.encoding.value == .base64 {
                throw CommandFailure(
                    .usage, "the response is not text: give it a file with -o, or -o - to see it anyway")
            }
            try file.write(bytes)
            if page.eof || bytes.isEmpty { return try file.close() }
            let next = page.offset.addingSaturated(Int64(bytes.count))
            page = try daemon.call(TaskResult.self, TaskResult.Params(id: id, offset: next)).value
        }
    }
}
