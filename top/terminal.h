/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The terminal: ncurses, the signals, and the restoration of the terminal.
 *
 * The signals that a terminal or a user sends are blocked and read from a
 * signalfd, so that no handler of ncurses runs in the middle of an output. All
 * functions belong to the main thread.
 */
#ifndef KMEMTRACE_TOP_TERMINAL_H
#define KMEMTRACE_TOP_TERMINAL_H

#include <glib.h>

/* Attributes of a text. */
typedef enum {
	KMT_TOP_PLAIN,
	KMT_TOP_BOLD,
	KMT_TOP_SELECTED,
	KMT_TOP_TITLE,	/* titles of columns and of lists */
	KMT_TOP_WARNING /* losses and failures */
} KmtTopStyle;

/* Keys that are no character, beyond Unicode. */
enum {
	KMT_TOP_KEY_NONE = 0x200000,
	KMT_TOP_KEY_UP,
	KMT_TOP_KEY_DOWN,
	KMT_TOP_KEY_LEFT,
	KMT_TOP_KEY_RIGHT,
	KMT_TOP_KEY_PAGE_UP,
	KMT_TOP_KEY_PAGE_DOWN,
	KMT_TOP_KEY_HOME,
	KMT_TOP_KEY_END,
	KMT_TOP_KEY_ENTER,
	KMT_TOP_KEY_BACKSPACE,
	KMT_TOP_KEY_DELETE,
	KMT_TOP_KEY_ESCAPE
};
#define KMT_TOP_CTRL(letter) ((guint32)(letter)&0x1f)

typedef struct KmtTopTerminal KmtTopTerminal;

/*
 * Return whether standard output is a terminal that can move the cursor.
 * Otherwise set *error with advice.
 */
gboolean kmt_top_terminal_check(GError **error);

/*
 * Block the signals and switch the terminal to the screen. Call this function
 * before other threads exist: they inherit the signal mask. There is at most
 * one open terminal. On failure return NULL and set *error; the terminal is
 * unchanged.
 */
KmtTopTerminal *kmt_top_terminal_new(GError **error);

/* Restore the terminal and the signal mask; NULL is allowed. */
void kmt_top_terminal_free(KmtTopTerminal *terminal);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtTopTerminal, kmt_top_terminal_free)

/* Descriptors to wait for: of the keys, and of the signals. */
int kmt_top_terminal_key_fd(const KmtTopTerminal *terminal);
int kmt_top_terminal_signal_fd(const KmtTopTerminal *terminal);

/* Return the next key, a Unicode character or KMT_TOP_KEY_*, without waiting.
 * KMT_TOP_KEY_NONE: there is none. */
guint32 kmt_top_terminal_key(KmtTopTerminal *terminal);

/*
 * Process the signals that have arrived: adapt to a new size, or stop the
 * process as Ctrl-Z does. Return the number of the signal that ends the
 * program, or 0.
 */
int kmt_top_terminal_signals(KmtTopTerminal *terminal);

/* Restore the terminal, stop this process until SIGCONT, and show the screen
 * again. */
void kmt_top_terminal_suspend(KmtTopTerminal *terminal);

/* ---- output ---- */

/* Return the size of the screen in columns and lines. */
guint kmt_top_terminal_columns(void);
guint kmt_top_terminal_lines(void);

/* Begin a new picture, and show it. Repaint the screen even where it seems
 * unchanged. */
void kmt_top_terminal_begin(void);
void kmt_top_terminal_end(void);
void kmt_top_terminal_repaint(void);

/*
 * Print the part of a text that fits into the line, from a column on. Return
 * the column after the text. A line or column beyond the screen is ignored.
 */
guint kmt_top_terminal_put(guint line, guint column, KmtTopStyle style,
			   const char *text);
/* Fill the rest of a line with blanks of a style. */
void kmt_top_terminal_fill(guint line, guint column, KmtTopStyle style);
/* Show the cursor at a position at the end of the picture; otherwise the cursor
 * is invisible. */
void kmt_top_terminal_cursor(guint line, guint column);

#endif
