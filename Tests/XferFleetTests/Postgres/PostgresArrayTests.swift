import Testing

@testable import XferFleet

@Suite struct PostgresArrayTests {
    @Test func textsAreQuotedSuchThatPostgreSQLReadsThemAsTheyAre() {
        #expect(
            PostgresArray.texts(["a", nil, "", #"q"b\c"#, "{,}", "NULL"]) == #"{"a",NULL,"","q\"b\\c","{,}","NULL"}"#)
        #expect(PostgresArray.integers([1, nil, -2]) == "{1,NULL,-2}")
        #expect(PostgresArray.bools([true, false]) == "{t,f}")
    }

    @Test func bytesSurviveTheHexadecimalForm() {
        let all = Array(UInt8.min...UInt8.max)
        let text = PostgresArray.hexadecimal(all)
        #expect(PostgresArray.bytes(hexadecimal: String(text.dropFirst(2))) == all)
        #expect(PostgresArray.bytes(hexadecimal: "abc") == nil)
        #expect(PostgresArray.bytes(hexadecimal: "zz") == nil)
    }
}
