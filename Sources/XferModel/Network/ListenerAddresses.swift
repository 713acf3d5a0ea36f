/// Addresses at which a listener of the daemon is reached, with its port.
public struct ListenerAddresses: Hashable, Sendable {
    public let block: AddressBlock
    public let port: UInt16

    public init(_ block: AddressBlock, port: UInt16) {
        self.block = block
        self.port = port
    }

    public func contains(_ address: IPAddress, port: UInt16) -> Bool { port == self.port && block.contains(address) }
}
