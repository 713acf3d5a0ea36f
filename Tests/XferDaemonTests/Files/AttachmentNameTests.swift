import Testing

@testable import XferDaemon

/// `Content-Disposition` of a task's file.
struct AttachmentNameTests {
    @Test(
        arguments: [
            (nil, "attachment"),
            ("", "attachment"),
            ("a b-1.iso", #"attachment; filename="a b-1.iso""#),
            ("münchen.iso", #"attachment; filename="m_nchen.iso"; filename*=UTF-8''m%C3%BCnchen.iso"#),
            ("€.iso", #"attachment; filename="_.iso"; filename*=UTF-8''%E2%82%AC.iso"#),
            (#"a";b\c.iso"#, #"attachment; filename="a_;b_c.iso"; filename*=UTF-8''a%22%3Bb%5Cc.iso"#),
            ("100%41.iso", #"attachment; filename="100_41.iso"; filename*=UTF-8''100%2541.iso"#),
            ("a\r\nX-Evil: 1", #"attachment; filename="a__X-Evil: 1"; filename*=UTF-8''a%0D%0AX-Evil%3A%201"#),
            ("\u{7F}\0", #"attachment; filename="__"; filename*=UTF-8''%7F%00"#),
            ("../a", #"attachment; filename=".._a"; filename*=UTF-8''..%2Fa"#),
        ] as [(String?, String)])
    func aNameOfAFileIsOneFieldThatNothingCanEnd(_ name: String?, _ field: String) {
        #expect(AttachmentName.field(name) == field)
    }
}
