import XferModel

/// The rarely set fields of a specification (`TaskSpecification.storedOptions`), stored in one JSON column.
///
/// Only fields that differ from their defaults are written. The column is null if all fields have their defaults.
enum TaskOptions {
    /// The options as text, or nil when all fields have their defaults.
    static func text(of specification: TaskSpecification) throws(StoreError) -> String? {
        // Compares each field with its default only once: the comparison costs more than the encoding.
        let options = withUnsafePointer(to: specification) { pointer in
            TaskSpecification.storedOptions.filter { !$0.isDefault(in: pointer) }
        }
        return options.isEmpty ? nil : try JSONText.encode(Written(specification: specification, options: options))
    }

    /// Returns the specification with the fields from a row's text; nil if the text cannot be read.
    static func apply(_ text: String, to specification: TaskSpecification) -> TaskSpecification? {
        guard let read = JSONText.decode(Read.self, from: text) else { return nil }
        var specification = specification
        do {
            // Most rows have one or two of some forty, and each question to the decoder costs.
            for name in read.members.allKeys {
                try byName[name.stringValue]?.decode(from: read.members, to: &specification)
            }
            return specification
        } catch {
            return nil
        }
    }

    private static let byName = Dictionary(
        uniqueKeysWithValues: TaskSpecification.storedOptions.map { ($0.name, $0) })

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
