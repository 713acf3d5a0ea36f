import XferManager
import XferModel

// Lists whose items are texts. One item alone is a list of one.

extension SettingForm where Value == [HostPattern] {
    /// A list of host patterns, or a single one.
    static let hosts = list(expected: "a list of hosts, for example example.org or .example.org") {
        text, node throws(SettingMismatch) in
        do throws(PolicyTextError) {
            return try PolicyText.host(text)
        } catch {
            throw SettingMismatch(error.description, at: node)
        }
    } write: {
        $0.description
    }
}

extension SettingForm where Value == [AddressBlock] {
    /// A list of addresses and CIDR blocks, or a single one.
    static let addressBlocks = list(expected: "a list of addresses or blocks, for example 10.0.0.0/8 or fe80::/10") {
        text, node throws(SettingMismatch) in
        guard let block = AddressBlock(text) else {
            throw SettingMismatch(
                expected: "an address or a block of addresses, for example 10.0.0.0/8 or fe80::/10", found: node)
        }
        return block
    } write: {
        $0.description
    }
}

extension SettingForm where Value == [TranslationPrefix] {
    /// A list of NAT64 prefixes, or a single one.
    static let translationPrefixes = list(expected: "a list of NAT64 prefixes, for example 2001:db8:64::/96") {
        text, node throws(SettingMismatch) in
        guard let prefix = TranslationPrefix(text) else {
            throw SettingMismatch(
                expected: "an IPv6 prefix of 32, 40, 48, 56, 64 or 96 bits, for example 2001:db8:64::/96", found: node)
        }
        return prefix
    } write: {
        $0.description
    }
}

extension SettingForm where Value == [NamePattern] {
    /// A list of names with wildcards, or a single one.
    static let namePatterns = list(expected: "a list of names, for example x-acme-* or pin") {
        text, node throws(SettingMismatch) in
        guard let pattern = NamePattern(text) else {
            throw SettingMismatch(
                expected: "a name with * for any rest, at most \(NamePattern.maxLength) printable characters",
                found: node)
        }
        return pattern
    } write: {
        $0.description
    }
}

extension SettingForm where Value == [InterfacePattern] {
    /// A list of interfaces' names, or a single one.
    static let interfaces = list(expected: "a list of interfaces, for example wwan0 or usb*") {
        text, node throws(SettingMismatch) in
        guard let pattern = InterfacePattern(text) else {
            throw SettingMismatch(
                expected: "the name of an interface, at most 15 characters and wildcards, for example wwan0 or usb*",
                found: node)
        }
        return pattern
    } write: {
        $0.description
    }
}

extension SettingForm where Value == BandwidthSchedule {
    /// A list of times of day, perhaps of some days of the week, with their limits; or a single entry.
    static let timetable = SettingForm(expected: "a list of \(BandwidthSchedule.expected)", isScalar: false) {
        node, _ throws(SettingMismatch) in
        if node.isNull { return BandwidthSchedule() }
        let items = node.items
        var entries: [BandwidthSchedule.Entry] = []
        for item in items {
            guard let entry = item.text.flatMap({ BandwidthSchedule.Entry($0) }) else {
                let fault = item.text.map { BandwidthSchedule.Fault.refusing($0, index: entries.count) }
                switch fault {
                case .span(_, _, _)?, .zero?: throw SettingMismatch(fault?.description ?? "", at: item)
                case .malformed?, .sameTime?, .tooMany?, nil: break
                }
                throw SettingMismatch(expected: BandwidthSchedule.expected, found: item)
            }
            entries.append(entry)
        }
        do throws(BandwidthSchedule.Fault) {
            return try BandwidthSchedule(entries)
        } catch {
            throw SettingMismatch(error.description, at: error.index.map { items[$0] } ?? node)
        }
    } write: { timetable in
        "[" + timetable.entries.map { YAMLText.quoted($0.description) }.joined(separator: ", ") + "]"
    }
}

extension SettingForm {
    /// A list of texts, or a single one.
    static func list<Item: Hashable & Sendable>(
        expected: String,
        read: @escaping @Sendable (String, ConfigurationNode) throws(SettingMismatch) -> Item,
        write: @escaping @Sendable (Item) -> String
    ) -> SettingForm<[Item]> where Value == [Item] {
        SettingForm<[Item]>(expected: expected, isScalar: false) { node, _ throws(SettingMismatch) in
            if node.isNull { return [] }
            var found: [Item] = []
            for item in node.items {
                guard let text = item.text else { throw SettingMismatch(expected: expected, found: item) }
                found.append(try read(text, item))
            }
            return found
        } write: { items in
            "[" + items.map { YAMLText.quoted(write($0)) }.joined(separator: ", ") + "]"
        }
    }
}
