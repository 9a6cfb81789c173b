// What this library has beyond realm-core: results and collections in bulk, verification, sizes.

import CRealm
import CoreSwift

// MARK: - Values that stay

/// Returns a new handle to the values that results have now. Unlike those of
/// `realm_results_snapshot()`, which for values stays live, they stay what they are, also when their
/// collection is gone; they can be filtered and sorted. A link whose object is deleted becomes null;
/// lists and dictionaries among mixed values stay live. Results over objects give their snapshot.
/// Fails: RLM_ERR_STALE_ACCESSOR, RLM_ERR_WRONG_THREAD.
@c @implementation
public func realm_results_snapshot_values(_ results: OpaquePointer?) -> OpaquePointer? {
    boundary(nil, makeHandle(.results, try anyResultsHeld(results).fixed()))
}

// MARK: - Results in bulk

/// Runs a reading call with its required output and writes how many elements were there.
private func bulk<Target>(
    _ handle: OpaquePointer?, _ target: UnsafeMutablePointer<Target>?, _ count: Int,
    _ out_count: UnsafeMutablePointer<Int>?,
    _ body: (Results, UnsafeMutablePointer<Target>) throws(RealmError) -> Int
) -> Bool {
    out_count?.pointee = 0
    return succeeds { () throws(RealmError) in
        let results = try resultsHeld(handle)
        guard let target else {
            guard count == 0 else {
                throw RealmError(.invalidArgument, "the output array must not be NULL")
            }
            return
        }
        let written = try body(results, target)
        out_count?.pointee = written
    }
}

/// Reads the object keys of `count` elements from position `first` on, of fewer at the end;
/// `out_count` gets how many were there. -1 stands for elements of a snapshot that are gone. Fails:
/// RLM_ERR_INDEX_OUT_OF_BOUNDS for positions that no array has, RLM_ERR_STALE_ACCESSOR.
@c @implementation
public func realm_results_read_keys(
    _ results: OpaquePointer?, _ first: Int, _ count: Int,
    _ out_keys: UnsafeMutablePointer<realm_object_key_t>?,
    _ out_count: UnsafeMutablePointer<Int>?
) -> Bool {
    bulk(results, out_keys, count, out_count) { results, target throws(RealmError) in
        try results.readKeys(from: first, count: count, into: target.objectKeys)
    }
}

/// Reads an integer, boolean, timestamp (seconds) or link (object key) property of `count`
/// elements from position `first` on, of fewer at the end; `out_count` gets how many were there.
/// Null is 0 and has 1 in `out_is_null`, which may be NULL. Takes 1 to 3 ns an element. Fails:
/// RLM_ERR_INVALID_PROPERTY, RLM_ERR_PROPERTY_TYPE_MISMATCH, RLM_ERR_INDEX_OUT_OF_BOUNDS for
/// positions that no array has, RLM_ERR_STALE_ACCESSOR.
@c @implementation
public func realm_results_read_integers(
    _ results: OpaquePointer?, _ property_key: realm_property_key_t, _ first: Int, _ count: Int,
    _ out_values: UnsafeMutablePointer<Int64>?, _ out_is_null: UnsafeMutablePointer<UInt8>?,
    _ out_count: UnsafeMutablePointer<Int>?
) -> Bool {
    bulk(results, out_values, count, out_count) { results, target throws(RealmError) in
        try results.readIntegers(
            PropertyKey(property_key), from: first, count: count, into: target, isNull: out_is_null)
    }
}

/// Reads a float or double property; as `realm_results_read_integers()`.
@c @implementation
public func realm_results_read_doubles(
    _ results: OpaquePointer?, _ property_key: realm_property_key_t, _ first: Int, _ count: Int,
    _ out_values: UnsafeMutablePointer<Double>?, _ out_is_null: UnsafeMutablePointer<UInt8>?,
    _ out_count: UnsafeMutablePointer<Int>?
) -> Bool {
    bulk(results, out_values, count, out_count) { results, target throws(RealmError) in
        try results.readDoubles(
            PropertyKey(property_key), from: first, count: count, into: target, isNull: out_is_null)
    }
}

/// Reads a string or binary property; as `realm_results_read_integers()`. Null has no data. The
/// bytes are borrowed until the realm moves to another version, is changed or closed.
@c @implementation
public func realm_results_read_strings(
    _ results: OpaquePointer?, _ property_key: realm_property_key_t, _ first: Int, _ count: Int,
    _ out_values: UnsafeMutablePointer<realm_string_t>?, _ out_count: UnsafeMutablePointer<Int>?
) -> Bool {
    bulk(results, out_values, count, out_count) { results, target throws(RealmError) in
        // Both are an address and a size.
        let texts = UnsafeMutableRawPointer(target).assumingMemoryBound(to: TextReference.self)
        return try results.readTexts(
            PropertyKey(property_key), from: first, count: count, into: texts)
    }
}

/// Reads several properties of `count` elements from position `first` on, element by element:
/// property j of element i is `out_values[i * num_properties + j]`. Null for elements of a snapshot
/// that are gone. `out_count` gets how many elements were there. Strings and binaries are borrowed
/// until the realm moves to another version, is changed or closed. Fails: RLM_ERR_INVALID_PROPERTY,
/// RLM_ERR_INDEX_OUT_OF_BOUNDS for positions that no array has, RLM_ERR_STALE_ACCESSOR.
@c @implementation
public func realm_results_get_values(
    _ results: OpaquePointer?, _ first: Int, _ count: Int, _ num_properties: Int,
    _ properties: UnsafePointer<realm_property_key_t>?,
    _ out_values: UnsafeMutablePointer<realm_value_t>?, _ out_count: UnsafeMutablePointer<Int>?
) -> Bool {
    bulk(results, out_values, count, out_count) { results, target throws(RealmError) in
        guard num_properties > 0, let properties else {
            throw RealmError(.invalidArgument, "properties must not be NULL or none")
        }
        return try results.readValues(
            UnsafeBufferPointer(start: properties.propertyKeys, count: num_properties), from: first,
            count: count, into: target.raw)
    }
}

/// Writes new handles to `count` elements from position `first` on, to fewer at the end;
/// `out_count` gets how many. After a failure none are written. Fails: RLM_ERR_INDEX_OUT_OF_BOUNDS
/// for positions that no array has, RLM_ERR_STALE_ACCESSOR.
@c @implementation
public func realm_results_get_objects(
    _ results: OpaquePointer?, _ first: Int, _ count: Int,
    _ out_objects: UnsafeMutablePointer<OpaquePointer?>?, _ out_count: UnsafeMutablePointer<Int>?
) -> Bool {
    bulk(results, out_objects, count, out_count) { results, target throws(RealmError) in
        guard first >= 0, count >= 0 else {
            throw RealmError(
                .indexOutOfBounds, "cannot read \(count) elements from index \(first)")
        }
        let available = max(0, try results.count() - first)
        var written = 0
        do throws(RealmError) {
            while written < min(count, available) {
                target[written] = OpaquePointer(try results.object(first + written).slot)
                written += 1
            }
        } catch {
            for index in 0..<written {
                realm_release(target[index].map { UnsafeMutableRawPointer($0) })
                target[index] = nil
            }
            throw error
        }
        return written
    }
}

// MARK: - Collections in bulk

/// Runs a reading call of a collection with its output arrays and writes how many elements were
/// there.
private func bulkElements(
    _ handle: OpaquePointer?, _ kind: HandleKind, _ first: Int, _ count: Int,
    keys: UnsafeMutablePointer<realm_value_t>?, values: UnsafeMutablePointer<realm_value_t>?,
    _ out_count: UnsafeMutablePointer<Int>?
) -> Bool {
    out_count?.pointee = 0
    return succeeds { () throws(RealmError) in
        guard keys != nil || values != nil || count == 0 else {
            throw RealmError(.invalidArgument, "the output array must not be NULL")
        }
        let written = try withCollection(handle, kind) { collection throws(RealmError) in
            var rows = 0
            if let keys {
                rows = try collection.readKeys(from: first, count: count, into: keys.raw)
            }
            if let values {
                rows = try collection.read(from: first, count: count, into: values.raw)
            }
            return rows
        }
        out_count?.pointee = written
    }
}

/// Reads `count` elements from index `first` on, fewer at the end; `out_count` gets how many were
/// there. Strings and binaries are borrowed until the realm moves to another version, is changed or
/// closed. Takes a few nanoseconds an element. Fails: RLM_ERR_INDEX_OUT_OF_BOUNDS for positions
/// that no array has, RLM_ERR_INVALIDATED_OBJECT, RLM_ERR_WRONG_THREAD.
@c @implementation
public func realm_list_get_values(
    _ list: OpaquePointer?, _ first: Int, _ count: Int,
    _ out_values: UnsafeMutablePointer<realm_value_t>?, _ out_count: UnsafeMutablePointer<Int>?
) -> Bool {
    bulkElements(list, .list, first, count, keys: nil, values: out_values, out_count)
}

/// Reads elements of a set in its order; as `realm_list_get_values()`.
@c @implementation
public func realm_set_get_values(
    _ set: OpaquePointer?, _ first: Int, _ count: Int,
    _ out_values: UnsafeMutablePointer<realm_value_t>?, _ out_count: UnsafeMutablePointer<Int>?
) -> Bool {
    bulkElements(set, .set, first, count, keys: nil, values: out_values, out_count)
}

/// Reads entries of a dictionary in the order of their keys: the keys, the values, or both; one of
/// the arrays may be NULL. As `realm_list_get_values()`.
@c @implementation
public func realm_dictionary_get_entries(
    _ dictionary: OpaquePointer?, _ first: Int, _ count: Int,
    _ out_keys: UnsafeMutablePointer<realm_value_t>?,
    _ out_values: UnsafeMutablePointer<realm_value_t>?, _ out_count: UnsafeMutablePointer<Int>?
) -> Bool {
    bulkElements(
        dictionary, .dictionary, first, count, keys: out_keys, values: out_values, out_count)
}

// MARK: - Verification

private func report(
    _ problems: [String], _ onProblem: realm_check_func_t?, _ userdata: UnsafeMutableRawPointer?,
    _ out: UnsafeMutablePointer<Int>?
) {
    out?.pointee = problems.count
    guard let onProblem else { return }
    for problem in problems { problem.withCString { onProblem(userdata, $0) } }
}

/// Verifies the newest version of the realm's file: every block, tree, index, backlink and the
/// space map. Each problem is told to `on_problem`, which may be NULL; `out_num_problems` gets
/// their number. Returns true when it could be done, whatever it found. Reads the whole file.
@c @implementation
public func realm_check(
    _ realm: OpaquePointer?, _ on_problem: realm_check_func_t?,
    _ userdata: UnsafeMutableRawPointer?, _ out_num_problems: UnsafeMutablePointer<Int>?
) -> Bool {
    succeeds(report(try realmHeld(realm).check(), on_problem, userdata, out_num_problems))
}

/// As `realm_check()` for a file that need not be open. What prevents opening it is a problem, too.
/// The file is not changed.
@c @implementation
public func realm_check_file(
    _ path: UnsafePointer<CChar>?, _ on_problem: realm_check_func_t?,
    _ userdata: UnsafeMutableRawPointer?, _ out_num_problems: UnsafeMutablePointer<Int>?
) -> Bool {
    succeeds(
        report(Realm.check(path: try text(path, "path")), on_problem, userdata, out_num_problems))
}

/// As `realm_check_file()` for an encrypted file; without data the key stands for none. That the key
/// is not the file's is a problem. Fails: RLM_ERR_INVALID_ENCRYPTION_KEY for another size than 64.
@c @implementation
public func realm_check_file_with_key(
    _ path: UnsafePointer<CChar>?, _ encryption_key: realm_binary_t,
    _ on_problem: realm_check_func_t?, _ userdata: UnsafeMutableRawPointer?,
    _ out_num_problems: UnsafeMutablePointer<Int>?
) -> Bool {
    succeeds { () throws(RealmError) in
        let key = try encryptionKey(encryption_key)
        defer { withExtendedLifetime(key) {} }
        let problems = Realm.check(path: try text(path, "path"), encryptionKey: key.bytes)
        report(problems, on_problem, userdata, out_num_problems)
    }
}

// MARK: - Sizes

/// Writes the sizes of the realm's file at its newest version.
@c @implementation
public func realm_get_statistics(
    _ realm: OpaquePointer?, _ out_statistics: UnsafeMutablePointer<realm_statistics_t>?
) -> Bool {
    succeeds { () throws(RealmError) in
        let sizes = try realmHeld(realm).fileStatistics()
        out_statistics?.pointee = realm_statistics_t(
            file_bytes: UInt64(sizes.fileBytes), free_bytes: UInt64(sizes.freeBytes),
            pending_bytes: UInt64(sizes.pendingBytes), live_versions: UInt64(sizes.liveVersions),
            version: sizes.version, schema_version: sizes.schemaVersion ?? .max)
    }
}

/// Writes what the decrypted blocks of the realm's file take in this process; zeros for a plain file,
/// and where all that was read is kept.
@c @implementation
public func realm_get_encryption_cache_statistics(
    _ realm: OpaquePointer?,
    _ out_statistics: UnsafeMutablePointer<realm_encryption_cache_statistics_t>?
) -> Bool {
    succeeds { () throws(RealmError) in
        let cache = try realmHeld(realm).decryptedCacheStatistics()
        out_statistics?.pointee = realm_encryption_cache_statistics_t(
            bytes: UInt64(cache?.bytes ?? 0), decrypted_bytes: UInt64(cache?.decryptedBytes ?? 0),
            evicted_bytes: UInt64(cache?.evictedBytes ?? 0), faults: UInt64(cache?.faults ?? 0))
    }
}

/// Writes the sizes of a class at the newest version of the realm's file. Reads every block of
/// classes with text, else the inner nodes only. Fails: RLM_ERR_NO_SUCH_TABLE.
@c @implementation
public func realm_get_class_statistics(
    _ realm: OpaquePointer?, _ class_key: realm_class_key_t,
    _ out_statistics: UnsafeMutablePointer<realm_class_statistics_t>?
) -> Bool {
    succeeds { () throws(RealmError) in
        let sizes = try realmHeld(realm).statistics(of: ClassKey(class_key))
        out_statistics?.pointee = realm_class_statistics_t(
            num_objects: UInt64(sizes.objects), row_bytes: UInt64(sizes.rowBytes),
            external_bytes: UInt64(sizes.externalBytes + sizes.collectionBytes),
            index_bytes: UInt64(sizes.indexBytes),
            num_external_values: UInt64(sizes.externalValues), num_leaves: UInt64(sizes.leafCount),
            num_indexes: UInt64(sizes.indexes.count), depth: UInt64(sizes.depth))
    }
}
