/* The target exists for its linker settings only; see Package.swift. */
