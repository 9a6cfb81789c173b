// Pinning versions: one reader slot in the lock file per version that this store has pinned, with
// a count of its users here.

extension Store {
    /// Pins the newest committed version.
    func pinNewest() throws(RealmError) -> Pin {
        try checkFork()
        mutex.lock()
        defer { mutex.unlock() }
        try checkUsable()
        if let pin = sharePin(lockFile.committedVersion) { return pin }
        let slot = try lockFile.claimSlot()
        while true {
            let version = lockFile.pinCommitted(slot)
            if let pin = sharePin(version) {
                lockFile.clearSlot(slot)
                return pin
            }
            do throws(RealmError) {
                if let pin = try readRoot(version) {
                    pins.append(PinEntry(pin: pin, slot: slot, count: 1))
                    return pin
                }
            } catch {
                lockFile.clearSlot(slot)
                throw error
            }
            // Two more commits came between pinning and asking for the root: try again.
        }
    }

    /// Pins a version that is pinned in this process already.
    func pin(version: UInt64) throws(RealmError) -> Pin {
        try checkFork()
        mutex.lock()
        defer { mutex.unlock() }
        try checkUsable()
        if let pin = sharePin(version) { return pin }
        throw RealmError(.badVersion, "'\(path)': version \(version) is no longer held")
    }

    func unpin(_ version: UInt64) {
        guard !isInForkedChild else { return }
        mutex.lock()
        defer { mutex.unlock() }
        guard let index = pins.firstIndex(where: { $0.pin.version == version }) else { return }
        pins[index].count -= 1
        guard pins[index].count == 0 else { return }
        if !isClosed { lockFile.clearSlot(pins[index].slot) }
        pins.swapAt(index, pins.count - 1)
        pins.removeLast()
    }

    /// Distinct versions pinned by anyone, and the newest.
    func liveVersionCount() -> Int {
        if options.immutable || isInForkedChild { return 1 }
        mutex.lock()
        defer { mutex.unlock() }
        let newest = lockFile.committedVersion
        return liveVersions(newest: newest, reclaim: true).count
    }

    /// The versions whose pages must stay, sorted: pinned ones, the newest, and `kept`. With `mutex`
    /// held.
    func liveVersions(newest: UInt64, kept: [UInt64] = [], reclaim: Bool) -> [UInt64] {
        var live = kept + [newest]
        if lockFile.pinnedVersions(&live, newest: newest), reclaim, !isClosed {
            // Whether owners are alive costs a system call each; failing leaves the slots as they
            // are, which is always safe.
            if (try? lockFile.reclaimDeadSlots()) != nil {
                live = kept + [newest]
                _ = lockFile.pinnedVersions(&live, newest: newest)
            }
        }
        live.sort()
        var count = 0
        for version in live where count == 0 || live[count - 1] != version {
            live[count] = version
            count += 1
        }
        live.removeSubrange(count...)
        return live
    }

    /// Counts one more user of a version pinned here. With `mutex` held.
    private func sharePin(_ version: UInt64) -> Pin? {
        guard let index = pins.firstIndex(where: { $0.pin.version == version }) else { return nil }
        pins[index].count += 1
        return pins[index].pin
    }

    /// The root of a pinned version; nil if it is not the newest one any more.
    private func readRoot(_ version: UInt64) throws(RealmError) -> Pin? {
        guard let known = lockFile.root(of: version) else {
            guard lockFile.committedVersion != version else {
                throw RealmError(
                    .invalidDatabase, "'\(lockFile.path)': names no root of version \(version)",
                    path: path)
            }
            return nil
        }
        let root = try VersionRoot(try admit(known.root), known.root)
        guard root.version == version else {
            throw RealmError(
                .invalidDatabase,
                "'\(path)': page \(known.root.page): the root is not that of version"
                    + " \(version)", path: path)
        }
        return Pin(
            version: root.version, payload: root.payload, payloadCount: root.payloadCount,
            root: known.root)
    }
}
