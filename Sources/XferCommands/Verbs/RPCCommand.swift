import ArgumentParser
import StrictJSON

/// `xferctl rpc`: any method, raw.
struct RPCCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rpc", abstract: "Call a method of the JSON-RPC interface.",
        discussion: """
            Prints the result as one line of JSON. `xferctl rpc rpc.discover` describes every method.

              xferctl rpc task.list '{"filter": {"state": "failed"}, "limit": 5}'
            """)

    @Argument(help: ArgumentHelp("The method's name.", valueName: "method"), completion: .daemon(.methods))
    var method: String

    @Argument(
        help: ArgumentHelp(
            "Parameters of the method, a JSON object; - reads them from standard input.", valueName: "params-json")
    )
    var params: String?

    @Option(
        help: ArgumentHelp("Wait at most this long for the answer.", valueName: "time"), transform: TimeSpan.argument)
    var timeout: TimeSpan?

    @OptionGroup(title: "Daemon") var connection: ConnectionOptions

    func run() throws {
        let text = params == "-" ? try FileText.read("-", option: "params") : params
        let value = try text.map { text throws(CommandFailure) in try Self.parse(text) }
        let daemon = try DaemonSession.open(connection.instance())
        let answer = try daemon.call(method, value, timeout: timeout.map { .seconds($0.seconds) })
        Output.standard.document(answer)
    }

    private static func parse(_ text: String) throws(CommandFailure) -> JSONValue {
        do throws(JSONSyntaxError) {
            return try JSONValue(parsing: Array(text.utf8))
        } catch {
            throw .usage("the parameters are not JSON: \(error)")
        }
    }
}
