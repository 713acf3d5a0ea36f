import Testing

@testable import XferManager

/// The commands in the log's advice about a damaged database.
struct MaintenanceCommandTests {
    @Test(
        arguments: [
            (0, "/var/lib/x", "xferd --state-dir /var/lib/x --recover"),
            (1000, "/home/ada/my state", "xferd --state-dir '/home/ada/my state' --recover"),
            (1000, "/it's", #"xferd --state-dir '/it'\''s' --recover"#),
            (1, "/var/lib/x", "sudo -u '#1' xferd --state-dir /var/lib/x --recover"),
            (999, "/var/lib/x", "sudo -u '#999' xferd --state-dir /var/lib/x --recover"),
        ] as [(UInt32, String, String)])
    func theCommandNamesTheStateDirectoryAndTheServicesUser(uid: UInt32, directory: String, command: String) {
        #expect(MaintenanceCommand.text("--recover", stateDirectory: directory, uid: uid) == command)
    }
}
