import CoreSwift
