import Testing
import XferModel

@testable import XferCore

@Suite struct AddressMemoryTests {
    private static let name = "a.test:80"
    private func address(_ number: Int) -> IPAddress {
        let bytes = [UInt8](repeating: 0, count: 15) + [UInt8(clamping: number)]
        guard let address = IPAddress(bytes: bytes) else { preconditionFailure("16 bytes are an address") }
        return address
    }
    private func at(_ seconds: Int) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: Int64(seconds) * 1_000_000_000)
    }

    @Test func anAddressThatDidNotAnswerIsAvoidedForAWhile() {
        var memory = AddressMemory()
        #expect(memory.avoided(of: Self.name, now: at(0)).isEmpty)
        memory.recordFailure(of: [address(1)], of: Self.name, now: at(0))
        #expect(memory.avoided(of: Self.name, now: at(599)) == [address(1)])
        #expect(memory.avoided(of: "b.test:80", now: at(0)).isEmpty)
        #expect(memory.avoided(of: Self.name, now: at(600)).isEmpty)
    }

    @Test func anAnswerEndsTheAvoidance() {
        var memory = AddressMemory()
        memory.recordFailure(of: [address(1)], of: Self.name, now: at(0))
        memory.recordAnswer(of: address(1), of: Self.name, now: at(1))
        #expect(memory.isEmpty)
    }

    @Test func anAddressIsAvoidedAsLongAsAnotherOneWorksButNotForEver() {
        var memory = AddressMemory()
        memory.recordFailure(of: [address(1)], of: Self.name, now: at(0))
        for second in stride(from: 300, through: 3300, by: 300) {
            memory.recordAnswer(of: address(2), of: Self.name, now: at(second))
        }
        #expect(memory.avoided(of: Self.name, now: at(3599)) == [address(1)])
        #expect(memory.avoided(of: Self.name, now: at(3600)).isEmpty)
    }

    @Test func failingAddressesTakeTurns() {
        var memory = AddressMemory()
        #expect(memory.lastResort(of: Self.name, now: at(0)) == nil)
        memory.recordFailure(of: [address(1), address(2)], of: Self.name, now: at(0))
        var order: [IPAddress] = []
        for second in 1...4 {
            guard let next = memory.lastResort(of: Self.name, now: at(second)) else { break }
            order.append(next)
            memory.recordFailure(of: [next], of: Self.name, now: at(second))
        }
        #expect(order == [address(1), address(2), address(1), address(2)])
        #expect(memory.avoided(of: Self.name, now: at(5)).count == 2)
    }

    @Test func aKeptConnectionIsLeftOnlyIfAnotherAddressWorks() {
        var memory = AddressMemory()
        memory.recordFailure(of: [address(1)], of: Self.name, now: at(0))
        #expect(!memory.shouldLeave(address(1), of: Self.name, now: at(1)))
        memory.recordAnswer(of: address(2), of: Self.name, now: at(2))
        #expect(memory.shouldLeave(address(1), of: Self.name, now: at(3)))
        #expect(!memory.shouldLeave(address(2), of: Self.name, now: at(3)))
        memory.recordFailure(of: [address(2)], of: Self.name, now: at(4))
        #expect(!memory.shouldLeave(address(1), of: Self.name, now: at(5)))
    }

    @Test func ofANameWithoutFailuresNothingIsRemembered() {
        var memory = AddressMemory()
        memory.recordAnswer(of: address(1), of: Self.name, now: at(0))
        memory.recordFailure(of: [], of: Self.name, now: at(0))
        #expect(memory.isEmpty)
    }

    @Test(arguments: [-1, 0, 1]) func theNumberOfRememberedNamesIsBounded(beyond: Int) {
        var memory = AddressMemory()
        let count = AddressMemory.capacity + beyond
        for number in 0..<count { memory.recordFailure(of: [address(1)], of: "h\(number)", now: at(number)) }
        let known = (0..<count).filter { !memory.avoided(of: "h\($0)", now: at(count)).isEmpty }
        #expect(known == Array(max(0, beyond)..<count), "the first is forgotten")
    }

    @Test(arguments: [-1, 0, 1]) func theNumberOfRememberedAddressesIsBounded(beyond: Int) {
        var memory = AddressMemory()
        let count = AddressMemory.addressCapacity + beyond
        for number in 0..<count { memory.recordFailure(of: [address(number)], of: Self.name, now: at(number)) }
        let avoided = memory.avoided(of: Self.name, now: at(count))
        #expect(avoided.count == min(count, AddressMemory.addressCapacity))
        #expect(avoided.contains(address(count - 1)) && avoided.contains(address(0)) == (beyond < 1))
    }

    @Test func aChangedNetworkForgetsEverything() {
        var memory = AddressMemory()
        memory.recordFailure(of: [address(1)], of: Self.name, now: at(0))
        memory.removeAll()
        #expect(memory.isEmpty)
    }
}
