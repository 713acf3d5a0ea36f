import ArgumentParser
import StrictJSON

/// `xferctl man`: the manual page.
struct ManualCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "man", abstract: "Print the manual page in man(7) markup.",
        discussion: "xferctl man > xferctl.1", shouldDisplay: false)

    func run() throws { Output.standard.write(try Self.page()) }

    static func page() throws -> String {
        let tree = try JSONValue(parsing: Array(RootCommand._dumpHelp().utf8))
        return ManualPage(root: tree["command"] ?? tree, version: RootCommand.configuration.version).text
    }
}
