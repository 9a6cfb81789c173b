// Misuse of the API: what realm-swift raises an exception for ends the program here, with the same
// text. Tests leave by way of `misuseText(of:)` instead.

import CRuntime
import Foundation

/// Ends the program with a text that says what it did wrong.
///
/// Not for what a program could not have foreseen: that is thrown.
@inline(never)
@usableFromInline
func misuse(_ text: String) -> Never {
    if crt_can_leave() {
        MisuseReport.text = text
        ClassInfo.isDiscovering = false
        crt_leave()
    }
    Realm.misuseHandler?(text)
    FileHandle.standardError.write(Data("*** RealmSwift: \(text)\n".utf8))
    fatalError(text)
}

extension Realm {
    /// Called with the text of a misuse before it ends the program, on the thread that it happened on: for reports.
    public static var misuseHandler: (@Sendable (String) -> Void)? {
        get { handlerLock.withLock { handler } }
        set { handlerLock.withLock { handler = newValue } }
    }
    private static let handlerLock = NSLock()
    nonisolated(unsafe) private static var handler: (@Sendable (String) -> Void)?
}

/// The text of the misuse that ended the last `misuseText(of:)` of a thread.
private enum MisuseReport {
    static var text: String {
        get { Thread.current.threadDictionary["io.realm.misuse"] as? String ?? "" }
        set { Thread.current.threadDictionary["io.realm.misuse"] = newValue }
    }
}

/// Runs a block and returns the text of the misuse that it ended with, nil if it had none. What the block
/// held when it ended stays held: for tests.
@_spi(RealmSwiftTesting)
public func misuseText(of body: @escaping () -> Void) -> String? {
    final class Box {
        let body: () -> Void
        init(_ body: @escaping () -> Void) { self.body = body }
    }
    let box = Box(body)
    let wasLeft = crt_catch(
        { context in
            if let context { Unmanaged<Box>.fromOpaque(context).takeUnretainedValue().body() }
        }, Unmanaged.passUnretained(box).toOpaque())
    return wasLeft ? MisuseReport.text : nil
}
