import Glibc
import Testing
import XferModel

@testable import XferFiles

@Suite struct FileErrorTests {
    @Test(
        arguments: [
            (ENOSPC, FailureReason.insufficientSpace, true), (EDQUOT, .insufficientSpace, true),
            (EIO, .diskError, false), (EACCES, .destinationDenied, false), (EROFS, .destinationUnavailable, true),
            (EFBIG, .fileTooLarge, false),
            (ENAMETOOLONG, .destinationDenied, false), (ENOENT, .destinationUnavailable, true),
            (ESTALE, .destinationUnavailable, true), (EEXIST, .destinationExists, false),
            (EMFILE, .outOfDescriptors, true),
            (ENOTRECOVERABLE, .diskError, false),
        ])
    func systemErrorsHaveTheirFailureReasons(code: Int32, reason: FailureReason, isRetriable: Bool) {
        let error = FileError.system(operation: "open", path: "/x", code: code).transferError
        #expect(error.reason == reason)
        #expect(error.isRetriable == isRetriable)
    }

    @Test func fileErrorMessagesNamePathAndExpectationOnOneLine() {
        let errors: [FileError] = [
            .notAbsolute(path: "/p\n"), .containsNUL(path: "/p\0"), .outsideRoots(path: "/p", roots: ["/r", "/s"]),
            .forbidden(path: "/p", roots: []), .missing(path: "/p"), .notADirectory(path: "/p"),
            .isADirectory(path: "/p"), .isSpecial(path: "/p"), .notWritable(path: "/p", code: EROFS),
            .invalidName("/p", problem: "it is odd"),
            .nameTaken(path: "/p"), .noFreeName(path: "/p", tried: 3), .notAPartialFile(path: "/p", problem: "odd"),
            .lengthMismatch(path: "/p", expected: 1, found: 2), .poisoned(path: "/p"), .closed(path: "/p"),
            .publishLost(path: "/p"), .partChanged(path: "/p", problem: "x"),
            .destinationChanged(path: "/p", problem: "x"), .notMoved(path: "/p", code: EPERM),
            .unmounted(path: "/p/x", mountPoint: "/p"), .unanswering(path: "/p/x", mountPoint: "/p"),
            .nameRefused(path: "/p", code: EINVAL), .fileTooLarge(path: "/p", length: 2, limit: 1),
            .fileTooLarge(path: "/p", length: 2, limit: nil),
            .alreadyLocked(path: "/p", pid: nil),
            .insecureStateDirectory(path: "/p", problem: "is odd"),
            .system(operation: "open", path: "/p", code: EIO),
        ]
        for error in errors {
            #expect(error.description.contains("/p"))
            #expect(!error.description.unicodeScalars.contains { $0.properties.generalCategory == .control })
            #expect(error.transferError.message == error.description)
        }
        #expect(
            FileError.system(operation: "open", path: "/p", code: EIO).description
                == "cannot open \"/p\": Input/output error")
        #expect(FileError.outsideRoots(path: "/p", roots: ["/r", "/s"]).description.contains("\"/r\", \"/s\""))
    }
}
