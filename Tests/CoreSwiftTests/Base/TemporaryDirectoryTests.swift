import Glibc
import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct TemporaryDirectoryTests {
    @Test func whatKilledProcessesLeftIsRemovedAndNothingElse() throws {
        let parent = TemporaryDirectory()
        let child = try ChildProcess("none", path: parent.file("x"))
        child.kill()
        child.wait()
        let names = [
            "realm-test-\(child.id)-aaaaaa", "realm-test-\(getpid())-aaaaaa", "realm-test-x-a",
            "realm-model-1",
        ]
        for name in names {
            mkdir(parent.file(name), 0o755)
            mkdir(parent.file(name + "/inner"), 0o755)
            TestSettings.writeFile(parent.file(name + "/inner/file"), [1])
        }
        TemporaryDirectory.removeLeftovers(parent.path)
        #expect(names.map { access(parent.file($0), F_OK) == 0 } == [false, true, true, true])
    }
}
