// The name of a file that a command makes, and the one that it has until it is complete.

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

enum NewFile {
    /// Whether something has the name, be it a link that leads nowhere.
    static func isTaken(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    /// Beside the file; what a killed process left under it goes.
    static func temporaryName(_ path: String) -> String {
        let name = "\(path).import-\(getpid())"
        remove(name)
        return name
    }

    /// The temporary file and what belongs to it. Best effort: what happened before counts.
    static func remove(_ path: String) {
        unlink(path)
        unlink(path + ".lock")
    }
}
