import XferModel

/// The rarely set fields of a specification, `TaskSpecification.storedOptions`: one JSON column, null when all have
/// their defaults. Only fields that differ from the default are written.
enum TaskOptions {
    /// Nil when all fields have their defaults.
    static func text(of specification: TaskSpecification) throws(StoreError) -> String? {
        // Each is compared with its default once: that costs more than writing it.
        let options = withUnsafePointer(to: specification) { pointer in
            TaskSpecification.storedOptions.filter { !$0.isDefault(in: pointer) }
        }
        return options.isEmpty ? nil : try JSONText.encode(Written(specification: specification, options: options))
    }

    /// The specification with the fields of a row's text; nil when the text cannot be read.
    static func apply(_ text: String, to specification: TaskSpecification) -> TaskSpecification? {
        guard let read = JSONText.decode(Read.self, from: text) else { return nil }
        var specification = specification
        do {
            for option in TaskSpecification.storedOptions { try option.decode(from: read.members, to: &specification) }
            return specification
        } catch {
            return nil
        }
    }

    private struct Written: Encodable {
        let specification: TaskSpecification
        let options: [StoredOption]

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: OptionName.self)
            for option in options { try option.encode(specification, to: &container) }
        }
    }

    private struct Read: Decodable {
        let members: KeyedDecodingContainer<OptionName>

        init(from decoder: any Decoder) throws { members = try decoder.container(keyedBy: OptionName.self) }
    }
}
