/// Insertions of several rows by one statement.
///
/// Ten take most of what there is to gain from it, and there are two statements only: for ten rows and for one.
private let rowsOfOneStatement = 10

extension RandomAccessCollection {
    /// The elements in order, in shares of as many as one statement inserts: ten, then each by itself.
    var statementShares: some Sequence<[Element]> {
        let whole = count / rowsOfOneStatement
        return (0..<whole + count % rowsOfOneStatement).lazy.map { number in
            let start = number <= whole ? number * rowsOfOneStatement : whole * rowsOfOneStatement + (number - whole)
            return Array(dropFirst(start).prefix(number < whole ? rowsOfOneStatement : 1))
        }
    }
}

/// The parameters of `count` rows with so many columns, after `VALUES`.
func rows(of columns: Int, count: Int) -> String {
    let row = "(" + repeatElement("?", count: columns).joined(separator: ", ") + ")"
    return repeatElement(row, count: count).joined(separator: ", ")
}
