/* No code: see Package.swift. */
typedef int realm_dylib_link_is_not_empty;
