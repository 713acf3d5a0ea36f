public import XferModel

/// A digest that a task's finished bytes must have before they are published, and its origin.
public struct DigestDemand: Hashable, Sendable {
    public enum Origin: Hashable, Sendable {
        /// The task.
        case task
        /// Another task. Bytes were received under its digest, because no other proof was available.
        case sharingTask
        /// The server's response.
        case server
    }

    public var origin: Origin
    public var digest: Checksum

    public init(_ origin: Origin, _ digest: Checksum) {
        self.origin = origin
        self.digest = digest
    }

    /// The digests to verify, in order.
    ///
    /// - Parameters:
    ///   - own: the digest that the task demands.
    ///   - binding: the digest under which bytes were combined, or their end was accepted. A strong digest of the
    ///     task's own is an equal proof.
    ///   - announced: the digest from the server. It is not verified if the task demands a digest.
    public static func all(own: Checksum?, binding: Checksum?, announced: Checksum?) -> [DigestDemand] {
        var demands = own.map { [DigestDemand(.task, $0)] } ?? []
        if let binding, binding != own, own?.algorithm.isStrong != true {
            demands.append(DigestDemand(.sharingTask, binding))
        }
        if demands.isEmpty, let announced { demands.append(DigestDemand(.server, announced)) }
        return demands
    }
}
