import Glibc
import XferCommands

// Under this name, a symbolic link, the program takes aria2c's command line.
if CommandLine.arguments.first?.split(separator: "/").last == "xfer-aria2c" {
    exit(Aria2Program.main(Array(CommandLine.arguments.dropFirst())))
}
CommandLineTool.main()
