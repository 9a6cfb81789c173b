import Glibc
import Testing

@testable import CoreSwift
@testable import TestSupport

/// What a small commit costs beside its system calls; run with REALM_COMMIT_COST=path of a file.
@Suite struct CommitCostTests {
    func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1e3
    }

    @Test(.enabled(if: getenv("REALM_COMMIT_COST") != nil))
    func aSmallCommitCostsLittleMoreThanItsWrites() throws {
        guard let text = getenv("REALM_COMMIT_COST") else { return }
        let path = String(cString: text)
        unlink(path)
        var options = StoreOptions()
        options.inMemory = getenv("REALM_COMMIT_NOSYNC") != nil
        let store = try Store.open(path: path, options: options, files: SystemCalls.shared)
        // 2,000 leaves of 4 pages.
        let leafPages = 4
        let leaves = 2000
        let block = UnsafeMutableRawPointer.allocate(byteCount: 64 * 4096, alignment: 4096)
        block.initializeMemory(as: UInt8.self, repeating: 3, count: 64 * 4096)
        var references: [BlockReference] = []
        let payload = [UInt8](repeating: 1, count: 600)
        func commit(_ leaf: Int?, _ inner: [BlockReference]) throws -> [BlockReference] {
            guard let lease = try store.beginWrite(wait: true) else { return [] }
            var freed = inner
            if let leaf { freed.append(references[leaf]) }
            let pages = leaf == nil ? leaves * leafPages + 3 : leafPages + 3
            let builder = try lease.prepareCommit(pages: pages, freed: freed)
            if let leaf {
                references[leaf] = builder.place(block, pages: leafPages)
            } else {
                for _ in 0..<leaves { references.append(builder.place(block, pages: leafPages)) }
            }
            let next = (0..<3).map { _ in builder.place(block + 65536, pages: 1) }
            let pin = try payload.withUnsafeBytes { try builder.publish(payload: $0) }
            store.unpin(pin.version)
            return next
        }
        var inner = try commit(nil, [])
        var random = Random(3)
        for round in 0..<6 {
            let count = 2000
            let start = now()
            for _ in 0..<count { inner = try commit(random.below(leaves), inner) }
            let perCommit = (now() - start) / Double(count)
            print("round \(round): \(perCommit) us per commit, \(try store.statistics())")
        }
        // The same system calls without the pager: overwriting in place.
        let descriptor = Glibc.open(path, O_RDWR | O_CLOEXEC)
        for pieces in [1, 2, 3] {
            let count = 2000
            let start = now()
            for _ in 0..<count {
                let base = 10 + random.below(leaves * leafPages - 20)
                if pieces == 1 {
                    pwrite(descriptor, block, 8 * 4096, base * 4096)
                } else {
                    pwrite(descriptor, block, 4 * 4096, base * 4096)
                    let base = 10 + random.below(leaves * leafPages - 20)
                    pwrite(descriptor, block, (6 - pieces) * 4096, base * 4096)
                    if pieces == 3 {
                        let base = 10 + random.below(leaves * leafPages - 20)
                        pwrite(descriptor, block, 4096, base * 4096)
                    }
                }
                pwrite(descriptor, block, 512, 0)
                if !options.inMemory { fdatasync(descriptor) }
            }
            print("bare calls, \(pieces) runs: \((now() - start) / Double(count)) us")
        }
        Glibc.close(descriptor)
        try store.close()
        unlink(path)
        unlink(path + ".lock")
    }
}

extension CommitCostTests {
    @Test(.enabled(if: getenv("REALM_COMMIT_COST") != nil))
    func openingIsQuick() throws {
        guard let text = getenv("REALM_COMMIT_COST") else { return }
        let path = String(cString: text) + ".open"
        var model: ToyModel = [:]
        var changes: [Int: UInt64?] = [:]
        for leaf in 0..<2000 { changes[leaf] = 1 }
        var store = try Store.open(path: path, options: StoreOptions(), files: SystemCalls.shared)
        try ToyClient.commit(store, &model, changes, capacity: 2000)
        try store.close()
        for _ in 0..<3 {
            let count = 500
            let start = now()
            var opened = 0.0
            for _ in 0..<count {
                let begin = now()
                store = try Store.open(
                    path: path, options: StoreOptions(), files: SystemCalls.shared)
                store.unpin(try store.pinNewest().version)
                opened += now() - begin
                try store.close()
            }
            print(
                "open \(opened / Double(count)) us, with close \((now() - start) / Double(count))")
        }
        unlink(path)
        unlink(path + ".lock")
    }

    /// What the preparation of a commit costs that goes on from another writer's: by its changes, and, as at the
    /// first turn, by reading the whole map.
    @Test(.enabled(if: getenv("REALM_COMMIT_COST") != nil))
    func aTurnCostsWhatOthersChanged() throws {
        guard let text = getenv("REALM_COMMIT_COST") else { return }
        for leaves in [300, 2300, 15000] {
            let path = String(cString: text) + ".turns"
            var options = StoreOptions()
            options.inMemory = true
            let stores = try (0..<2).map { _ in
                try Store.open(path: path, options: options, files: SystemCalls.shared)
            }
            var model: ToyModel = [:]
            var changes: [Int: UInt64?] = [:]
            for leaf in 0..<leaves { changes[leaf] = 1 }
            stores[0].unpin(
                try ToyClient.commit(stores[0], &model, changes, capacity: leaves).version)
            changes = [:]
            for leaf in stride(from: 0, to: leaves, by: 3) { changes[leaf] = .some(nil) }
            stores[0].unpin(
                try ToyClient.commit(stores[0], &model, changes, capacity: leaves).version)
            let block = UnsafeMutableRawPointer.allocate(byteCount: 4 * 4096, alignment: 4096)
            block.initializeMemory(as: UInt8.self, repeating: 3, count: 4 * 4096)
            defer { block.deallocate() }
            var last: [BlockReference] = []
            for how in ["one writer", "in turns", "in turns, maps read anew"] {
                var least: (preparing: Double, all: Double) = (.infinity, .infinity)
                for _ in 0..<6 {
                    var preparing: [Double] = []
                    var all: [Double] = []
                    for step in 0..<400 {
                        let writer = stores[how == "one writer" ? 0 : step % 2]
                        if how == "in turns, maps read anew" { writer.space = nil }
                        let begin = now()
                        guard let lease = try writer.beginWrite(wait: true) else { return }
                        let start = now()
                        let builder = try lease.prepareCommit(pages: 5, freed: last)
                        preparing.append(now() - start)
                        last = [builder.place(block, pages: 4), builder.place(block, pages: 1)]
                        let payload = UnsafeRawBufferPointer(
                            start: lease.base.payload, count: lease.base.payloadCount)
                        writer.unpin(try builder.publish(payload: payload).version)
                        all.append(now() - begin)
                    }
                    least.preparing = min(least.preparing, preparing.sorted()[200])
                    least.all = min(least.all, all.sorted()[200])
                }
                let entries = stores[0].space?.entryCount ?? 0
                print("\(entries) entries, \(how): us to prepare, in all: \(least)")
            }
            for store in stores { try store.close() }
        }
    }
}
