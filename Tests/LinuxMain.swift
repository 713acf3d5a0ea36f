import Testing

/// Runs the tests. All of them are of Swift Testing: without this file SwiftPM would search for those of XCTest, for which
/// every module has to be indexed while it is compiled.
@main struct TestRunner {
    static func main() async {
        // SwiftPM asks for the tests of XCTest by this option.
        if CommandLine.arguments.contains("--dump-tests-json") { return print(#"{"tests": []}"#) }
        guard CommandLine.arguments.contains("swift-testing") else { return }
        await Testing.__swiftPMEntryPoint() as Never
    }
}
