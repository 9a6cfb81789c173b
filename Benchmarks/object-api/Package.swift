// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "object-api",
    dependencies: [.package(name: "realm", path: "../..")],
    targets: [
        .executableTarget(
            name: "object-api",
            dependencies: [
                .product(name: "RealmSwift", package: "realm"),
                .product(name: "CoreSwift", package: "realm"),
            ],
            swiftSettings: [.swiftLanguageMode(.v5)])
    ])
