/// Rows that one statement inserts. Ten bring most of the possible gain, and there are only two statements to cache:
/// for ten rows and for one.
private let rowsOfOneStatement = 10

/// Splits `count` elements, in order, into shares of as many as one statement inserts: ten, then each by itself.
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
