import ArgumentParser
import StrictJSON
import XferModel
import XferProtocol

extension WireValue {
    /// Reads an argument as the wire would read the same text, so that both refuse the same things in the same words.
    static func argument(_ text: String) throws -> Self {
        do throws(WireError) {
            return try Self(strict: .string(text))
        } catch {
            throw ValidationError("expected \(error.expected)")
        }
    }
}

extension JSONValue {
    /// Reads an argument that is JSON text.
    static func argument(_ text: String) throws -> JSONValue {
        do throws(JSONSyntaxError) {
            return try JSONValue(parsing: Array(text.utf8))
        } catch {
            throw ValidationError("not JSON: \(error)")
        }
    }
}
