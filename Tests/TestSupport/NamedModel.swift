// What a realm holds, told without keys: classes and properties by name, objects by primary key (those
// without by object key), embedded objects within their owners. Two files with the same content are
// equal, in whatever order it came to be.

@testable import CoreSwift

struct NamedModel: Equatable {
    private(set) var objects: [String: [String: String]] = [:]

    init(_ tables: TableSet) throws {
        let teller = Teller(tables: tables, model: try ReplayModel(tables))
        for (link, values) in teller.model.objects {
            let item = try teller.item(link)
            if item.kind == .embedded { continue }
            objects[try teller.name(link)] = try teller.properties(item, values)
        }
    }

    func differences(_ other: NamedModel) -> [String] {
        Set(objects.keys).union(other.objects.keys).sorted()
            .filter { objects[$0] != other.objects[$0] }.prefix(3).map { name in
                let was = objects[name] ?? [:]
                let now = other.objects[name] ?? [:]
                let differing = Set(was.keys).union(now.keys).filter { was[$0] != now[$0] }
                return "\(name): "
                    + differing.map { "\($0): \(was[$0] ?? "-") and \(now[$0] ?? "-")" }.joined()
            }
    }

    private struct Teller {
        let tables: TableSet
        let model: ReplayModel

        func item(_ link: Link) throws -> ClassSchema {
            guard let item = tables.schema.class_(link.classKey) else {
                throw ToyFailure(description: "no class \(link.classKey)")
            }
            return item
        }

        func name(_ link: Link) throws -> String {
            let item = try item(link)
            guard let key = item.primaryKeyProperty, let values = model.objects[link] else {
                return "\(item.name) \(link.objectKey)"
            }
            return "\(item.name) \(values[key.key.column])"
        }

        func properties(_ item: ClassSchema, _ values: [StoredValue]) throws -> [String: String] {
            var result: [String: String] = [:]
            for property in item.properties {
                result[property.name] = try tell(values[property.key.column])
            }
            return result
        }

        private func tell(_ value: StoredValue) throws -> String {
            switch value {
            case .value(.link(let link)):
                let item = try item(link)
                guard item.kind == .embedded else { return try "->" + name(link) }
                guard let values = model.objects[link] else { return "nothing at \(link)" }
                return try "\(properties(item, values).sorted { $0.key < $1.key })"
            case .value(let value): return "\(value)"
            case .collection(let type, let keys, let values):
                var texts = try values.map { try tell($0) }
                if type == .set { texts.sort() }
                return "\(type) \(keys) \(texts)"
            }
        }
    }
}
