import Testing
import XferModel

@Suite struct AddressBlockTests {
    @Test(arguments: [
        ("10.0.0.0/8", "10.0.0.0/8"), ("10.1.2.3/8", "10.0.0.0/8"), ("127.0.0.1", "127.0.0.1"),
        ("127.0.0.1/32", "127.0.0.1"), ("0.0.0.0/0", "0.0.0.0/0"), ("fe80::/10", "fe80::/10"),
        ("febf:1::/10", "fe80::/10"), ("fd00:ec2::254", "fd00:ec2::254"), ("::1/128", "::1"), ("::/0", "::/0"),
        ("172.31.255.255/12", "172.16.0.0/12"), ("::ffff:10.0.0.0/104", "10.0.0.0/8"), ("::ffff:1.2.3.4", "1.2.3.4"),
        ("::ffff:0:0/96", "0.0.0.0/0"),
    ])
    func anAddressBlockIsParsedAndWritten(text: String, canonical: String) throws {
        let block = try #require(AddressBlock(text))
        #expect(block.description == canonical)
        #expect(AddressBlock(canonical) == block)
    }

    @Test(arguments: [
        "", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0/8", "fe80::/129", "fe80::1%eth0",
        "[::1]", "example.org", "10.0.0.0/8/8", "010.0.0.0/8", "10.0.0.0/8 ",
    ])
    func aTextThatIsNoAddressBlockIsRejected(text: String) { #expect(AddressBlock(text) == nil) }

    @Test func membersOfABlockShareExactlyItsFirstBits() throws {
        for length in 0...32 {
            let block = try #require(AddressBlock("170.170.170.170/\(length)"))
            let inside = try #require(IPAddress("170.170.170.170"))
            #expect(block.contains(inside))
            for bit in 0..<32 {
                var bytes = inside.bytes
                bytes[bit / 8] ^= 0x80 >> UInt8(bit % 8)
                let other = try #require(IPAddress(bytes: bytes))
                #expect(block.contains(other) == (bit >= length), "bit \(bit), length \(length)")
            }
        }
        let wide = try #require(AddressBlock("2001:db8::/33"))
        #expect(wide.contains(try #require(IPAddress("2001:db8:7fff::1"))))
        #expect(!wide.contains(try #require(IPAddress("2001:db8:8000::1"))))
    }

    @Test func ipv4AndIPv6BlocksContainOnlyTheirOwnFamily() throws {
        let all4 = try #require(AddressBlock("0.0.0.0/0"))
        let all6 = try #require(AddressBlock("::/0"))
        let (four, six) = (try #require(IPAddress("1.2.3.4")), try #require(IPAddress("::1")))
        #expect(all4.contains(four) && !all4.contains(six) && all6.contains(six) && !all6.contains(four))
    }
}
