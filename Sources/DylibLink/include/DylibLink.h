/* Nothing for others: the target exists for its linker settings; see Package.swift. */
