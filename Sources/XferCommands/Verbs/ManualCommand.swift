import ArgumentParser

/// `xferctl man`: the manual page.
struct ManualCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "man", abstract: "Print the manual page in man(7) markup.",
        discussion: "xferctl man > xferctl.1", shouldDisplay: false)

    func run() throws { Output.standard.write(try Self.page()) }

    static func page() throws -> String {
        ManualPage(root: try CommandTree.ofThisProgram().raw, version: RootCommand.configuration.version).text
    }
}
