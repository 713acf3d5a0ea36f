import XferCommands

CommandLineTool.main()
