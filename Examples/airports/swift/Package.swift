// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "airports",
    dependencies: [.package(name: "realm", path: "../../..")],
    targets: [
        .executableTarget(
            name: "airports",
            dependencies: [.product(name: "RealmSwift", package: "realm")],
            swiftSettings: [.swiftLanguageMode(.v6)])
    ])
