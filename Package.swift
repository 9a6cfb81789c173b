// swift-tools-version: 6.1
import PackageDescription

// Exclusivity checks are switched off in release: the engine guards its state with locks and
// thread confinement, and the checks cost up to 4x on property reads in hot loops.
//
// `make test` sets REALM_STRICT, which makes errors of warnings: a newer compiler's new ones must not
// break other builds. Those of the engine and of the object API are errors in their debug builds, so that
// the optimised ones are the same for everybody, and compiled once.
//
// SwiftPM refuses packages with unsafe flags that others depend on by version. What it fetches by
// version stands in a folder "checkouts", and is built without them; while versions are chosen, it stands
// nowhere.
let place = Context.packageDirectory.split(separator: "/")
let isVersioned = place.isEmpty || place.dropLast().last == "checkouts"
let isStrict = Context.environment["REALM_STRICT"] == "1" && !isVersioned
let strictness: [SwiftSetting] = isStrict ? [.unsafeFlags(["-warnings-as-errors"])] : []
let debugStrictness: [SwiftSetting] =
    isStrict ? [.unsafeFlags(["-warnings-as-errors"], .when(configuration: .debug))] : []
// Debug builds of `make test` are built once, and whole modules take a quarter less.
let debugModules: [SwiftSetting] =
    isStrict
    ? [
        .unsafeFlags(
            ["-whole-module-optimization", "-num-threads", "2"], .when(configuration: .debug))
    ] : []
// Of tests nobody needs the module before they are compiled.
let testModules: [SwiftSetting] =
    debugModules + [.unsafeFlags(["-no-emit-module-separately-wmo"])]
let engineSettings: [SwiftSetting] =
    [
        .swiftLanguageMode(.v5)
    ]
    + (isVersioned
        ? []
        : [
            .unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release))
        ]) + debugStrictness + debugModules
let kernelSettings: [CSetting] =
    (isVersioned ? [] : [.unsafeFlags(["-Wall", "-Wextra"])])
    + (isStrict ? [.unsafeFlags(["-Werror"], .when(configuration: .debug))] : [])

// The object API is written for language mode 6. Its misuse tests leave frames without ending them, which
// the run-time's list of accesses would not survive in debug builds.
let objectSettings: [SwiftSetting] =
    [.swiftLanguageMode(.v6)]
    + (isVersioned ? [] : [.unsafeFlags(["-enforce-exclusivity=unchecked"])])
    + debugStrictness + debugModules

let package = Package(
    name: "realm",
    products: [
        .library(name: "CoreSwift", targets: ["CoreSwift"]),
        .library(name: "RealmSwift", targets: ["RealmSwift"]),
        .library(
            name: "RealmSwiftDynamic", type: .dynamic, targets: ["RealmSwift", "SharedObjectAPI"]),
        .library(name: "realm", type: .dynamic, targets: ["DylibLink"]),
        .library(name: "RealmImport", targets: ["RealmImport"]),
        .library(name: "realm-import", type: .dynamic, targets: ["ImportLibrary"]),
        .executable(name: "realm-cli", targets: ["realm-cli"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/swhitty/FlyingFox", from: "0.27.1"),
    ],
    targets: [
        .systemLibrary(name: "CSodium"),
        .systemLibrary(name: "CPCRE2"),
        .systemLibrary(name: "CMbedTLS"),
        .target(name: "CKernels", cSettings: kernelSettings),
        .target(
            name: "CoreSwift",
            dependencies: ["CKernels", "CSodium", "CPCRE2"],
            swiftSettings: engineSettings,
            linkerSettings: [
                .linkedLibrary(":libsodium.a"), .linkedLibrary(":libpcre2-8.a"),
            ]),
        // What the object API needs of Swift's runtime and cannot say in Swift.
        .target(name: "CRuntime", cSettings: kernelSettings),
        .target(
            name: "RealmSwift", dependencies: ["CoreSwift", "CRuntime"],
            swiftSettings: objectSettings),
        // The flags that make a shared library of the object API, and are no other product's: Debian's static
        // libsodium is made for programs, and fits into a library where none of its symbols is exported.
        .target(
            name: "SharedObjectAPI", dependencies: ["RealmSwift"],
            swiftSettings: [.swiftLanguageMode(.v6)],
            linkerSettings: [
                .unsafeFlags([
                    "-use-ld=lld",
                    "-Xlinker", "--exclude-libs=libsodium.a:libpcre2-8.a",
                ])
            ]),
        // The types and prototypes of include/realm.h, which the functions of CABI implement: the
        // compiler checks one against the other.
        .target(name: "CRealm"),
        .target(
            name: "CABI",
            dependencies: ["CoreSwift", "CKernels", "CRealm"],
            swiftSettings: engineSettings),
        // Almost without code, so that the flags that make the shared library self-contained apply to
        // the dynamic product alone and not to test executables.
        .target(
            name: "DylibLink",
            dependencies: ["CABI"],
            exclude: ["static-runtime"],
            linkerSettings: [
                .unsafeFlags([
                    "-static-stdlib", "-use-ld=lld",
                    // The C++ runtime, which Swift's own needs, linked in as well: the directory
                    // has a linker script of its name that leads to the static library.
                    "-Xclang-linker", "-static-libgcc",
                    "-L\(Context.packageDirectory)/Sources/DylibLink/static-runtime",
                    "-Xlinker", "--version-script=\(Context.packageDirectory)/exports.map",
                    // Parts of the runtimes that nothing asks for stay out: RuntimeParts.c there.
                    "-Xlinker", "--wrap=__cxa_demangle",
                    "-Xlinker", "--wrap=_swift_stdlib_getScalarName",
                    "-Xlinker", "--wrap=_swift_stdlib_getAge",
                    "-Xlinker", "--wrap=_swift_stdlib_getScript",
                    "-Xlinker", "--wrap=_swift_stdlib_getScriptExtensions",
                    "-Xlinker", "--wrap=_swift_stdlib_getNameAlias",
                    "-Xlinker", "--wrap=_swift_stdlib_getNumericType",
                    "-Xlinker", "--wrap=_swift_stdlib_getNumericValue",
                    "-Xlinker", "--wrap=_swift_stdlib_getGeneralCategory",
                    "-Xlinker", "--wrap=_swift_stdlib_getBinaryProperties",
                    "-Xlinker", "--wrap=_swift_stdlib_getCaseMapping",
                    "-Xlinker", "--wrap=swift_keyPathSourceString",
                    // As above: TypeNames.cpp.
                    "-Xlinker",
                    "--wrap=_ZN5swift8Demangle9__runtime12nodeToStringB5cxx11EPNS1_4NodeE"
                        + "RKNS1_15DemangleOptionsE",
                    // Ends of string literals are shared.
                    "-Xlinker", "-O2",
                    // Functions with the same code become one, and the half megabyte of addresses
                    // to be relocated a few kilobytes. The latter needs glibc 2.36 (Debian 12).
                    "-Xlinker", "--icf=all", "-Xlinker", "-z", "-Xlinker", "pack-relative-relocs",
                    "-Xlinker", "-soname=librealm.so",
                    "-Xlinker", "-z", "-Xlinker", "nodelete",
                    "-Xlinker", "-z", "-Xlinker", "now",
                ])
            ]),
        // Files of realm-core, for `realm import`. It stands for itself: the engine knows nothing of it.
        .target(
            name: "RealmCoreFile", dependencies: ["CMbedTLS"],
            swiftSettings: engineSettings,
            linkerSettings: [.linkedLibrary(":libmbedcrypto.a")]),
        .target(
            name: "RealmImport", dependencies: ["CoreSwift", "RealmCoreFile"],
            swiftSettings: engineSettings),
        // The page of `realm studio` and its server. The page's files are in the program.
        .target(
            name: "RealmStudio",
            dependencies: ["CoreSwift", .product(name: "FlyingFox", package: "FlyingFox")],
            resources: [
                "index.html", "studio.css", "main.js", "api.js", "dom.js", "values.js", "table.js",
                "query.js", "detail.js", "edit.js", "export.js", "pictures.js", "schema.js",
            ].map { .embedInCode("page/" + $0) },
            swiftSettings: strictness),
        // Editing of lines in the tool's shell, and widths of letters: libedit.
        .systemLibrary(name: "CTerminal"),
        // Stand-ins for what Foundation would bring along, in the program alone.
        .target(
            name: "CToolRuntime", exclude: ["static-runtime"], cSettings: kernelSettings),
        // What `realm_import_core_file` of librealm.so loads: no other target depends on it.
        .target(
            name: "ImportLibrary", dependencies: ["CoreSwift", "RealmImport"],
            swiftSettings: engineSettings,
            linkerSettings: [
                .unsafeFlags([
                    "-static-stdlib", "-use-ld=lld", "-Xclang-linker", "-static-libgcc",
                    "-L\(Context.packageDirectory)/Sources/DylibLink/static-runtime",
                    "-Xlinker", "--version-script=\(Context.packageDirectory)/exports-import.map",
                    "-Xlinker", "-O2", "-Xlinker", "--icf=all",
                    "-Xlinker", "-z", "-Xlinker", "pack-relative-relocs",
                    "-Xlinker", "-soname=librealm-import.so",
                    "-Xlinker", "-z", "-Xlinker", "nodelete",
                    "-Xlinker", "-z", "-Xlinker", "now",
                ])
            ]),
        .executableTarget(
            name: "realm-cli",
            dependencies: [
                "CoreSwift", "CTerminal", "CToolRuntime", "RealmImport", "RealmStudio",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strictness,
            // The program needs nothing but the C library where it runs: wheels have it, and it starts in
            // 5 ms where loading the shared Foundation alone took 18.
            linkerSettings: [
                .unsafeFlags(
                    [
                        "-static-stdlib", "-use-ld=lld", "-Xclang-linker", "-static-libgcc",
                        "-L\(Context.packageDirectory)/Sources/DylibLink/static-runtime",
                        "-L\(Context.packageDirectory)/Sources/CToolRuntime/static-runtime",
                        "-Xlinker", "--gc-sections", "-Xlinker", "--as-needed",
                        "-Xlinker", "-O2", "-Xlinker", "--icf=all",
                        "-Xlinker", "-z", "-Xlinker", "pack-relative-relocs",
                    ]
                        + [
                            "Foundation", "CoreFoundation", "FoundationNetworking",
                            "_CFURLSessionInterface", "FoundationInternationalization",
                            "FoundationEssentials", "_FoundationCShims",
                            "_FoundationCollections", "_FoundationICU", "swiftSynchronization",
                        ].map { "-l\($0)" })
            ]),
        // What tests do many times: models, workloads, recorded crashes. It is optimised, and they are not: in what
        // they call once, the optimiser would spend most of the time that it takes for the whole package.
        .testTarget(
            name: "TestSupport",
            dependencies: ["CoreSwift", "CMbedTLS", "RealmCoreFile"],
            swiftSettings: [.swiftLanguageMode(.v5)] + strictness + debugModules),
        .testTarget(
            name: "CoreSwiftTests",
            dependencies: [
                "TestSupport", "CoreSwift", "CKernels", "CMbedTLS", "RealmCoreFile", "RealmImport",
            ],
            exclude: [
                "Values/decimal-vectors.txt", "Values/generate-decimal-vectors",
                "Values/Unicode/scalar-checksums.txt", "Values/Unicode/text-vectors.txt",
                "Query/query-corpus.txt",
            ],
            swiftSettings: [.swiftLanguageMode(.v5), .unsafeFlags(["-Onone"])] + strictness
                + testModules),
        // An example of the object API, and what it costs above the engine.
        .executableTarget(
            name: "todo", dependencies: ["RealmSwift"], path: "Examples/todo/Sources/todo",
            swiftSettings: [.swiftLanguageMode(.v6)] + strictness),
        .executableTarget(
            name: "object-api",
            dependencies: ["RealmSwift", "CoreSwift", "CRuntime"],
            path: "Benchmarks/object-api/Sources/object-api",
            swiftSettings: [.swiftLanguageMode(.v5)] + strictness),
        .executableTarget(
            name: "foundation-start", path: "Benchmarks/object-api/Sources/foundation-start",
            swiftSettings: strictness),
        .testTarget(
            name: "RealmSwiftTests", dependencies: ["RealmSwift", "CoreSwift"],
            swiftSettings: objectSettings + testModules),
        // The guide's examples, as they stand there: also with what today's compilers warn of.
        .testTarget(
            name: "SeedExamples", dependencies: ["RealmSwift"],
            swiftSettings: [.swiftLanguageMode(.v5)] + testModules),
    ]
)

// The fuzzer of query texts, which `Tests/Fuzz/run` builds with coverage and libFuzzer: no part of
// other builds. Sources stand in one target at a time, and it shares some with the tests.
if Context.environment["REALM_FUZZ"] == "1" {
    package.targets.removeAll { $0.type == .test }
    package.targets.append(
        .executableTarget(
            name: "query-fuzz", dependencies: ["CoreSwift"], path: "Tests",
            sources: [
                "Fuzz/main.swift", "TestSupport/Queries/QueryFuzzCheck.swift",
                "TestSupport/Queries/QueryFuzzInput.swift", "TestSupport/Queries/RuleModel.swift",
            ],
            swiftSettings: [.swiftLanguageMode(.v5)]))
    // That of files, which `Tests/FileFuzz/run` builds.
    let support = [
        "FileReading", "FileSurgeon", "HostileForge", "KeptFileSystem", "PassingFileSystem",
        "Query+Answers", "SampleFile", "TemporaryDirectory", "TestSchema", "TestSettings",
        "ToyClient",
    ]
    package.targets.append(
        .executableTarget(
            name: "file-fuzz", dependencies: ["CoreSwift"], path: "Tests",
            sources: ["FileFuzz/main.swift"]
                + support.map { "TestSupport/\($0).swift" },
            swiftSettings: [.swiftLanguageMode(.v5)]))
    // That of files of realm-core, which `Tests/OldFileFuzz/run` builds.
    package.targets.append(
        .executableTarget(
            name: "old-file-fuzz", dependencies: ["CMbedTLS", "RealmCoreFile"], path: "Tests",
            sources: [
                "OldFileFuzz/main.swift", "TestSupport/OldFiles/CoreFileDamage.swift",
                "TestSupport/OldFiles/CoreFileSealing.swift",
                "TestSupport/OldFiles/Gunzip.swift",
            ],
            swiftSettings: [.swiftLanguageMode(.v5)]))
}

// The object API beside GRDB, which only this comparison needs: `Benchmarks/object-databases/run`. The
// engine's own part of it calls build/lib/librealm.so.
if Context.environment["REALM_PEERS"] == "1" {
    let folder = Context.packageDirectory
    package.dependencies.append(
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"))
    package.targets += [
        .target(
            name: "CEngine", path: "Benchmarks/object-databases/Sources/CEngine",
            cSettings: [.unsafeFlags(["-I", "\(folder)/include"])],
            linkerSettings: [
                .unsafeFlags([
                    "-L\(folder)/build/lib", "-Xlinker", "-rpath", "-Xlinker",
                    "\(folder)/build/lib",
                ]),
                .linkedLibrary("realm"),
            ]),
        .executableTarget(
            name: "object-databases",
            dependencies: [
                "CEngine", "RealmSwift", .product(name: "GRDB", package: "GRDB.swift"),
            ],
            path: "Benchmarks/object-databases/Sources/object-databases",
            swiftSettings: [.swiftLanguageMode(.v5)]),
    ]
}

// With REALM_TEST_FILES, a list of files below Tests, these suites and what they need: `.ci/steps`
// compiles nothing else with a sanitizer.
if let names = Context.environment["REALM_TEST_FILES"] {
    let files = names.split(separator: " ").map(String.init)
    for target in package.targets where target.type == .test {
        target.sources = files.filter { $0.hasPrefix(target.name + "/") }
            .map { String($0.dropFirst(target.name.count + 1)) }
    }
    package.targets.removeAll { $0.sources == [] }
    if !package.targets.contains(where: { ["RealmSwiftTests", "SeedExamples"].contains($0.name) }) {
        package.targets.removeAll { ["RealmSwift", "CRuntime"].contains($0.name) }
    }
    package.targets.removeAll {
        [
            "DylibLink", "SharedObjectAPI", "ImportLibrary", "realm-cli", "RealmStudio", "CABI",
            "CRealm", "CTerminal", "CToolRuntime", "todo", "object-api", "foundation-start",
        ].contains(
            $0.name)
    }
    package.products = []
    package.dependencies = []
} else if Context.environment["REALM_FUZZ"] != "1" {
    // They run with the thread sanitizer: `.ci/steps thread-sanitizer`.
    package.targets.removeAll { ["RealmSwiftTests", "SeedExamples"].contains($0.name) }
}

// Who depends on the package by version gets the libraries in Swift, and no other package with them.
if isVersioned {
    let parts = [
        "CSodium", "CPCRE2", "CMbedTLS", "CKernels", "CoreSwift", "CRuntime",
        "RealmSwift", "RealmCoreFile", "RealmImport",
    ]
    package.targets.removeAll { !parts.contains($0.name) }
    package.products.removeAll {
        ["realm", "realm-cli", "realm-import", "RealmSwiftDynamic"].contains($0.name)
    }
    package.dependencies = []
}
