// What the tool asks of a terminal: lines that can be edited (libedit), and the widths of letters.
#include <stdio.h>
#include <wchar.h>
#include <editline/readline.h>

// <wchar.h> has it for programs of X/Open alone.
extern int wcwidth(wchar_t letter);
