import CKernels
import Glibc
import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct HandleSlabTests {
    @Test func tagsOfAllKindsDiffer() {
        let tags = Set(HandleKind.all.map(\.tag) + [HandleKind.released.tag])
        #expect(tags.count == HandleKind.all.count + 1)
        #expect(HandleKind.all.allSatisfy { $0.name != nil })
    }

    @Test func slotsAreAlignedAndDistinct() {
        let slots = (0..<5000).map { _ in HandleSlab.allocate(.object) }
        #expect(Set(slots).count == slots.count)
        #expect(slots.allSatisfy { UInt(bitPattern: $0) & 63 == 0 })
        slots.forEach(HandleSlab.release)
    }

    @Test func releasedSlotsAreTakenAgain() {
        let first = HandleSlab.allocate(.object)
        HandleSlab.release(first)
        let second = HandleSlab.allocate(.query)
        #expect(first == second)
        HandleSlab.release(second)
    }

    @Test func wrongHandlesAreNamedInTheError() throws {
        let query = HandleSlab.allocate(.query)
        #expect(message(query, .realm) == "expected a realm_t, got a realm_query_t")
        HandleSlab.release(query)
        #expect(message(query, .query) == "expected a realm_query_t, got a released handle")
        #expect(message(nil, .query) == "expected a realm_query_t, got NULL")
        #expect(
            message(UnsafeRawPointer(query) + 8, .query)
                == "expected a realm_query_t, got a pointer that is no handle")
    }

    private func message(_ pointer: UnsafeRawPointer?, _ kind: HandleKind) -> String? {
        do {
            _ = try HandleSlab.check(pointer, kind)
            return nil
        } catch { return error.message }
    }

    @Test func heldObjectsEndWithTheirHandle() {
        final class Probe {
            let end: () -> Void
            init(_ end: @escaping () -> Void) { self.end = end }
            deinit { end() }
        }
        var ended = 0
        let handle = HandleSlab.allocate(.config, holding: Probe { ended += 1 })
        #expect(ended == 0)
        HandleSlab.releaseHolding(handle)
        #expect(ended == 1)
    }

    @Test func slotsOfDeadThreadsComeBack() {
        // Each thread takes and releases more slots than a batch; without the exit hook every
        // round would cut new slabs.
        func round() -> Set<UInt> {
            nonisolated(unsafe) var addresses = Set<UInt>()
            onAnotherThread {
                let slots = (0..<600).map { _ in HandleSlab.allocate(.object) }
                addresses = Set(slots.map { UInt(bitPattern: $0) })
                slots.forEach(HandleSlab.release)
            }
            return addresses
        }
        var all = Set<UInt>()
        for _ in 0..<200 { all.formUnion(round()) }
        #expect(all.count < 200 * 600 / 4)
    }

    @Test func slotsReleasedOnAnotherThreadAreOnOneListOnly() {
        for _ in 0..<20 {
            nonisolated(unsafe) let moved = (0..<1000).map { _ in HandleSlab.allocate(.object) }
            nonisolated(unsafe) var there: [UnsafeMutableRawPointer] = []
            onAnotherThread {
                moved.forEach(HandleSlab.release)
                there = (0..<700).map { _ in HandleSlab.allocate(.object) }
            }
            let here = (0..<1500).map { _ in HandleSlab.allocate(.object) }
            #expect(Set(there).union(here).count == 2200)
            (there + here).forEach(HandleSlab.release)
        }
    }
}
