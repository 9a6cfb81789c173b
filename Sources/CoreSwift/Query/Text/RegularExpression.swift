// The patterns of MATCHES (QUERY_RULES B4), compiled with PCRE2: UTF-8, Unicode classes, a match is the
// whole value. The only file that calls PCRE2.
//
// Backtracking is bounded, so that no value takes more than about a second, whatever the pattern:
//   * `stepsMax` backtracking steps for values of up to `shortBytesMax` bytes;
//   * longer values, where one step may look at the whole value, run a second form of the pattern
//     with a callout before each item, which adds up how far the position moved: `movesMax` bytes;
//   * `heapKibibytesMax` of memory for places to go back to.
// Beyond that the search is an error and not a wrong answer.

import CPCRE2

/// A compiled pattern. Immutable, for any number of threads; searches have state of their own.
final class RegularExpression: @unchecked Sendable {
    /// What the search ignores. `.ignoreDiacritics`: values are searched in their D form.
    let folding: TextFolding
    private let code: OpaquePointer
    /// With callouts.
    private let countingCode: OpaquePointer
    private let spelling: String

    static let shortBytesMax = 512
    static let stepsMax: UInt32 = 2_000_000
    static let movesMax = 1 << 29
    static let heapKibibytesMax: UInt32 = 128 << 10

    /// Compiles a pattern; throws `.invalidQuery` with the library's message and the offset.
    init(_ pattern: [UInt8], _ folding: TextFolding) throws(RealmError) {
        self.folding = folding
        let text = TextFolder.folded(
            pattern, folding.intersection(.ignoreDiacritics), isString: true)
        spelling = String(decoding: pattern, as: UTF8.self)
        var options = UInt32(PCRE2_UTF) | UInt32(PCRE2_UCP) | UInt32(PCRE2_MATCH_INVALID_UTF)
        options |= UInt32(PCRE2_ANCHORED) | UInt32(PCRE2_ENDANCHORED)
        options |= UInt32(PCRE2_NEVER_BACKSLASH_C)
        if folding.contains(.ignoreCase) { options |= UInt32(PCRE2_CASELESS) }
        var code = try Self.compile(text, options)
        do throws(RealmError) {
            // The pattern as it was given has been compiled for its errors and their places.
            let expanded = PatternWords.expanded(text)
            if let expanded {
                let words = try Self.compile(expanded, options)
                pcre2_code_free_8(code)
                code = words
            }
            countingCode = try Self.compile(
                expanded ?? text, options | UInt32(PCRE2_AUTO_CALLOUT))
        } catch {
            pcre2_code_free_8(code)
            throw error
        }
        self.code = code
    }

    deinit {
        pcre2_code_free_8(code)
        pcre2_code_free_8(countingCode)
    }

    private static func compile(
        _ text: [UInt8], _ options: UInt32
    ) throws(RealmError) -> OpaquePointer {
        guard let context = pcre2_compile_context_create_8(nil) else {
            throw RealmError(.outOfMemory, "no memory for a pattern")
        }
        defer { pcre2_compile_context_free_8(context) }
        // The dot stops at every line end that Unicode knows.
        pcre2_set_newline_8(context, UInt32(PCRE2_NEWLINE_ANY))
        var number: Int32 = 0
        var offset = 0
        let code = text.withUnsafeBufferPointer {
            // An empty array may have no address, and then the library takes none.
            withUnsafePointer(to: 0 as UInt8) { [start = $0.baseAddress] empty in
                pcre2_compile_8(
                    start ?? empty, text.count, options, &number, &offset, context)
            }
        }
        guard let code else {
            throw RealmError(.invalidQuery, "\(message(number)) at byte \(offset)")
        }
        return code
    }

    private static func message(_ number: Int32) -> String {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 256) { buffer in
            let count = pcre2_get_error_message_8(number, buffer.baseAddress, buffer.count)
            return String(decoding: buffer.prefix(Int(max(count, 0))), as: UTF8.self)
        }
    }

    /// The state of one thread's searches.
    final class Search {
        private let expression: RegularExpression
        private let data: OpaquePointer?
        private let context: OpaquePointer?
        private let work: UnsafeMutablePointer<Work>

        /// What the callouts count.
        fileprivate struct Work {
            var position = 0
            var moves = 0
        }

        init(_ expression: RegularExpression) {
            self.expression = expression
            // One pair of offsets: nobody asks what the groups matched.
            data = pcre2_match_data_create_8(1, nil)
            context = pcre2_match_context_create_8(nil)
            work = .allocate(capacity: 1)
            work.initialize(to: Work())
            pcre2_set_heap_limit_8(context, RegularExpression.heapKibibytesMax)
            pcre2_set_callout_8(context, countMoves, work)
        }

        deinit {
            pcre2_match_data_free_8(data)
            pcre2_match_context_free_8(context)
            work.deallocate()
        }

        /// Whether the pattern covers the whole value.
        func matches(_ value: UnsafeRawBufferPointer) throws(RealmError) -> Bool {
            guard let data, let context else {
                throw RealmError(.outOfMemory, "no memory for a search with MATCHES")
            }
            let isShort = value.count <= RegularExpression.shortBytesMax
            var steps = RegularExpression.stepsMax
            if !isShort {
                work.pointee = Work()
                // One `.*` goes back once for each scalar; the moves are what bounds the rest.
                steps = UInt32(clamping: Int(steps) + 8 * value.count)
            }
            pcre2_set_match_limit_8(context, steps)
            let result = withUnsafePointer(to: 0 as UInt8) { empty in
                pcre2_match_8(
                    isShort ? expression.code : expression.countingCode,
                    value.baseAddress?.assumingMemoryBound(to: UInt8.self) ?? empty, value.count,
                    0, 0, data, context)
            }
            if result >= 0 { return true }
            if result == PCRE2_ERROR_NOMATCH { return false }
            throw RealmError(
                .runtime,
                "MATCHES '\(expression.spelling)' gave up on a value of \(value.count) bytes: "
                    + RegularExpression.message(result)
                    + "; a pattern that goes back less often may do")
        }
    }
}

/// Adds up how far the search moved in the value; ends it when that is too much.
private func countMoves(
    _ block: UnsafeMutablePointer<pcre2_callout_block_8>?, _ state: UnsafeMutableRawPointer?
) -> Int32 {
    guard let block, let state else { return 0 }
    let work = state.assumingMemoryBound(to: RegularExpression.Search.Work.self)
    let position = block.pointee.current_position
    work.pointee.moves &+= abs(position &- work.pointee.position) &+ 4
    work.pointee.position = position
    return work.pointee.moves > RegularExpression.movesMax ? Int32(PCRE2_ERROR_MATCHLIMIT) : 0
}
