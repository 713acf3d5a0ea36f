import ArgumentParser
import StrictJSON
import XferModel
import XferProtocol

/// Options for the use of cached responses by an added task.
struct CacheOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Use of a cached response (default: reload, which never uses one).", valueName: "policy"))
    var cachePolicy: EnumArgument<CachePolicy>?

    @Flag(inversion: .prefixedNo, help: "Keep the response (default: with a policy that uses the cache).")
    var store: Bool?

    @Option(
        help: ArgumentHelp(
            "Key of the URL in the cache: a text, or JSON: {\"ignore_params\": [\"token\"]}, "
                + "{\"ignore_query\": true}, {\"host\": \"mirrors\"}.", valueName: "text or json"),
        transform: CacheKeyInput.argument)
    var cacheKey: CacheKeyInput?

    func apply(to choices: inout TransferRequest.Choices) {
        choices.cachePolicy = Patch(cachePolicy?.word)
        choices.storesResponses = Patch(store)
    }
}

extension CacheKeyInput {
    /// A text, or an object as JSON.
    static func argument(_ text: String) throws -> CacheKeyInput {
        guard text.hasPrefix("{") else { return try CacheKeyInput(strict: .string(text)) }
        do {
            return try CacheKeyInput(strict: try JSONValue(parsing: text.utf8))
        } catch {
            throw ValidationError("--cache-key: \(error)")
        }
    }
}
