/// Insertions of several rows by one statement: ten take most of what there is to gain from it, and there are two statements
/// only, for ten rows and for one.
private let rowsOfOneStatement = 10

/// So many elements in order, in shares of as many as one statement inserts: ten, then each by itself.
func statementShares(of count: Int) -> [Range<Int>] {
    let whole = count - count % rowsOfOneStatement
    return stride(from: 0, to: whole, by: rowsOfOneStatement).map { $0..<$0 + rowsOfOneStatement }
        + (whole..<count).map { $0..<$0 + 1 }
}

/// The parameters of `count` rows with so many columns, after `VALUES`.
func rows(of columns: Int, count: Int) -> String {
    let row = "(" + repeatElement("?", count: columns).joined(separator: ", ") + ")"
    return repeatElement(row, count: count).joined(separator: ", ")
}
