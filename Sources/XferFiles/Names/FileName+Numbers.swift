extension FileName {
    /// The `number`th other name for a file whose name is taken: `name (1).ext`, `name (1).tar.gz`, cut to 255 bytes.
    public static func numbered(_ name: String, _ number: Int) -> String {
        let mark = " (\(number))"
        let (stem, suffix) = split(shortened(name, leavingRoomFor: mark.utf8.count))
        return stem + mark + suffix
    }
}
