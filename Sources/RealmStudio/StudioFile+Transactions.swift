// Changes of the page: each is one transaction, and what leads back from it is kept as bytes, so that it can be undone,
// also when objects were deleted that others linked to. The comparison of both versions makes the bytes; blocks that both
// have are not read for it. What leads forth again is kept, too, and hashes of what is touched: by them it is found out whether
// undoing would lose what others did since.

import CoreSwift

extension StudioFile {
    /// What undoes a transaction and does it again may take so many bytes; larger ones can't be undone.
    private static let stepBytesMax = 64 << 20
    /// Others may commit between the look at a version and the lock for writing upon it.
    private static let attemptsMax = 100

    /// Runs `body` in a transaction that can be undone under the name `label`. The answer says what can be undone
    /// now, and what `body` gave.
    func change(
        _ label: String, _ body: (Realm) throws -> (inout JSONOutput) -> Void
    ) throws -> [UInt8] {
        var told: ((inout JSONOutput) -> Void)?
        var step: Step?
        try transaction { realm, before in
            told = try body(realm)
            let changes = try realm.changes(to: before)
            let reverse = try before.changes(to: realm)
            if changes.count + reverse.count <= Self.stepBytesMax {
                let places = try Self.places(of: changes, realm)
                    .union(Self.places(of: reverse, realm))
                step = Step(
                    changes: changes, reverse: reverse,
                    left: try Self.contents(of: places, realm),
                    found: try Self.contents(of: places, before), label: label)
            }
        }
        if let step { remember(step) }
        redoable = []
        return answer(isUndoable: step != nil) { told?(&$0) }
    }

    func undo() throws -> [UInt8] {
        guard let step = undoable.popLast() else {
            throw StudioError(.outdated, "there is nothing to undo")
        }
        try apply(step, "undone")
        redoable.append(step.reversed)
        return answer { _ in }
    }

    func redo() throws -> [UInt8] {
        guard let step = redoable.popLast() else {
            throw StudioError(.outdated, "there is nothing to do again")
        }
        try apply(step, "done again")
        remember(step.reversed)
        return answer { _ in }
    }

    private func answer(
        isUndoable: Bool = true, _ more: (inout JSONOutput) -> Void
    ) -> [UInt8] {
        jsonObject { output in
            output.member("version", Int(version))
            output.member("undoable", isUndoable)
            history(&output)
            more(&output)
        }
    }

    /// Applies a step where all that it touches is as the studio left it, and if nothing is lost by it that others did: taken
    /// back it must lead to what is there now. An object that the studio made and others link to would come back without
    /// their links.
    private func apply(_ step: Step, _ what: String) throws {
        func refusal(_ reason: String) -> StudioError {
            StudioError(
                .outdated,
                "“\(step.label)” can't be \(what): something else was changed since, and it does not "
                    + "fit any more (\(reason))")
        }
        do {
            try transaction { realm, before in
                guard try Self.contents(of: step.left.keys, before) == step.left else {
                    throw refusal("what it is about is not as the studio left it")
                }
                try realm.apply(changes: step.changes, origin: 0)
                guard try Self.hasTargets(of: step.changes, realm) else {
                    throw refusal("an object is gone that it links to")
                }
                let applied = try realm.savepoint()
                try realm.apply(changes: step.reverse, origin: 0)
                guard try Self.isSame(before, realm) else {
                    throw refusal("what others did since would be lost")
                }
                try realm.rollback(to: applied)
                try realm.release(applied)
            }
        } catch let error as RealmError {
            throw refusal(error.message)
        }
    }

    /// Runs `body` in a write transaction, with the realm that it writes and the one as it is before.
    private func transaction(_ body: (Realm, Realm) throws -> Void) throws {
        try checkMayWrite()
        let realm = try opened()
        let before = try beginWriting(realm)
        defer { before.close() }
        do {
            try body(realm, before)
            try realm.commit()
        } catch {
            if realm.isWritable { try realm.rollback() }
            throw error
        }
    }

    func checkMayWrite() throws {
        guard isReadOnly else { return }
        throw StudioError.refused("the studio was started with --read-only")
    }

    /// Begins to write; the realm as it is before.
    private func beginWriting(_ realm: Realm) throws -> Realm {
        for _ in 0..<Self.attemptsMax {
            _ = try realm.refresh()
            let before = try realm.freeze()
            do {
                try realm.beginWrite()
            } catch {
                before.close()
                throw error
            }
            if before.version == realm.version { return before }
            before.close()
            try realm.rollback()
        }
        throw StudioError(.outdated, "other programs write without pause; please try again")
    }
}
