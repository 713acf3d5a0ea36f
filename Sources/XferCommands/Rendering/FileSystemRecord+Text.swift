import XferModel
import XferProtocol

extension FileSystemRecord {
    /// The file system, with its differences from a local one without limitations.
    var sentence: String {
        let name = mountPoint.map { "\(type) at \($0)" } ?? type
        let remarks = remarks
        return remarks.isEmpty ? name : "\(name): \(remarks.joined(separator: ", "))"
    }

    private var remarks: [String] {
        var remarks: [String] = []
        if !isLocal { remarks.append("not on this machine") }
        let missing = (keepsInodeNumbers ? [] : ["stable file numbers"]) + missing.map(\.description)
        if let last = missing.last {
            let others = missing.dropLast().joined(separator: ", ")
            remarks.append("without " + (others.isEmpty ? last : "\(others) and \(last)"))
        }
        if isLocal, !hasJournal {
            remarks.append("without a known journal (after a power cut let fsck check it before xferd starts)")
        }
        if names == OpenEnum(.windows) { remarks.append("only names that Windows allows") }
        if longestName < 255 { remarks.append("names of at most \(longestName) bytes") }
        if let largestFile { remarks.append("files of at most \(ByteText.size(largestFile))") }
        if timeStep >= 1_000_000_000 { remarks.append("times in steps of \(timeStep / 1_000_000_000) s") }
        return remarks
    }
}
