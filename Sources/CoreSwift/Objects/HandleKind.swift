// The kinds of C handles and the tags that tell them apart. A tag is the first word of a handle's
// slot (`HandleSlab`); it is checked whenever a handle comes in, so that a wrong or released one
// is an error code. The numbers are random, so that memory which is no handle does not pass.

/// The kind of a C handle.
package struct HandleKind: Hashable, Sendable {
    package let tag: UInt64

    @inlinable @inline(__always) init(_ tag: UInt64) { self.tag = tag }

    // Computed, not stored: stored statics are initialised lazily behind a check.
    @inlinable @inline(__always)
    package static var object: HandleKind { HandleKind(0x6BF1_93A2_5E0C_D847) }
    @inlinable @inline(__always)
    package static var realm: HandleKind { HandleKind(0x9D27_4C81_F6B5_3A1F) }
    @inlinable @inline(__always)
    package static var results: HandleKind { HandleKind(0xC35A_E90D_7182_46BD) }
    @inlinable @inline(__always)
    package static var query: HandleKind { HandleKind(0x17E8_5BD4_A36F_902B) }
    @inlinable @inline(__always)
    package static var list: HandleKind { HandleKind(0xF048_D13B_9C67_E2A5) }
    @inlinable @inline(__always)
    package static var set: HandleKind { HandleKind(0x5C9E_0672_BD14_F839) }
    @inlinable @inline(__always)
    package static var dictionary: HandleKind { HandleKind(0xA274_BF59_0E3D_61C3) }
    @inlinable @inline(__always)
    package static var schema: HandleKind { HandleKind(0x3B0D_E6C7_48F1_952D) }
    @inlinable @inline(__always)
    package static var config: HandleKind { HandleKind(0xE91F_7A34_D052_8C6B) }
    @inlinable @inline(__always)
    package static var scheduler: HandleKind { HandleKind(0x8462_C5F0_3BA9_17ED) }
    @inlinable @inline(__always)
    package static var workQueue: HandleKind { HandleKind(0x2FD6_18AB_E574_C093) }
    @inlinable @inline(__always)
    package static var asyncError: HandleKind { HandleKind(0xB7A1_4E9D_62C8_F305) }
    @inlinable @inline(__always)
    package static var notificationToken: HandleKind { HandleKind(0x70C3_D248_1F9A_B56E) }
    @inlinable @inline(__always)
    package static var callbackToken: HandleKind { HandleKind(0xDA5B_8F16_C403_7E29) }
    @inlinable @inline(__always)
    package static var refreshToken: HandleKind { HandleKind(0x4E87_30FC_95DB_A16D) }
    @inlinable @inline(__always)
    package static var threadSafeReference: HandleKind { HandleKind(0x95F4_6B2E_07D8_C3A1) }
    @inlinable @inline(__always)
    package static var keyPathArray: HandleKind { HandleKind(0x08BE_A7C5_D9F2_4163) }
    @inlinable @inline(__always)
    package static var objectChanges: HandleKind { HandleKind(0xCB36_517F_8AE0_9D47) }
    @inlinable @inline(__always)
    package static var collectionChanges: HandleKind { HandleKind(0x61D9_F80A_2C4E_B7F3) }
    @inlinable @inline(__always)
    package static var dictionaryChanges: HandleKind { HandleKind(0xFE10_9B63_75C8_2AD1) }
    @inlinable @inline(__always)
    package static var groups: HandleKind { HandleKind(0x29C7_E5F4_81B0_6D3E) }
    /// The tag of a slot on a free list.
    @inlinable @inline(__always)
    package static var released: HandleKind { HandleKind(0x3D00_DEAD_51A7_BEE5) }

    /// All kinds a caller can hold.
    package static let all: [HandleKind] = [
        .object, .realm, .results, .query, .list, .set, .dictionary, .schema, .config, .scheduler,
        .workQueue, .asyncError, .notificationToken, .callbackToken, .refreshToken,
        .threadSafeReference, .keyPathArray, .objectChanges, .collectionChanges,
        .dictionaryChanges, .groups,
    ]

    /// The C type of the kind with an article, for messages; nil for numbers that are no tag.
    package var name: String? {
        switch self {
        case .object: return "a realm_object_t"
        case .realm: return "a realm_t"
        case .results: return "a realm_results_t"
        case .query: return "a realm_query_t"
        case .list: return "a realm_list_t"
        case .set: return "a realm_set_t"
        case .dictionary: return "a realm_dictionary_t"
        case .schema: return "a realm_schema_t"
        case .config: return "a realm_config_t"
        case .scheduler: return "a realm_scheduler_t"
        case .workQueue: return "a realm_work_queue_t"
        case .asyncError: return "a realm_async_error_t"
        case .notificationToken: return "a realm_notification_token_t"
        case .callbackToken: return "a realm_callback_token_t"
        case .refreshToken: return "a realm_refresh_callback_token_t"
        case .threadSafeReference: return "a realm_thread_safe_reference_t"
        case .keyPathArray: return "a realm_key_path_array_t"
        case .objectChanges: return "a realm_object_changes_t"
        case .collectionChanges: return "a realm_collection_changes_t"
        case .dictionaryChanges: return "a realm_dictionary_changes_t"
        case .groups: return "a realm_groups_t"
        case .released: return "a released handle"
        default: return nil
        }
    }
}
