// What the tool asks of a terminal: lines that can be edited (libedit), and the widths of letters; and of the C
// library's allocator, which Swift's module of that library leaves out.
//
// libedit is told of its callbacks by variables, which Swift can't prove to be used by one thread alone; the
// tool has one, and sets them here.
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <wchar.h>
#include <editline/readline.h>

// <wchar.h> has it for programs of X/Open alone.
extern int wcwidth(wchar_t letter);

typedef char **(*terminal_completion)(const char *word, int start, int end);

/// Asks `completion` for the words that the one before the cursor may become, and nobody else: names of
/// files are none.
static inline void terminal_complete_with(terminal_completion completion) {
    rl_attempted_completion_function = completion;
}

/// To be called by a completion: what it gave is all there is.
static inline void terminal_completion_is_over(void) { rl_attempted_completion_over = 1; }

/// No blank behind a word that was completed, or one.
static inline void terminal_append_blank(int appends) {
    rl_completion_append_character = appends ? ' ' : 0;
}

/// The line as it is now.
static inline const char *terminal_line(void) { return rl_line_buffer; }

static inline void terminal_nothing(int number) { (void)number; }

/// SIGALRM does nothing but to interrupt what waits; calls that it interrupts do not begin again.
static inline void terminal_prepare_interrupts(void) {
    struct sigaction action = {.sa_handler = terminal_nothing};
    sigaction(SIGALRM, &action, NULL);
}

/// Has SIGALRM come again and again; 0: no more. For handlers of signals, too.
static inline void terminal_interrupt_every(int microseconds) {
    struct timeval interval = {.tv_usec = microseconds};
    struct itimerval timer = {.it_interval = interval, .it_value = interval};
    setitimer(ITIMER_REAL, &timer, NULL);
}
