import Testing
import XferTestSupport

@testable import XferFiles

@Suite struct NumberingTests {
    @Test(
        arguments: [
            ("a.txt", "a (1).txt"), ("a", "a (1)"), ("a.tar.gz", "a (1).tar.gz"), ("a.TAR.xz", "a (1).TAR.xz"),
            ("a.b.c", "a.b (1).c"), (".bashrc", ".bashrc (1)"), ("a.", "a. (1)"), ("linux-6.1", "linux-6.1 (1)"),
            ("a (1).txt", "a (1) (1).txt"), (".tar.gz", ".tar (1).gz"), ("a.mp3", "a (1).mp3"), ("a.b c", "a.b c (1)"),
            ("日本.zip", "日本 (1).zip"),
        ])
    func theNumberIsInsertedBeforeTheExtension(name: String, numbered: String) {
        #expect(FileName.numbered(name, 1) == numbered)
    }

    @Test(arguments: [20, 40, 143, 255])
    func aNumberedNameIsNoLongerThanTheFileSystemAllows(longest: Int) {
        let name = String(repeating: "ä", count: 200) + ".tar.gz"
        for number in [1, 99, 16_777_216] {
            let numbered = FileName.numbered(name, number, longest: longest)
            #expect(numbered.utf8.count <= longest && numbered.hasSuffix(" (\(number)).tar.gz"), "\(numbered)")
        }
    }

    @Test func anyNameAndNumberGiveADistinctNameThatFits() {
        var generator = SplitMix64(seed: 2)
        for _ in 0..<2000 {
            let name = FileName.sanitised(randomText(&generator))
            let names = [1, 2, 9, 10, 99, 100, 16_777_216].map { FileName.numbered(name, $0) }
            #expect(Set(names + [name]).count == names.count + 1, "\(name.debugDescription)")
            for numbered in names {
                #expect(FileName.problem(with: numbered) == nil, "\(name.debugDescription)")
                #expect(numbered.hasSuffix(FileName.split(name).suffix))
            }
        }
    }
}
