// The names of Swift's types, which librealm.so leaves out: what prints them, with the parts of C++'s library
// that it needs, is 74 kilobytes. The runtime asks for them in its own messages, when a cast fails, and where
// a type or a structure without a description is put into a text, which nothing here does; they get no name.
// The linker puts this in the place of the runtime's function (Package.swift, RuntimeParts.c).

/// A std::string as C++'s library has it, always empty. It points into itself, so that it is made where the
/// caller wants it: the copy that is declared has it returned so.
struct EmptyText {
    char *start;
    decltype(sizeof 0) count;
    char inside[16];

    EmptyText() : start(inside), count(0), inside{} {}
    EmptyText(const EmptyText &);
};

EmptyText noName(void *node, const void *options) __asm__(
    "__wrap__ZN5swift8Demangle9__runtime12nodeToStringB5cxx11EPNS1_4NodeERKNS1_15DemangleOptionsE");

EmptyText noName(void *node, const void *options) {
    (void)node;
    (void)options;
    return EmptyText();
}
