import Testing
import XferModel

@testable import XferFiles

@Suite struct SpaceLedgerTests {
    @Test func writtenBytesAreNoLongerClaimed() {
        var ledger = SpaceLedger(reserve: 0)
        ledger.set(remaining: 100, for: TransferID(1), on: 7)
        #expect(ledger.shortfall(remaining: 50, on: 7, free: 120) == 30)
        // 60 of them are written: so much less is free, and so much less is to come.
        ledger.advance(TransferID(1), to: 40)
        #expect(ledger.shortfall(remaining: 50, on: 7, free: 60) == 30)
        ledger.advance(TransferID(1), to: 90)
        #expect(ledger.shortfall(remaining: 0, on: 7, free: 0) == 40)
        ledger.advance(TransferID(1), to: -1)
        #expect(ledger.fits(remaining: 60, on: 7, free: 60))
        ledger.advance(TransferID(2), to: 1000)
        #expect(ledger.fits(remaining: 60, on: 7, free: 60))
    }

    @Test func remainingBytesOfAllTransfersAndTheReserveAreClaimed() {
        var ledger = SpaceLedger(reserve: 100)
        #expect(ledger.fits(remaining: 900, on: 1, free: 1000))
        #expect(ledger.shortfall(remaining: 901, on: 1, free: 1000) == 1)
        ledger.set(remaining: 500, for: TransferID(1), on: 1)
        ledger.set(remaining: 5000, for: TransferID(2), on: 2)
        #expect(ledger.fits(remaining: 400, on: 1, free: 1000))
        #expect(!ledger.fits(remaining: 401, on: 1, free: 1000))
        #expect(ledger.fits(remaining: 900, for: TransferID(1), on: 1, free: 1000))
        ledger.set(remaining: 200, for: TransferID(1), on: 1)
        #expect(ledger.fits(remaining: 700, on: 1, free: 1000))
        ledger.remove(TransferID(1))
        #expect(ledger.fits(remaining: 900, on: 1, free: 1000))
    }

    @Test func bytesOfNoTransferAreClaimedUntilTheyAreWritten() {
        var ledger = SpaceLedger(reserve: 0)
        ledger.set(remaining: 10, for: TransferID(1), on: 1)
        let copies = [ledger.add(remaining: 20, on: 1), ledger.add(remaining: 30, on: 1)]
        #expect(Set(copies).count == 2)
        #expect(ledger.shortfall(remaining: 40, on: 1, free: 0) == 100)
        ledger.advance(copies[0], to: 5)
        #expect(ledger.shortfall(remaining: 40, on: 1, free: 0) == 85)
        for copy in copies { ledger.remove(copy) }
        #expect(ledger.shortfall(remaining: 40, on: 1, free: 0) == 50)
    }

    @Test func aMovedTransferIsCountedAtItsNewPlace() {
        var ledger = SpaceLedger(reserve: 0)
        ledger.set(remaining: 10, for: TransferID(1), on: 1)
        ledger.set(remaining: 20, for: TransferID(1), on: 2)
        #expect(ledger.shortfall(remaining: 0, on: 1, free: 0) == 0)
        #expect(ledger.shortfall(remaining: 0, on: 2, free: 0) == 20)
    }

    @Test func anUnknownLengthNeedsOnlyTheReserveAndExtremesDoNotOverflow() {
        var ledger = SpaceLedger(reserve: 100)
        #expect(ledger.fits(remaining: 0, on: 1, free: 100))
        #expect(!ledger.fits(remaining: 0, on: 1, free: 99))
        #expect(!ledger.fits(remaining: -5, on: 1, free: 99))
        for number in 1...3 { ledger.set(remaining: .max, for: TransferID(Int64(number)), on: 1) }
        #expect(ledger.shortfall(remaining: .max, on: 1, free: 0) == .max)
        #expect(ledger.shortfall(remaining: .max, on: 2, free: -1) == .max)
        #expect(SpaceLedger(reserve: -1).fits(remaining: 0, on: 1, free: 0))
    }

    @Test func waitingTransfersFitBesideThoseAdmittedBefore() {
        var ledger = SpaceLedger(reserve: 100)
        ledger.set(remaining: 300, for: TransferID(1), on: 1)
        func request(_ needed: Int64, on fileSystem: UInt64 = 1) -> SpaceLedger.Request {
            SpaceLedger.Request(needed: needed, room: SpaceLedger.Room(fileSystem: fileSystem, free: 1000))
        }
        // 600 bytes are free beside the reserve and the running transfer.
        #expect(ledger.admitted([]) == [])
        #expect(ledger.admitted([request(600)]) == [0])
        #expect(ledger.admitted([request(601)]) == [])
        #expect(ledger.admitted([request(400), request(201), request(200), request(1)]) == [0, 2])
        #expect(ledger.admitted([request(700), request(900, on: 2), request(1, on: 2), nil]) == [1, 3])
        var within = request(700)
        within.usesReserve = true
        #expect(ledger.admitted([within, request(0)]) == [0], "the reserve is used")
        within.needed = 701
        #expect(ledger.admitted([within]) == [])
        #expect(ledger.admitted([request(.max), request(.max, on: 2), request(-5), request(0)]) == [2, 3])
    }

    @Test func aLittleFitsWithoutMeasuringAgainAfterPlentyWasFree() {
        let now = MonotonicInstant(nanoseconds: 1_000_000_000)
        var ledger = SpaceLedger(reserve: 100)
        #expect(!ledger.surelyFits(remaining: 1, on: 1, at: now))
        ledger.record(free: 8 << 30, on: 1, at: now)
        #expect(ledger.surelyFits(remaining: 4096, on: 1, at: now.advanced(by: .milliseconds(199))))
        #expect(!ledger.surelyFits(remaining: 4096, on: 1, at: now.advanced(by: .milliseconds(200))))
        #expect(!ledger.surelyFits(remaining: 4096, on: 2, at: now))
        #expect(!ledger.surelyFits(remaining: 2 << 20, on: 1, at: now))
        ledger.set(remaining: 7 << 30, for: TransferID(1), on: 1)
        #expect(!ledger.surelyFits(remaining: 4096, on: 1, at: now))
        #expect(ledger.surelyFits(remaining: 4096, for: TransferID(1), on: 1, at: now))
        ledger.record(free: 1 << 30, on: 1, at: now)
        #expect(!ledger.surelyFits(remaining: 4096, for: TransferID(1), on: 1, at: now))
    }
}
