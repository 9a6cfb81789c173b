// The program that runs the tests. Without a file of this name SwiftPM writes one, and for that it looks for tests
// of XCTest, which we have none of, in an index of all sources, which is a fifth of the compiler's work.

import Testing

@main struct Runner {
    static func main() async {
        // `swift test` asks for tests of XCTest, too.
        guard CommandLine.arguments.contains("swift-testing") else { return }
        await Testing.__swiftPMEntryPoint() as Never
    }
}
