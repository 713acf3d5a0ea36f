import Logging
import XferModel

/// The rules to read, check and write a kind of value: `integer(1...1000)`, `size(…)`, `path`, …
///
/// It has both directions, so that `--print-config` can always be read back.
struct SettingForm<Value: Hashable & Sendable>: Sendable {
    /// The accepted values, to follow the word "expected".
    let expected: String
    /// True if the value is a single scalar; otherwise the environment uses YAML's flow style.
    let isScalar: Bool
    /// The members of the mappings that the value is made of.
    var fields: [(name: String, documentation: String)] = []
    let read: @Sendable (ConfigurationNode, SettingContext) throws(SettingMismatch) -> Value
    /// YAML flow text on one line.
    let write: @Sendable (Value) -> String
}

/// The context for reading a value besides its text.
struct SettingContext: Hashable, Sendable {
    /// The directory that `~` means.
    let home: String
}

/// The reason why a value was refused.
struct SettingMismatch: Error, Hashable, CustomStringConvertible {
    /// The part at fault, such as `roots[1]`; empty means the value itself.
    private var path = ""
    private let fault: String
    /// Position of the part at fault; nil means the value itself.
    let position: ConfigurationPosition?

    /// The fault with the part's path before it.
    var message: String { path.isEmpty ? fault : "\(path): \(fault)" }

    var description: String { message }

    init(_ message: String, at node: ConfigurationNode) {
        fault = message
        position = node.position
    }

    init(expected: String, found node: ConfigurationNode) {
        self.init("expected \(expected), found \(node.summary)", at: node)
    }

    /// Joins names in the form `a, b or c`.
    static func choice(of names: [String]) -> String {
        names.count < 2 ? names.joined() : names.dropLast().joined(separator: ", ") + " or " + names[names.count - 1]
    }

    /// The same fault, relative to the value that contains the part at `step`.
    func within(_ step: String) -> SettingMismatch {
        var outer = self
        let separator = path.isEmpty || step.isEmpty || path.hasPrefix("[") ? "" : "."
        outer.path = step + separator + path
        return outer
    }
}

extension SettingForm where Value == Int {
    /// Like `integer(_:)`, with a range that the wire's fields have as well.
    static func integer(of range: ClosedRange<Int64>) -> SettingForm {
        integer(Int(clamping: range.lowerBound)...Int(clamping: range.upperBound))
    }

    static func integer(_ range: ClosedRange<Int>) -> SettingForm {
        let expected = "an integer from \(range.lowerBound) to \(range.upperBound)"
        return SettingForm(expected: expected, isScalar: true) { node, _ throws(SettingMismatch) in
            guard case .scalar(let text, isPlain: true) = node.content, let value = Int(text, radix: 10),
                range.contains(value)
            else { throw SettingMismatch(expected: expected, found: node) }
            return value
        } write: {
            "\($0)"
        }
    }
}

extension SettingForm where Value == Int? {
    /// An integer, or `auto`, with which xferd determines the number.
    static func automatic(or range: ClosedRange<Int64>) -> SettingForm {
        let expected = "auto or an integer from \(range.lowerBound) to \(range.upperBound)"
        return SettingForm(expected: expected, isScalar: true) { node, _ throws(SettingMismatch) in
            guard case .scalar(let text, isPlain: true) = node.content else {
                throw SettingMismatch(expected: expected, found: node)
            }
            if text == "auto" { return nil }
            guard let value = Int64(text, radix: 10), range.contains(value) else {
                throw SettingMismatch(expected: expected, found: node)
            }
            return Int(clamping: value)
        } write: {
            $0.map { "\($0)" } ?? "auto"
        }
    }
}

extension SettingForm where Value == SegmentCount {
    static let segments = SettingForm(expected: SegmentCount.expected, isScalar: true) {
        node, _ throws(SettingMismatch) in
        guard let count = node.text.flatMap({ SegmentCount($0) }) else {
            throw SettingMismatch(expected: SegmentCount.expected, found: node)
        }
        return count
    } write: {
        $0.description
    }
}

extension SettingForm where Value == Int64 {
    static func size(_ range: ClosedRange<Int64>) -> SettingForm {
        let expected =
            ByteSizeText.expected
            + ", from \(ByteSizeText.format(range.lowerBound)) to \(ByteSizeText.format(range.upperBound))"
        return SettingForm(expected: expected, isScalar: true) { node, _ throws(SettingMismatch) in
            guard let value = node.text.flatMap({ ByteSizeText.parse($0) }), range.contains(value) else {
                throw SettingMismatch(expected: expected, found: node)
            }
            return value
        } write: {
            ByteSizeText.format($0)
        }
    }
}

extension SettingForm where Value == Duration {
    static func duration(_ range: ClosedRange<Duration>) -> SettingForm {
        let bounds = "\(DurationText.format(range.lowerBound)) to \(DurationText.format(range.upperBound))"
        let expected = DurationText.expected + ", from \(bounds)"
        return SettingForm(expected: expected, isScalar: true) { node, _ throws(SettingMismatch) in
            guard let value = node.text.flatMap({ DurationText.parse($0) }), range.contains(value) else {
                throw SettingMismatch(expected: expected, found: node)
            }
            return value
        } write: {
            DurationText.format($0)
        }
    }
}

extension SettingForm {
    /// The form of a value that is one of a few names.
    static func word(_ words: [(String, Value)]) -> SettingForm {
        let names = words.map(\.0)
        let expected = SettingMismatch.choice(of: names)
        return SettingForm(expected: expected, isScalar: true) { node, _ throws(SettingMismatch) in
            guard let word = words.first(where: { $0.0 == node.text }) else {
                throw SettingMismatch(expected: expected, found: node)
            }
            return word.1
        } write: { value in
            words.first { $0.1 == value }?.0 ?? ""
        }
    }

    /// The names of an enumeration.
    static func word() -> SettingForm where Value: CaseIterable & RawRepresentable, Value.RawValue == String {
        word(Value.allCases.map { ($0.rawValue, $0) })
    }
}

extension SettingForm where Value == Bool {
    static let flag = word([("true", true), ("false", false)])
}

extension SettingForm where Value == String {
    /// An absolute path; `~` and `~/…` mean the home of the daemon's user.
    static let path = SettingForm(expected: "an absolute path or one beginning with ~/", isScalar: true) {
        node, context throws(SettingMismatch) in
        guard let text = node.text else {
            throw SettingMismatch(expected: "an absolute path or one beginning with ~/", found: node)
        }
        let expanded = text == "~" || text.hasPrefix("~/") ? context.home + text.dropFirst() : text
        guard expanded.hasPrefix("/"), !expanded.utf8.contains(0) else {
            throw SettingMismatch(expected: "an absolute path or one beginning with ~/", found: node)
        }
        guard !expanded.split(separator: "/").contains("..") else {
            throw SettingMismatch("expected a path without \"..\", found \(node.summary)", at: node)
        }
        return InstancePaths.normalized(expanded)
    } write: {
        YAMLText.quoted($0)
    }
}

extension SettingForm where Value == String? {
    /// `path`; nil cannot be written.
    static let somePath = SettingForm(expected: SettingForm<String>.path.expected, isScalar: true) {
        node, context throws(SettingMismatch) in
        try SettingForm<String>.path.read(node, context)
    } write: {
        $0.map(SettingForm<String>.path.write) ?? ""
    }

    /// `optionalPath`, whose empty text is nil.
    static let optionalPath = SettingForm(expected: SettingForm<String>.optionalPath.expected, isScalar: true) {
        node, context throws(SettingMismatch) in
        let path = try SettingForm<String>.optionalPath.read(node, context)
        return path.isEmpty ? nil : path
    } write: {
        SettingForm<String>.optionalPath.write($0 ?? "")
    }
}

extension SettingForm where Value == [String] {
    /// A list of at least one path; a single path is allowed, and the environment may join several with `:`.
    static let paths = SettingForm(expected: "a list of absolute paths", isScalar: false) {
        node, context throws(SettingMismatch) in
        let nodes: [ConfigurationNode]
        switch node.content {
        case .sequence(let items): nodes = items
        case .scalar(let text, _) where node.position == nil:
            nodes = text.split(separator: ":").map { ConfigurationNode(text: String($0)) }
        case .scalar: nodes = [node]
        case .mapping: throw SettingMismatch(expected: "a list of absolute paths", found: node)
        }
        guard !nodes.isEmpty else { throw SettingMismatch("expected at least one path", at: node) }
        return try nodes.map { item throws(SettingMismatch) in try SettingForm<String>.path.read(item, context) }
    } write: { paths in
        "[" + paths.map(YAMLText.quoted).joined(separator: ", ") + "]"
    }
}
