/// A text that is compared by its bytes, as files and file systems compare names: Swift finds canonically equivalent
/// texts equal, `é` and `e` with U+0301.
package struct ByteText: Hashable, Comparable {
    package let text: String

    package init(_ text: String) { self.text = text }

    package static func == (a: ByteText, b: ByteText) -> Bool {
        a.text.utf8.elementsEqual(b.text.utf8)
    }

    package static func < (a: ByteText, b: ByteText) -> Bool {
        a.text.utf8.lexicographicallyPrecedes(b.text.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
