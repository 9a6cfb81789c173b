// Names of classes for the completion of command lines: those of the file that the line names.

import ArgumentParser
import CoreSwift

enum ClassCompletion {
    /// For arguments that are classes. Nothing where the file can't be read.
    static let kind = CompletionKind.custom { words, _, prefix in
        var keyFile: String?
        if let place = words.firstIndex(of: "--key-file"), place + 1 < words.count {
            keyFile = words[place + 1]
        }
        // The first word behind the command that is a realm file.
        for word in words.dropFirst(2) where !word.hasPrefix("-") && word != keyFile {
            let key = keyFile.flatMap { try? KeyFile.load($0) } ?? []
            guard let realm = try? Inspection.open(word, key: key) else { continue }
            defer { realm.close() }
            return realm.schema.classes.map(\.name).filter { $0.hasPrefix(prefix) }
        }
        return []
    }
}
