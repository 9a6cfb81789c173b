// The program that runs the tests. Without a file of this name SwiftPM writes one, and for that it looks for tests
// of XCTest, which we have none of, in an index of all sources, which is a fifth of the compiler's work. With it,
// `swift test` asks for tests of XCTest alone where it isn't told otherwise.

import Glibc
import Testing

@main struct Runner {
    static func main() async {
        guard CommandLine.arguments.contains("swift-testing") else {
            let advice = "error: swift test --enable-swift-testing --disable-xctest\n"
            _ = write(2, advice, advice.utf8.count)
            exit(2)
        }
        await Testing.__swiftPMEntryPoint() as Never
    }
}
