/// A case of the test suite of another program or of a standard, carried over in our own words and values.
///
/// `docs/reference/conformance.md` counts the cases of all files whose names end in `ConformanceTests.swift`: it
/// searches for `.same("SUITE CASE"` and `.differs("SUITE CASE", because: "…"`, with literal texts.
public struct ConformanceCase<Subject: Sendable>: Sendable, CustomStringConvertible {
    /// The suite and the case there, such as `curl 31`.
    public let name: String
    public let subject: Subject
    /// The reason why the outcome here is deliberately another one than there; nil if it is the same.
    public let difference: String?

    public static func same(_ name: String, _ subject: Subject) -> Self {
        Self(name: name, subject: subject, difference: nil)
    }

    public static func differs(_ name: String, because reason: String, _ subject: Subject) -> Self {
        Self(name: name, subject: subject, difference: reason)
    }

    public var description: String { name }
}
