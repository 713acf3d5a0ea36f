import Glibc
import XferCommands

exit(Aria2Program.main(Array(CommandLine.arguments.dropFirst())))
