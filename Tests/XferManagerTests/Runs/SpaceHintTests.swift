import NIOConcurrencyHelpers
import Testing
import XferFiles
import XferTestSupport

@testable import XferManager

@Suite struct SpaceHintTests {
    @Test func bytesThatNeverFitAreToldFromThoseThatLackRoomNow() {
        let mebi: Int64 = 1 << 20
        func hint(_ remaining: Int64, reserve: Int64, size: Int64?) -> String {
            RunServices.hint(remaining, reserve: reserve, size: size)
        }
        #expect(hint(mebi, reserve: mebi, size: 2 * mebi) == "")
        #expect(hint(mebi, reserve: mebi, size: nil) == "")
        let ofReserve = "; the whole file system has 2.0 MiB: lower download.reserve"
        #expect(hint(mebi, reserve: mebi + 1, size: 2 * mebi) == ofReserve)
        #expect(hint(2 * mebi, reserve: 1, size: 2 * mebi) == ofReserve)
        #expect(hint(2 * mebi + 1, reserve: 0, size: 2 * mebi) == "; the whole file system has 2.0 MiB")
        #expect(hint(.max, reserve: .max, size: 2 * mebi) == "; the whole file system has 2.0 MiB")
    }

    /// Two copies fit one after the other, but not at the same time.
    @Test func aCopyThatIsBeingMadeClaimsItsSpaceUntilItIsWritten() throws {
        let temporary = try TemporaryDirectory("space")
        let directory = try DirectoryHandle(ofService: temporary.path)
        let space = NIOLockedValueBox(SpaceLedger(reserve: 0))
        let length = try directory.freeSpace() / 4 * 3
        func fits() -> Bool {
            do throws(FileError) {
                try space.claiming(length, in: directory) { (_) throws(FileError) in }
                return true
            } catch {
                return false
            }
        }
        #expect(fits())
        let during = try space.claiming(length, in: directory) { (onProgress) throws(FileError) -> [Bool] in
            let before = fits()
            onProgress(length)
            return [before, fits()]
        }
        #expect(during == [false, true])
        #expect(fits())
    }
}
