// Lines from somebody at a terminal, with editing, history and completion: libedit.
//
// The library calls back without saying for whom; there is one editor, on the only thread of the tool.

import CTerminal
import CoreSwift

final class LineEditor {
    private static let historyLines: Int32 = 1000

    /// What the word before the cursor may become, of the line up to that word.
    nonisolated(unsafe) private static var complete: (_ line: String, _ word: String) -> [String] =
        {
            _, _ in []
        }
    nonisolated(unsafe) private static var words: [String] = []
    /// Ctrl-C while a line is typed. A handler of signals writes it.
    nonisolated(unsafe) private static var isInterrupted = false

    /// Where lines are kept; nil: nowhere.
    private let historyPath: String?
    private var last = ""

    /// `keepsHistory`: lines of earlier times are there, and these will be.
    init(
        keepsHistory: Bool, _ complete: @escaping (_ line: String, _ word: String) -> [String]
    ) {
        TextWidth.prepare()
        Self.complete = complete
        using_history()
        stifle_history(Self.historyLines)
        historyPath = keepsHistory ? Self.chosenPath() : nil
        if let historyPath { _ = read_history(historyPath) }
        terminal_complete_with { word, start, _ in
            terminal_completion_is_over()
            guard let word else { return nil }
            let line = terminal_line().map { String(cString: $0) } ?? ""
            let before = String(decoding: Array(line.utf8).prefix(Int(start)), as: UTF8.self)
            LineEditor.words = LineEditor.complete(before, String(cString: word))
            // What continues behind the word, such as SORT( and paths, has no blank.
            let isOpen = LineEditor.words.contains { $0.hasSuffix("(") || $0.hasSuffix(".") }
            terminal_append_blank(isOpen ? 0 : 1)
            return rl_completion_matches(word) { _, place in
                let index = Int(place)
                return LineEditor.words.indices.contains(index)
                    ? strdup(LineEditor.words[index]) : nil
            }
        }
    }

    /// REALM_HISTORY, or ~/.realm_history; where the variable is empty, nowhere.
    private static func chosenPath() -> String? {
        if let chosen = getenv("REALM_HISTORY") {
            let path = String(cString: chosen)
            return path.isEmpty ? nil : path
        }
        return getenv("HOME").map { String(cString: $0) + "/.realm_history" }
    }

    /// The next line, without its end; nil when there will be none. Ctrl-C takes back what was typed of it.
    func next(_ prompt: String) -> String? {
        var text = typed(prompt)
        while text == nil, Self.isInterrupted {
            print()
            fflush(nil)
            text = typed(prompt)
        }
        guard let text else { return nil }
        defer { free(text) }
        let line = String(cString: text)
        if !line.allSatisfy({ $0 == " " }), line != last {
            add_history(text)
            last = line
        }
        return line
    }

    /// Of libedit's memory; nil also where Ctrl-C ended it. What runs behind a line is ended by it as any program is.
    ///
    /// A signal that comes just before libedit waits for a key interrupts nothing, and after one that comes while it
    /// waits it tries once more. So the handler has it interrupted until it gives up.
    private func typed(_ prompt: String) -> UnsafeMutablePointer<CChar>? {
        Self.isInterrupted = false
        terminal_prepare_interrupts()
        let before = signal(SIGINT) { _ in
            LineEditor.isInterrupted = true
            terminal_interrupt_every(10_000)
        }
        defer {
            signal(SIGINT, before)
            terminal_interrupt_every(0)
        }
        return readline(prompt)
    }

    /// Keeps the lines for the next time. What was typed may be secret: nobody else can read the file.
    func saveHistory() {
        guard let historyPath else { return }
        let descriptor = open(historyPath, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        // Lines that can't be kept are no reason to fail.
        guard descriptor >= 0 else { return }
        close(descriptor)
        _ = write_history(historyPath)
    }
}
