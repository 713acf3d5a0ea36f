import XferModel

/// Names that servers and URLs suggest, in a form that the destination's file system allows.
extension FileName {
    /// Characters that no name may contain on Windows, in addition to control characters ("Naming Files, Paths, and
    /// Namespaces").
    private static let reservedOnWindows = Set("\"*/:<>?\\|".unicodeScalars)

    private static let devicesOnWindows: Set<String> = {
        let numbered = ["COM", "LPT"].flatMap { device in (1...9).map { "\(device)\($0)" } }
        return Set(["CON", "PRN", "AUX", "NUL"] + numbered)
    }()

    /// The name, changed as little as a file system with such names demands.
    ///
    /// - Parameter longest: the length of its longest name, in bytes of UTF-8.
    static func fitted(_ name: String, to names: FileSystemTraits.Names, longest: Int) -> String {
        shortened(names == .windows ? fittedToWindows(name) : name, to: longest)
    }

    private static func fittedToWindows(_ name: String) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in name.unicodeScalars {
            let isReserved = reservedOnWindows.contains(scalar) || scalar.properties.generalCategory == .control
            scalars.append(isReserved ? "_" : scalar)
        }
        while let last = scalars.last, last == "." || last == " " { scalars.removeLast() }
        let fitted = String(scalars)
        let device = fitted.prefix { $0 != "." }.uppercased()
        if devicesOnWindows.contains(device.trimmingSpaces) { return "_" + fitted }
        return fitted.isEmpty ? fallback : fitted
    }

    /// A name that every file system allows, as similar to the given one as possible: letters, digits and `.-_ ()` of
    /// ASCII.
    static func portable(_ name: String, longest: Int) -> String {
        let scalars = name.unicodeScalars.map { scalar -> Unicode.Scalar in isPortable(scalar) ? scalar : "_" }
        return fitted(String(String.UnicodeScalarView(scalars)), to: .windows, longest: min(longest, longestPortable))
    }

    /// True if every file system allows the name, so that none has to be queried.
    static func isPortable(_ name: String) -> Bool {
        name.utf8.count <= longestPortable && name.unicodeScalars.allSatisfy(isPortable)
            && fittedToWindows(name) == name
    }

    /// The length that encrypting file systems allow (eCryptfs: 143 bytes), less some room for a number.
    private static var longestPortable: Int { 130 }

    private static func isPortable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", ".", "-", "_", " ", "(", ")": true
        default: false
        }
    }
}

extension String {
    fileprivate var trimmingSpaces: String {
        var text = self[...]
        while text.last == " " { text.removeLast() }
        return String(text)
    }
}
