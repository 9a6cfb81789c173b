// Object keys as tests write them: numbers.

@testable import CoreSwift

extension ObjectKey: ExpressibleByIntegerLiteral {
    public init(integerLiteral number: Int64) { self.init(rawValue: number) }
    init(_ number: some BinaryInteger) { self.init(rawValue: Int64(number)) }
}
