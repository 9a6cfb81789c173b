// The change log in the life of a write transaction: whether it is recorded, and what its commit adds
// to the log. Who needs the log says so in the lock file (`LogNeed`), or is a consumer by name, which
// the file remembers.

extension TableSet {
    /// How much of the transaction that begins is recorded; nil: nothing. One look at shared memory
    /// where nobody needs a log.
    func recordDetail() -> RecordDetail? {
        if let log = catalog.log, !log.consumers.isEmpty { return .values }
        guard store.lockFile.mayNeedLog, store.lockFile.oldestNeed() != nil else { return nil }
        return .changes
    }

    /// What the commit of the transaction does to the log; nil when there is none before and after.
    func logCommit() throws(RealmError) -> LogCommit? {
        guard let transaction else { return nil }
        let record = transaction.pointee.changes.record
        if record == nil, catalog.log == nil, consumerChanges.isEmpty { return nil }
        let version = pin.version + 1 + joined
        var encoder = record.map { RecordEncoder(self, $0, version) }
        defer { encoder?.deallocate() }
        try encoder?.encode()
        return try LogCommit(
            catalog.log, version: version, before: pin.version, encoder,
            needed: store.lockFile.oldestNeed(), consumers: try nextConsumers(version),
            NodeSource(store: store))
    }

    // MARK: Consumers

    /// Who reads the change log by name.
    var consumers: [ChangeConsumer] { catalog.log?.consumers ?? [] }

    private func consumer(_ name: ByteText) -> ChangeConsumer? {
        consumers.first { ByteText($0.name) == name }
    }

    /// Keeps the log of all versions behind the one that this transaction makes for a consumer, until
    /// it acknowledges them. Does nothing for one that is there.
    func addConsumer(_ name: String) throws(RealmError) {
        guard !name.isEmpty, name.utf8.count <= LogDirectory.nameBytesMax else {
            throw RealmError(
                .invalidArgument,
                "the name of a consumer has 1 to \(LogDirectory.nameBytesMax) bytes, not "
                    + "\(name.utf8.count)")
        }
        guard transaction != nil else { throw notWriting() }
        if consumer(ByteText(name)) != nil { return }
        // The commit counts; a transaction may also remove all, and those who come for them.
        guard consumerChanges.count < 2 * LogDirectory.consumersMax else {
            throw tooManyConsumers()
        }
        consumerChanges[ByteText(name)] = version + 1
    }

    /// The consumer is done with the log up to a version, which it has read.
    func acknowledge(_ name: String, _ version: UInt64) throws(RealmError) {
        guard transaction != nil else { throw notWriting() }
        guard let known = consumer(ByteText(name)) else {
            throw RealmError(.invalidArgument, "the change log has no consumer '\(name)'")
        }
        guard version >= known.acknowledged, version <= pin.version else {
            throw RealmError(
                .invalidArgument,
                "consumer '\(name)' has acknowledged version \(known.acknowledged) of "
                    + "\(pin.version): it cannot acknowledge \(version)")
        }
        consumerChanges[ByteText(name)] = version
    }

    /// Nothing is kept for the consumer any more.
    func removeConsumer(_ name: String) throws(RealmError) {
        guard transaction != nil else { throw notWriting() }
        consumerChanges[ByteText(name)] = .some(nil)
    }

    private func notWriting() -> RealmError {
        RealmError(
            .wrongTransactionState, "consumers of the change log change in a write transaction")
    }

    private func nextConsumers(_ version: UInt64) throws(RealmError) -> [ChangeConsumer] {
        var result = consumers
        for (name, acknowledged) in consumerChanges.sortedFew(by: { $0.key < $1.key }) {
            let index = result.firstIndex { ByteText($0.name) == name }
            guard let acknowledged else {
                if let index { result.remove(at: index) }
                continue
            }
            if let index {
                result[index].acknowledged = acknowledged
            } else {
                result.append(ChangeConsumer(name: name.text, acknowledged: acknowledged))
            }
        }
        guard result.count <= LogDirectory.consumersMax else { throw tooManyConsumers() }
        return result
    }

    private func tooManyConsumers() -> RealmError {
        RealmError(
            .limitExceeded, "the change log has at most \(LogDirectory.consumersMax) consumers")
    }
}
