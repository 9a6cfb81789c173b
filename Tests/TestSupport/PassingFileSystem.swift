// A file system for tests that passes all calls on to another one; subclasses change some.

@testable import CoreSwift

class PassingFileSystem: FileSystem {
    let real: FileSystem

    init(_ real: FileSystem) { self.real = real }

    func open(_ path: String, _ access: FileAccess) -> Int32 {
        real.open(path, access)
    }
    func close(_ descriptor: Int32) -> Int32 {
        real.close(descriptor)
    }
    func status(_ descriptor: Int32, _ result: inout FileStatus) -> Int32 {
        real.status(descriptor, &result)
    }
    func read(_ descriptor: Int32, _ target: UnsafeMutableRawPointer, _ count: Int, _ offset: Int64)
        -> Int
    {
        real.read(descriptor, target, count, offset)
    }
    func write(_ descriptor: Int32, _ source: UnsafeRawPointer, _ count: Int, _ offset: Int64)
        -> Int
    {
        real.write(descriptor, source, count, offset)
    }
    func write(_ descriptor: Int32, _ vectors: UnsafeBufferPointer<IOVector>, _ offset: Int64)
        -> Int
    {
        real.write(descriptor, vectors, offset)
    }
    func truncate(_ descriptor: Int32, _ bytes: Int64) -> Int32 {
        real.truncate(descriptor, bytes)
    }
    func beginReading(_ descriptor: Int32, _ offset: Int64, _ count: Int) {
        real.beginReading(descriptor, offset, count)
    }

    func beginWriting(_ descriptor: Int32, _ offset: Int64, _ count: Int) {
        real.beginWriting(descriptor, offset, count)
    }
    func sync(_ descriptor: Int32) -> Int32 {
        real.sync(descriptor)
    }
    func remove(_ path: String) -> Int32 {
        real.remove(path)
    }
    func realPath(_ path: String, _ result: inout String) -> Int32 {
        real.realPath(path, &result)
    }
    func readLink(_ path: String, _ result: inout String) -> Int32 {
        real.readLink(path, &result)
    }
    func setPermissions(_ descriptor: Int32, _ permissions: UInt32) -> Int32 {
        real.setPermissions(descriptor, permissions)
    }
    func setOwner(_ descriptor: Int32, _ owner: UInt32, _ group: UInt32) -> Int32 {
        real.setOwner(descriptor, owner, group)
    }
    func link(_ path: String, _ name: String) -> Int32 {
        real.link(path, name)
    }
    func rename(_ path: String, _ name: String) -> Int32 {
        real.rename(path, name)
    }
    func removeDirectory(_ path: String) -> Int32 {
        real.removeDirectory(path)
    }
    func list(_ path: String, _ names: inout [String]) -> Int32 {
        real.list(path, &names)
    }
    func syncDirectory(_ path: String) -> Int32 {
        real.syncDirectory(path)
    }
    func lock(_ descriptor: Int32, _ byte: Int64, _ kind: LockKind, wait: Bool) -> Int32 {
        real.lock(descriptor, byte, kind, wait: wait)
    }
    func unlock(_ descriptor: Int32, _ byte: Int64) -> Int32 {
        real.unlock(descriptor, byte)
    }
    func isLocked(_ descriptor: Int32, _ byte: Int64, count: Int64) -> Int32 {
        real.isLocked(descriptor, byte, count: count)
    }
    func mapShared(_ descriptor: Int32, _ bytes: Int, _ code: inout Int32)
        -> UnsafeMutableRawPointer?
    {
        real.mapShared(descriptor, bytes, &code)
    }
    func reserve(_ bytes: Int, zeros: Bool, _ code: inout Int32) -> UnsafeMutableRawPointer? {
        real.reserve(bytes, zeros: zeros, &code)
    }
    func mapFixed(
        _ descriptor: Int32, _ target: UnsafeMutableRawPointer, _ offset: Int64, _ bytes: Int
    ) -> Int32 {
        real.mapFixed(descriptor, target, offset, bytes)
    }
    func unmap(_ base: UnsafeMutableRawPointer, _ bytes: Int) -> Int32 {
        real.unmap(base, bytes)
    }
    func keepFromDumps(_ base: UnsafeMutableRawPointer, _ bytes: Int) -> Int32 {
        real.keepFromDumps(base, bytes)
    }
    func random(_ target: UnsafeMutableRawPointer, _ count: Int) -> Int {
        real.random(target, count)
    }
    func processID() -> Int32 {
        real.processID()
    }
}
