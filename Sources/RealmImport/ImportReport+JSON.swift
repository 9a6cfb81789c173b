// The report of an import as JSON text: what the functions of the languages give.

extension ImportReport {
    /// An object with `format`, `schema_version` (or null), `whole`, `notes`, `losses`, `loss_count`, and
    /// `classes`, each with `name`, `embedded` and `objects`.
    public var json: String {
        let version = schemaVersion.map { "\($0)" } ?? "null"
        let items = classes.map {
            "{\"name\":\(Self.quoted($0.name)),\"embedded\":\($0.isEmbedded),\"objects\":\($0.objects)}"
        }
        return "{\"format\":\(format),\"schema_version\":\(version),\"whole\":\(lossCount == 0),"
            + "\"notes\":\(Self.list(notes.map(Self.quoted))),"
            + "\"losses\":\(Self.list(losses.map(Self.quoted))),\"loss_count\":\(lossCount),"
            + "\"classes\":\(Self.list(items))}"
    }

    private static func list(_ items: [String]) -> String {
        "[" + items.joined(separator: ",") + "]"
    }

    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            default:
                if scalar.value < 0x20 {
                    let digits = Array("0123456789abcdef")
                    result += "\\u00"
                    result.append(digits[Int(scalar.value >> 4)])
                    result.append(digits[Int(scalar.value & 15)])
                } else {
                    result.unicodeScalars.append(scalar)
                }
            }
        }
        return result + "\""
    }
}
