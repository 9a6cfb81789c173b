// Changes of the page: each is one transaction, and what leads back from it is kept as bytes, so that it can be undone,
// also when objects were deleted that others linked to. The comparison of both versions makes the bytes; blocks that both
// have are not read for it.

import CoreSwift

extension StudioFile {
    /// What undoes a transaction may take so many bytes; larger ones can't be undone.
    private static let stepBytesMax = 64 << 20
    /// Others may commit between the look at a version and the lock for writing upon it.
    private static let attemptsMax = 100

    /// Runs `body` in a transaction that can be undone under the name `label`. The answer says what can be undone
    /// now, and what `body` gave.
    func change(
        _ label: String, _ body: (Realm) throws -> (inout JSONOutput) -> Void
    ) throws -> [UInt8] {
        var told: ((inout JSONOutput) -> Void)?
        let step = try transaction(label) { realm in told = try body(realm) }
        if let step { remember(step) }
        redoable = []
        return answer(isUndoable: step != nil) { told?(&$0) }
    }

    func undo() throws -> [UInt8] {
        guard let step = undoable.popLast() else {
            throw StudioError(.outdated, "there is nothing to undo")
        }
        if let back = try apply(step, "undone") { redoable.append(back) }
        return answer { _ in }
    }

    func redo() throws -> [UInt8] {
        guard let step = redoable.popLast() else {
            throw StudioError(.outdated, "there is nothing to do again")
        }
        if let back = try apply(step, "done again") { remember(back) }
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

    private func apply(_ step: Step, _ what: String) throws -> Step? {
        do {
            return try transaction(step.label) { realm in
                try realm.apply(changes: step.changes, origin: 0)
            }
        } catch let error as RealmError {
            throw StudioError(
                .outdated,
                "“\(step.label)” can't be \(what): something else was changed since, and it does not "
                    + "fit any more (\(error.message))")
        }
    }

    /// Runs `body` in a write transaction; nil where what leads back from it is too large to be kept.
    private func transaction(
        _ label: String, _ body: (Realm) throws -> Void
    ) throws -> Step? {
        guard !isReadOnly else {
            throw StudioError.refused("the studio was started with --read-only")
        }
        let realm = try opened()
        let before = try beginWriting(realm)
        defer { before.close() }
        do {
            try body(realm)
            try realm.commit()
        } catch {
            if realm.isWritable { try realm.rollback() }
            throw error
        }
        let after = try realm.freeze()
        defer { after.close() }
        let changes = try after.changes(to: before)
        return changes.count > Self.stepBytesMax ? nil : Step(changes: changes, label: label)
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
