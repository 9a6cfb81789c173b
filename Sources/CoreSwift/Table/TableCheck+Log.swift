// The change log in a check of a file: its blocks, and that every record of it can be read.

extension TableCheck {
    func checkLog() {
        guard let log = tables.catalog.log else { return }
        for consumer in log.consumers
        where consumer.acknowledged < log.from || consumer.acknowledged > tables.version {
            report.add(
                "change log: '\(consumer.name)' has acknowledged version \(consumer.acknowledged), "
                    + "the log is of versions \(log.from) to \(tables.version)")
        }
        for item in log.unwritten { checkUnwritten(item, log) }
        var order = RecordOrder(behind: 0)
        for entry in log.entries { checkLog(entry, &order) }
        log.tail.withUnsafeBytes {
            checkRecords($0, "tail of the change log", &order, tables.version)
        }
    }

    /// The objects have to be there.
    private func checkUnwritten(_ item: UnwrittenObjects, _ log: LogDirectory) {
        let place = "change log without values of version \(item.version)"
        guard item.version > log.from, item.version <= tables.version,
            let table = tables.table(item.classKey)
        else {
            return report.add(
                "\(place): class \(item.classKey), the log is of versions \(log.from) to \(tables.version)"
            )
        }
        do throws(RealmError) {
            try table.forEachRun(item.keys) { _ throws(RealmError) in }
        } catch {
            report.add("\(place): \(error.message)")
        }
    }

    /// Recursion ends with the levels, which descend.
    private func checkLog(_ entry: LogEntry, _ order: inout RecordOrder) {
        let place = "change log of versions \(entry.from) to \(entry.last)"
        guard
            let block = block(
                entry.root, LogBlock.tag(level: entry.level), place, entry.level, LogBlock.check)
        else { return }
        guard entry.level > 0 else {
            return checkRecords(LogBlock.records(block), place, &order, entry.last)
        }
        for child in LogBlock.entries(block, level: entry.level) { checkLog(child, &order) }
    }

    private func checkRecords(
        _ bytes: UnsafeRawBufferPointer, _ place: String, _ order: inout RecordOrder,
        _ newest: UInt64
    ) {
        do throws(RealmError) {
            var records = LogRecords(bytes)
            while let record = try records.next() {
                let last = order.last
                guard order.follows(record.version, record.log), record.version <= newest else {
                    throw RealmError(
                        .invalidDatabase,
                        "version \(record.version) behind \(last), up to \(newest)")
                }
                try UnwrittenValues(nil).note(record.version, record.log)
                var operations = ChangeOperations([record])
                while let operation = try operations.next() {
                    if case .version = operation { continue }
                }
            }
        } catch {
            report.add("\(place): \(error.message)")
        }
    }
}
