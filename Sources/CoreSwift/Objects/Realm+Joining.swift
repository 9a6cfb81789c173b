// Small commits that become one version of the file. While blocks that write asynchronously wait for
// their turn, a commit that may be grouped is not written: the block behind it goes on in the same
// write transaction, and the last of them writes all (`TableSet.join`). To the program each is a commit with a
// number of its own.
//
// Nothing may depend on a version that is not there. So from a commit to the next block the realm hides: its session
// belongs to no thread, and the first call that needs it has what waits written (`checkUsableSlowly`). In
// a block, what needs the version before it has that written by itself (`writeBase`). Other realms of
// the file ask for it (`JoinedCommits`). A realm whose objects or collections are observed does not join.
//
// What can't be written is told to the completions of all that were joined; the realm then reads the
// version before them.

import CKernels

extension Realm {
    /// Commits of this realm wait to be written.
    var hasJoined: Bool { (tables?.joined ?? 0) > 0 }

    /// The commit of the write transaction may wait for the next block.
    var mayJoin: Bool {
        guard isWritable, !isChangingSchema, let asynchronous, asynchronous.mayJoin, let tables,
            !asynchronous.isTurnOver(tables.store.gate), notifier?.isIdle ?? true,
            !file.joined.isWanted, scheduler?.canDeliver ?? false
        else { return false }
        return tables.mayJoin
    }

    /// Commits without writing. The commit gets its version.
    func join(_ commit: AsynchronousWrites.Commit) throws(RealmError) {
        guard let tables else { return }
        do throws(RealmError) {
            try tables.join()
        } catch {
            try rollback()
            throw error
        }
        session.pointee.status = .reading
        session.pointee.thread = 0
        borrowed.clear()
        file.joined.begin(self)
        var commit = commit
        commit.version = tables.version
        asynchronous?.commits.append(commit)
        tell(
            .transaction, .debug, "'\(path)': committed version \(tables.version), not yet written")
        wakeAfterWriting()
        announce(tables.version)
    }

    /// The next block goes on in the transaction.
    func startJoined() throws(RealmError) {
        guard let tables, let asynchronous else { return }
        lastSavepoint += 1
        try tables.makeSavepoint(lastSavepoint)
        asynchronous.blockSavepoint = lastSavepoint
        session.pointee.thread = ck_thread_pointer()
        session.pointee.status = .writing
        file.noteWriting(self)
        tell(.transaction, .trace, "'\(path)': writing on version \(tables.version)")
    }

    /// Undoes the block that runs, alone.
    func undoBlock(_ tables: TableSet) throws(RealmError) {
        borrowed.clear()
        do throws(RealmError) {
            try tables.undoUnjoined(asynchronous?.blockSavepoint ?? 0)
        } catch {
            throw loseJoined(tables, error)
        }
        session.pointee.stamp.pointee &+= 1
        session.pointee.rollbacks &+= 1
        session.pointee.thread = 0
    }

    /// Writes what was joined, if no block is running.
    func writeJoined() throws(RealmError) {
        guard hasJoined, !isWritable, let tables else { return }
        session.pointee.thread = ck_thread_pointer()
        do throws(RealmError) {
            // Locks may be held for good in a forked child.
            try tables.store.checkFork()
            tables.takeLastJoined()
            try tables.commit(waits: false, tells: true)
        } catch {
            tables.rollBack()
            failJoined(error)
            file.noteWritten(self)
            throw error
        }
        file.joined.end(self)
        file.noteWritten(self)
        noteSchema(tables)
        wakeOthers(tables.version)
        startSync(waitsForOthers: true)
    }

    /// Makes the version that is read, or that the write transaction began on, one of the file. The changes
    /// of a block that runs are taken out for that, and put back.
    func writeBase() throws(RealmError) {
        guard hasJoined, let tables else { return }
        guard isWritable else { return try writeJoined() }
        let aside: ChangesAside
        do throws(RealmError) {
            aside = try tables.setAside(from: asynchronous?.blockSavepoint ?? 0)
        } catch {
            throw loseJoined(tables, error)
        }
        tables.takeLastJoined()
        do throws(RealmError) {
            try tables.commit(waits: false, tells: true, goesOn: true)
        } catch {
            session.pointee.status = .reading
            failJoined(error)
            file.noteWritten(self)
            throw error
        }
        file.joined.end(self)
        do throws(RealmError) {
            try tables.bringBack(aside)
        } catch {
            undo(tables)
            session.pointee.status = .reading
            throw error
        }
        session.pointee.stamp.pointee &+= 1
        wakeOthers(tables.version)
        startSync(waitsForOthers: true)
    }

    /// For another realm of the thread.
    func settleJoined() {
        do throws(RealmError) { try writeBase() } catch { noteUnwritten(error) }
    }

    /// The realm is about to be closed.
    func endJoined() {
        guard hasJoined else { return }
        do throws(RealmError) {
            if isWritable { try rollback() }
            try writeJoined()
        } catch {
            noteUnwritten(error)
        }
    }

    private func noteUnwritten(_ error: RealmError) {
        tell(
            .transaction, .warning, "'\(path)': grouped commits can't be written: \(error.message)")
    }

    /// Half of a block is there and can't be undone: nothing of the transaction may be written.
    private func loseJoined(_ tables: TableSet, _ error: RealmError) -> RealmError {
        undo(tables)
        session.pointee.status = .reading
        failJoined(error)
        return error
    }

    /// What was joined is gone, and the realm at the version before.
    func failJoined(_ error: RealmError) {
        guard let tables else { return }
        file.joined.end(self)
        asynchronous?.fail(above: tables.version, error)
        startSync(waitsForOthers: false)
    }
}
