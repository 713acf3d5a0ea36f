import FoundationEssentials
import Glibc
import XferClient
import XferModel
import XferProtocol

/// Fetches the files URL/0.txt, URL/1.txt, … into a directory, and checks that each is there and right.
@main struct Many {
    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count == 4, let count = Int(arguments[3]), count > 0 else {
            print("usage: xfer-example-many URL DIRECTORY COUNT")
            exit(EXIT_FAILURE)
        }
        let names = (0..<count).map { "\($0).txt" }
        do {
            let client = TransferClient()
            let new: [NewTask] = names.map { name in
                var task = NewTask(url: "\(arguments[1])/\(name)")
                task.dir = arguments[2]
                task.output = name
                task.clientKey = "campaign \(name)"
                return task
            }
            let tasks = try await client.addAll(new)
            for record in try await client.waitAll(tasks) where record.state?.value != .completed {
                print("#\(record.id) did not complete: \(record.error?.message ?? "no reason is known")")
            }
            let found = try FileManager.default.contentsOfDirectory(atPath: arguments[2])
            exit(report(names, in: arguments[2], found: found.filter { !$0.hasPrefix(".") }))
        } catch {
            print("\(error)")
            exit(EXIT_FAILURE)
        }
    }

    /// Prints what is wrong in the directory, and the number of right files. Returns the exit status.
    private static func report(_ names: [String], in directory: String, found: [String]) -> Int32 {
        let others = Set(found).subtracting(names)
        for name in others.sorted() { print("not asked for: \(name)") }
        let wrong = names.filter { name in
            let content = String(repeating: "\(name)\n", count: 100)
            return FileManager.default.contents(atPath: "\(directory)/\(name)") != Data(content.utf8)
        }
        for name in wrong { print("missing or wrong: \(name)") }
        print("\(names.count - wrong.count) files are right")
        return others.isEmpty && wrong.isEmpty ? EXIT_SUCCESS : EXIT_FAILURE
    }
}
