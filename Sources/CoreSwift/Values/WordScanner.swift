// Cuts texts into the words of a full-text index and folds them, so that words which count as the
// same have the same bytes. The index and the words that are looked up go through it alike; changing
// what it gives for a text makes the indexes in existing files wrong.
//
// Used by `Table` to keep full-text indexes, and by `Query` to read the right side of TEXT.

import CKernels

/// What is a word, and which words are the same.
public enum WordRules: UInt8, Sendable {
    /// Letters and digits of ASCII and the Latin-1 letters U+00C0 to U+00FE. Letters in either case
    /// and with or without accent are the same, but å, æ, ð, ø, þ and ß are letters of their own.
    case latin
    /// Letters, marks and numbers of all scripts, in Unicode's full case folding, without
    /// diacritical marks. Each CJK ideograph is a word.
    case unicode

    /// The longest word in bytes; what follows is left out, in indexes and in searches alike.
    var wordBytesMax: Int { self == .latin ? 64 : 128 }
}

struct WordScanner {
    let text: UnsafeRawPointer
    let count: Int
    let rules: WordRules
    /// Room for `WordRules.wordBytesMax` bytes.
    let word: UnsafeMutableRawPointer
    var position = 0
    /// Bytes of the word that `next` found.
    var wordCount = 0
    /// Something that belongs to no word was met on the way.
    var metSeparator = false
    /// Made when a word has other letters than those of ASCII.
    var folder: TextFolder?

    /// Calls `body` with each word of a text, repeated ones again. The bytes live until it returns. Whether
    /// some character belongs to no word.
    @inline(__always) @discardableResult
    static func forEachWord(
        _ text: UnsafeRawBufferPointer, _ rules: WordRules, _ body: (UnsafeRawPointer, Int) -> Void
    ) -> Bool {
        guard let start = text.baseAddress, text.count > 0 else { return false }
        return withUnsafeTemporaryAllocation(
            byteCount: rules.wordBytesMax, alignment: 8
        ) { buffer in
            guard let word = buffer.baseAddress else { return false }
            var scanner = WordScanner(
                text: start, count: text.count, rules: rules, word: word)
            while scanner.next() { body(UnsafeRawPointer(word), scanner.wordCount) }
            return scanner.metSeparator
        }
    }

    /// The words of a text without anything between them; nil when there is some other character.
    static func words(_ text: [UInt8], _ rules: WordRules) -> [[UInt8]]? {
        text.withUnsafeBytes { source in
            var words: [[UInt8]] = []
            let hasOthers = forEachWord(source, rules) { word, count in
                words.append([UInt8](UnsafeRawBufferPointer(start: word, count: count)))
            }
            return hasOthers ? nil : words
        }
    }

    /// Moves to the next word; false at the end of the text.
    @inline(__always)
    mutating func next() -> Bool { rules == .latin ? nextLatin() : nextUnicode() }

    // MARK: Latin

    /// What the characters of ASCII become; "." separates.
    private static let asciiLetters: StaticString =
        #"""
        ................................................0123456789.......abcdefghijklm\#
        nopqrstuvwxyz......abcdefghijklmnopqrstuvwxyz.....
        """#
    /// What U+00C0 + index becomes, also at + 32: "." nothing, "@" the same letter in lower case,
    /// "$" itself.
    private static let latinLetters: StaticString = "aaaaa@@ceeeeiiii@nooooo.@uuuuy@$"

    private mutating func nextLatin() -> Bool {
        let ascii = UnsafeRawPointer(Self.asciiLetters.utf8Start)
        let text = text
        let end = count
        let word = word
        let separator = UInt8(ascii: ".")
        /// Bytes that the word may have; lowered to what it has once something did not fit.
        var room = WordRules.latin.wordBytesMax
        var used = 0
        var at = position
        while at < end {
            let byte = text.u8(at)
            at &+= 1
            if byte < 0x80 {
                let letter = ascii.u8(Int(byte))
                if letter != separator {
                    if used < room {
                        word.put(letter, used)
                        used &+= 1
                    }
                    continue
                }
            } else if byte == 0xC3, at < end, text.u8(at) &- 0x80 < 0x3F {
                // U+00C0 to U+00FE are C3 80 to C3 BE; U+00FF is none of them.
                used = addLatin(text.u8(at), used, &room)
                at &+= 1
                continue
            }
            metSeparator = true
            if used > 0 { break }
        }
        position = at
        wordCount = used
        return used > 0
    }

    /// Adds the letter whose second byte this is; returns the bytes that the word has now.
    private func addLatin(_ second: UInt8, _ used: Int, _ room: inout Int) -> Int {
        let letter = UnsafeRawPointer(Self.latinLetters.utf8Start).u8(Int(second & 31))
        if letter == UInt8(ascii: ".") { return used }
        let isOwn = letter < 0x61
        guard used &+ (isOwn ? 2 : 1) <= room else {
            room = used
            return used
        }
        if !isOwn {
            word.put(letter, used)
            return used &+ 1
        }
        word.put(0xC3 as UInt8, used)
        word.put(letter == UInt8(ascii: "$") ? second : second | 0x20, used &+ 1)
        return used &+ 2
    }
}
