import Glibc
import XferClient
import XferProtocol

/// Downloads a URL, shows its progress, and prints the file's path.
@main struct Download {
    static func main() async {
        guard CommandLine.arguments.count == 2 else {
            return print("usage: xfer-example-download URL")
        }
        do {
            let client = TransferClient()
            let task = try await client.add(CommandLine.arguments[1])
            for try await event in try await task.events() {
                if let progress = event.progress {
                    print("\(progress.received) of \(progress.total.map(String.init) ?? "?") bytes")
                }
                if event.isTerminal { break }
            }
            print(try await task.wait().finalPath ?? "no file")
        } catch TaskError.failed(let record) {
            print("failed: \(record.error?.message ?? "no reason is known")")
        } catch {
            print("\(error)")
            exit(EXIT_FAILURE)
        }
    }
}
