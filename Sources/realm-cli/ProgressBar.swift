// How much of a long command is done, on a terminal's last line: standard error, so that what is printed can
// be passed on. Where that is no terminal, nothing is shown.

final class ProgressBar {
    private static let width = 30

    private let title: String
    private var shown = -1

    /// Nil where nobody would see it.
    init?(_ title: String) {
        guard isatty(STDERR_FILENO) != 0 else { return nil }
        self.title = title
    }

    /// `share`: between 0 and 1.
    func show(_ share: Double) {
        let percent = Int(min(max(share, 0), 1) * 100)
        guard percent != shown else { return }
        shown = percent
        let full = percent * Self.width / 100
        let bar =
            String(repeating: "#", count: full) + String(repeating: ".", count: Self.width - full)
        writeToStandardError("\r\u{1B}[K[\(bar)] \(percent) %  \(title)")
    }

    /// Takes it away.
    func clear() {
        if shown >= 0 { writeToStandardError("\r\u{1B}[K") }
    }
}
