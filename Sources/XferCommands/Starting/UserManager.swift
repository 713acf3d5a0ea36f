import XferSystem

/// Calls of the user's service manager.
enum UserManager {
    /// Runs `systemctl --user`; nil if it cannot be started.
    static func systemctl(_ arguments: String...) -> ChildProgram.Ending? {
        guard let program = ChildProgram.find("systemctl") else { return nil }
        let environment = environment(ProcessEnvironment.all, .ofThisProcess())
        return ChildProgram.run(program, ["--user"] + arguments, environment: environment)
    }

    /// The environment in which systemctl finds the manager, also where no session has set it: under cron, after `su`.
    static func environment(_ environment: [String: String], _ places: UserPlaces) -> [String: String] {
        environment.merging(["XDG_RUNTIME_DIR": places.runtimeDirectory]) { $1 }
    }
}
