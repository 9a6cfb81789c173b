// Operations on files by name, with errors that name operation and path: removing what is left of
// a realm, moving a finished copy to its place. Used by `Database`; `OpenFile` is for open ones.

import Glibc

enum FileOperations {
    private static let missing: Int32 = -2  // -ENOENT
    private static let exists: Int32 = -17  // -EEXIST
    private static let isADirectory: Int32 = -21  // -EISDIR
    private static let notPermitted: Int32 = -1  // -EPERM, for the same on other systems
    private static let notADirectory: Int32 = -20  // -ENOTDIR
    private static let noLink: Int32 = -22  // -EINVAL
    private static let tooManyLinks: Int32 = -40  // -ELOOP

    /// Repeats an interrupted call.
    private static func call(_ body: () -> Int32) -> Int32 {
        while true {
            let outcome = body()
            if outcome != Int32(OpenFile.interrupted) { return outcome }
        }
    }

    /// Removes a file; false when there was none, or no directory it could be in.
    static func remove(_ path: String, _ files: FileSystem) throws(RealmError) -> Bool {
        let outcome = call { files.remove(path) }
        if outcome >= 0 { return true }
        if outcome == missing || outcome == notADirectory { return false }
        throw FileErrors.make(Int(outcome), "remove the file", path)
    }

    /// Removes a directory with all that is in it; false when there was none.
    static func removeTree(_ path: String, _ files: FileSystem) throws(RealmError) -> Bool {
        // A link to a directory goes by itself; a directory refuses.
        let removed = call { files.remove(path) }
        if removed >= 0 { return true }
        if removed == missing || removed == notADirectory { return false }
        guard removed == isADirectory || removed == notPermitted else {
            throw FileErrors.make(Int(removed), "remove the file", path)
        }
        var names: [String] = []
        let outcome = call {
            names = []
            return files.list(path, &names)
        }
        if outcome == missing { return false }
        if outcome == notADirectory {
            throw FileErrors.make(Int(removed), "remove the file", path)
        }
        guard outcome >= 0 else {
            throw FileErrors.make(Int(outcome), "list the directory", path)
        }
        for name in names { _ = try removeTree(path + "/" + name, files) }
        let end = call { files.removeDirectory(path) }
        guard end >= 0 || end == missing else {
            throw FileErrors.make(Int(end), "remove the directory", path)
        }
        return true
    }

    /// The one path of the file behind `path`, without links, `.` and `..`, also if it does not
    /// exist yet: then its directory is resolved, and links that lead to nothing are followed.
    static func realPath(_ path: String, _ files: FileSystem) throws(RealmError) -> String {
        var current = path
        // As many links as Linux follows.
        for _ in 0..<40 {
            var result = ""
            var outcome = call { files.realPath(current, &result) }
            if outcome >= 0 { return result }
            let slash = current.utf8.lastIndex(of: UInt8(ascii: "/"))
            let name = slash.map { String(current[current.utf8.index(after: $0)...]) } ?? current
            guard outcome == missing, !name.isEmpty, name != ".", name != ".." else {
                throw FileErrors.make(Int(outcome), "open the file", path)
            }
            outcome = call { files.realPath(directory(of: current), &result) }
            guard outcome >= 0 else { throw FileErrors.make(Int(outcome), "open the file", path) }
            let parent = result == "/" ? "" : result
            outcome = call { files.readLink(parent + "/" + name, &result) }
            if outcome == missing || outcome == noLink { return parent + "/" + name }
            guard outcome >= 0 else { throw FileErrors.make(Int(outcome), "open the file", path) }
            current = result.utf8.first == UInt8(ascii: "/") ? result : parent + "/" + result
        }
        throw FileErrors.make(Int(tooManyLinks), "open the file", path)
    }

    /// Gives a finished file its name, also if something else has it.
    static func replace(
        _ path: String, as name: String, _ files: FileSystem
    ) throws(RealmError) {
        let outcome = call { files.rename(path, name) }
        guard outcome >= 0 else { throw FileErrors.make(Int(outcome), "create the file", name) }
    }

    static func exists(_ path: String, _ files: FileSystem) throws(RealmError) -> Bool {
        do throws(RealmError) {
            _ = try OpenFile(path, .readOnly, files)
            return true
        } catch {
            if error.code == .fileNotFound { return false }
            if error.code == .filePermissionDenied { return true }
            throw error
        }
    }

    /// Gives a finished file its name, unless something has it: `.fileAlreadyExists`.
    static func place(
        _ path: String, as name: String, _ files: FileSystem
    ) throws(RealmError) {
        let outcome = call { files.link(path, name) }
        if outcome == exists { throw FileErrors.make(Int(outcome), "create the file", name) }
        if outcome >= 0 {
            _ = call { files.remove(path) }
        } else {
            // No second names on this file system: whoever creates the file at this very moment
            // loses it.
            guard try !Self.exists(name, files) else {
                throw FileErrors.make(Int(exists), "create the file", name)
            }
            let moved = call { files.rename(path, name) }
            guard moved >= 0 else { throw FileErrors.make(Int(moved), "rename the file", name) }
        }
        do throws(RealmError) { try syncName(name, files) } catch {
            _ = call { files.remove(name) }
            throw error
        }
    }

    /// Makes the name of a file durable. Where that can't be had (a file system that can't sync
    /// directories, a directory that may be used but not read), the kernel does it in its own time.
    static func syncName(_ name: String, _ files: FileSystem) throws(RealmError) {
        let outcome = call { files.syncDirectory(directory(of: name)) }
        guard outcome < 0, ![EINVAL, ENOTSUP, EACCES, EPERM, EROFS].contains(-outcome) else {
            return
        }
        throw FileErrors.make(Int(outcome), "sync the directory", name)
    }

    static func directory(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.utf8.startIndex ? "/" : String(path[..<slash])
    }
}
