// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "todo",
    dependencies: [.package(name: "realm", path: "../..")],
    targets: [
        .executableTarget(
            name: "todo",
            dependencies: [.product(name: "RealmSwift", package: "realm")],
            swiftSettings: [.swiftLanguageMode(.v6)])
    ])
