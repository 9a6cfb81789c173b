// Whether an edit meets what the page showed. A position in a list says where an element stood, not which it is: after
// another program's commit another one may stand there.

import CoreSwift

extension StudioFile {
    /// Refuses an edit by a position at which something else stands than the page shows. The page tells the `version` of
    /// the file that it shows, and the value at the end of the path, `was`. In that version all positions are right. In another
    /// one an element that the path ends at is compared; collections on the way are known by nothing, so the page has to
    /// look again. An edit without a version is about what is there now.
    func checkPlace(
        _ edit: Request, _ property: PropertySchema, _ object: ObjectHandle, _ path: [ValueTree]
    ) throws {
        guard edit.tree("version") != nil, try edit.integer("version") != version else { return }
        let positions = path.indices.filter { index in
            if case .value(.int) = path[index] { return index > 0 }
            return false
        }
        guard let last = positions.last else { return }
        let outdated = StudioError(
            .outdated,
            "'\(property.name)' was changed meanwhile, and nothing was done; please look again")
        guard let was = edit.tree("was"), positions.count == 1, last == path.count - 1 else {
            throw outdated
        }
        let collection = try collection(object, property, path.dropLast())
        let now = try collection.get(try Self.index(of: path[last], in: collection))
        guard now.nestedType == nil else { throw outdated }
        var values = ValueOutput(try opened())
        values.textBytesMax = .max
        values.binaryBytesMax = .max
        // An object, as the texts of JSON that are read begin with.
        let json = try jsonObject { output in
            output.name("now")
            try values.scalar(now, &output)
        }
        guard Self.isShown(was, of: try Request(json).tree("now") ?? .null) else { throw outdated }
    }

    /// Whether the page shows a value as `shown`, both in the form of `ValueOutput`: of long ones it has the beginning and
    /// the number of bytes, and what links are called may change.
    private static func isShown(_ shown: ValueTree, of whole: ValueTree) -> Bool {
        guard case .list(let shown) = shown, case .list(let whole) = whole else {
            return shown == whole
        }
        func text(_ list: [ValueTree], _ index: Int) -> String? {
            guard index < list.count, case .value(.string(let text)) = list[index] else {
                return nil
            }
            return text
        }
        guard let type = text(shown, 0), type == text(whole, 0), let begin = text(shown, 1),
            let all = text(whole, 1)
        else { return false }
        switch type {
        case "link": return text(shown, 2) == text(whole, 2) && text(shown, 3) == text(whole, 3)
        case "string" where shown.count > 2:
            return shown[2] == .value(.int(Int64(all.utf8.count)))
                && all.utf8.starts(with: begin.utf8)
        case "binary":
            return shown.last == whole.last && all.utf8.starts(with: begin.utf8)
        // Byte by byte: texts of other bytes may be equal as characters.
        default: return all.utf8.elementsEqual(begin.utf8)
        }
    }
}
