// The files of the page, which are in the program: it can be copied alone.

enum Page {
    struct File: Sendable {
        var content: [UInt8]
        var type: String
    }

    static let index = PackageResources.index_html

    static let files: [String: File] = [
        "studio.css": File(content: PackageResources.studio_css, type: "text/css; charset=utf-8"),
        "main.js": script(PackageResources.main_js),
        "api.js": script(PackageResources.api_js),
        "dom.js": script(PackageResources.dom_js),
        "values.js": script(PackageResources.values_js),
        "table.js": script(PackageResources.table_js),
        "query.js": script(PackageResources.query_js),
        "detail.js": script(PackageResources.detail_js),
        "edit.js": script(PackageResources.edit_js),
        "export.js": script(PackageResources.export_js),
        "pictures.js": script(PackageResources.pictures_js),
        "schema.js": script(PackageResources.schema_js),
    ]

    private static func script(_ content: [UInt8]) -> File {
        File(content: content, type: "text/javascript; charset=utf-8")
    }
}
