// The airports of the world in a realm file, from Swift.
//
// usage: airports import FILE DATA    fill FILE from the text that export.py writes
//        airports explore FILE        look up, search, sort, count
//        airports change FILE         a transaction, a rollback, what a frozen realm keeps
//        airports summary FILE        one line, the same for every program that reads the data

import Foundation
import RealmSwift

let arguments = CommandLine.arguments
do {
    switch (arguments.count, arguments.dropFirst().first) {
    case (4, "import"): try importAirports(arguments[2], from: arguments[3])
    case (3, "explore"): try explore(arguments[2])
    case (3, "change"): try change(arguments[2])
    case (3, "summary"): try summary(arguments[2])
    default:
        print("usage: airports import FILE DATA | explore FILE | change FILE | summary FILE")
        exit(2)
    }
} catch {
    FileHandle.standardError.write(Data("airports: \(error)\n".utf8))
    exit(1)
}
