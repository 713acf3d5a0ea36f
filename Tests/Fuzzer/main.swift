import CFuzzer
import FuzzTargets
import Glibc

// xfer-fuzz TARGET [libFuzzer's options and directories], xfer-fuzz --list. .ci/fuzz builds it with -sanitize=fuzzer,address.

// libFuzzer's callback takes no context: a process fuzzes one target, which is set before it begins and never changed.
nonisolated(unsafe) var target: FuzzTarget?

switch CommandLine.arguments.dropFirst().first {
case "--list":
    for known in FuzzTarget.all { print(known.name) }
    exit(0)
case let name?: target = FuzzTarget.named(name)
case nil: break
}
guard let chosen = target else {
    print("xfer-fuzz TARGET [options of libFuzzer], or xfer-fuzz --list")
    exit(2)
}

// The seeds go where libFuzzer looks for inputs: into the first directory among the arguments.
if let corpus = CommandLine.arguments.dropFirst(2).first(where: { !$0.hasPrefix("-") }) {
    for (number, seed) in chosen.seeds.enumerated() {
        guard let file = fopen("\(corpus)/seed-\(number)", "w") else {
            perror(corpus)
            exit(2)
        }
        seed.withUnsafeBytes { _ = fwrite($0.baseAddress, 1, $0.count, file) }
        fclose(file)
    }
}

// libFuzzer expects the program's name first: it takes the place of the target's.
var count = CommandLine.argc - 1
CommandLine.unsafeArgv[1] = CommandLine.unsafeArgv[0]
var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv + 1
exit(
    LLVMFuzzerRunDriver(&count, &arguments) { data, size in
        target?.run(Array(UnsafeBufferPointer(start: data, count: size)))
        return 0
    })
