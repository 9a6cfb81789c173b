// A copy of a program's key, for as long as a configuration or a call needs it.

import CSodium

/// Overwrites the key when it goes. Who uses `bytes` keeps this until then.
package final class KeyCopy {
    package let bytes: [UInt8]

    package init(_ bytes: [UInt8] = []) { self.bytes = bytes }

    deinit {
        // The very bytes, whoever shares the array still.
        bytes.withUnsafeBytes {
            guard let start = $0.baseAddress else { return }
            sodium_memzero(UnsafeMutableRawPointer(mutating: start), $0.count)
        }
    }
}
