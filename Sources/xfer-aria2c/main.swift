import Glibc
import XferAria2c

exit(Aria2Program.main(Array(CommandLine.arguments.dropFirst())))
