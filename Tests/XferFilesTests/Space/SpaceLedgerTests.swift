import Testing
import XferModel

@testable import XferFiles

@Suite("What fits on a file system")
struct SpaceLedgerTests {
    @Test("the rest of all that runs there and the reserve count")
    func counts() {
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

    @Test("a transfer that moved counts where it is")
    func moves() {
        var ledger = SpaceLedger(reserve: 0)
        ledger.set(remaining: 10, for: TransferID(1), on: 1)
        ledger.set(remaining: 20, for: TransferID(1), on: 2)
        #expect(ledger.shortfall(remaining: 0, on: 1, free: 0) == 0)
        #expect(ledger.shortfall(remaining: 0, on: 2, free: 0) == 20)
    }

    @Test("an unknown length needs the reserve only, absurd ones overflow nothing")
    func extremes() {
        var ledger = SpaceLedger(reserve: 100)
        #expect(ledger.fits(remaining: 0, on: 1, free: 100))
        #expect(!ledger.fits(remaining: 0, on: 1, free: 99))
        #expect(!ledger.fits(remaining: -5, on: 1, free: 99))
        for number in 1...3 { ledger.set(remaining: .max, for: TransferID(Int64(number)), on: 1) }
        #expect(ledger.shortfall(remaining: .max, on: 1, free: 0) == .max)
        #expect(ledger.shortfall(remaining: .max, on: 2, free: -1) == .max)
        #expect(SpaceLedger(reserve: -1).fits(remaining: 0, on: 1, free: 0))
    }
}
