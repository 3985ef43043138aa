// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "lib/cli/signals.h"
#include "top/terminal-restore.h"
#include "top/terminal.h"
#include "top/text-width.h"

/* Time in ms after which ESC is a key of its own, not part of a sequence. */
#define ESCAPE_DELAY 50

#define WARNING_PAIR 1

struct KmtTopTerminal {
	SCREEN *screen;
	WINDOW *keys; /* a pad: reading a key of it changes no other window */
	FILE *in, *out;
	int signal_fd;
	sigset_t signals, old_mask;
};

/* Set by kmt_top_terminal_cursor() until the end of the picture. */
static gboolean has_cursor;
static guint cursor_line, cursor_column;

/* ---- check ---- */

static gboolean fail_terminal(GError **error, const char *reason)
{
	const char *type = g_getenv("TERM");

	if (type && *type)
		g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
			    "terminal type '%s' (TERM) %s: set TERM to the "
			    "type of the terminal, or use -b",
			    type, reason);
	else
		g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
			    "TERM is not set: set TERM to the type of the "
			    "terminal, or use -b");
	return FALSE;
}

gboolean kmt_top_terminal_check(GError **error)
{
	const char *reason;

	if (!isatty(STDOUT_FILENO)) {
		g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
			    "standard output is not a terminal: use -b");
		return FALSE;
	}
	reason = kmt_top_terminal_restore_prepare(STDOUT_FILENO);
	return reason ? fail_terminal(error, reason) : TRUE;
}

/* ---- signals ---- */

/* Block the signals that the screen processes. An ignored signal stays
 * ignored, as SIGHUP under nohup(1). */
static void block_signals(KmtTopTerminal *terminal)
{
	static const int numbers[] = {SIGINT,  SIGTERM,	 SIGHUP, SIGQUIT,
				      SIGTSTP, SIGWINCH, SIGCONT};

	sigemptyset(&terminal->signals);
	for (gsize i = 0; i < G_N_ELEMENTS(numbers); i++)
		if (!kmt_cli_signals_is_ignored(numbers[i]))
			sigaddset(&terminal->signals, numbers[i]);
	pthread_sigmask(SIG_BLOCK, &terminal->signals, &terminal->old_mask);
}

static void adapt_size(KmtTopTerminal *terminal)
{
	struct winsize size;

	if (ioctl(fileno(terminal->out), TIOCGWINSZ, &size) == 0 &&
	    size.ws_row > 0 && size.ws_col > 0)
		resizeterm(size.ws_row, size.ws_col);
	clearok(curscr, TRUE);
}

void kmt_top_terminal_suspend(KmtTopTerminal *terminal)
{
	sigset_t stop;
	struct sigaction action = {.sa_handler = SIG_DFL};

	endwin();
	/* SIGTSTP, unlike SIGSTOP, has no effect if no shell could continue
	 * the process. */
	sigaction(SIGTSTP, &action, NULL);
	sigemptyset(&stop);
	sigaddset(&stop, SIGTSTP);
	kill(getpid(), SIGTSTP);
	/* The process stops here. */
	pthread_sigmask(SIG_UNBLOCK, &stop, NULL);
	pthread_sigmask(SIG_BLOCK, &terminal->signals, NULL);
	refresh();
	adapt_size(terminal);
}

int kmt_top_terminal_signals(KmtTopTerminal *terminal)
{
	struct signalfd_siginfo info;
	gboolean resized = FALSE, suspend = FALSE;

	while (read(terminal->signal_fd, &info, sizeof(info)) ==
	       (gssize)sizeof(info)) {
		switch (info.ssi_signo) {
		case SIGWINCH:
		case SIGCONT:
			resized = TRUE;
			break;
		case SIGTSTP:
			suspend = TRUE;
			break;
		default:
			return (int)info.ssi_signo;
		}
	}
	if (suspend)
		kmt_top_terminal_suspend(terminal);
	else if (resized)
		adapt_size(terminal);
	return 0;
}

/* ---- open and close ---- */

/* Open the terminal again for stdio, so that ncurses does not share the
 * buffers of stdout. Keys come from stdin if it is a terminal. */
static FILE *open_stream(gboolean keys, GError **error)
{
	int fd = keys && !isatty(STDIN_FILENO)
			 ? open("/dev/tty", O_RDWR | O_CLOEXEC)
			 : fcntl(keys ? STDIN_FILENO : STDOUT_FILENO,
				 F_DUPFD_CLOEXEC, 3);
	FILE *stream = fd < 0 ? NULL : fdopen(fd, keys ? "r" : "w");

	if (!stream) {
		g_set_error(
			error, G_FILE_ERROR, g_file_error_from_errno(errno),
			"cannot open the terminal to %s: %s; use -b without "
			"a terminal",
			keys ? "read keys" : "print", g_strerror(errno));
		if (fd >= 0)
			close(fd);
	}
	return stream;
}

static void set_modes(KmtTopTerminal *terminal)
{
	/* Without signals of the terminal's keys, which would also reach
	 * kmemtraced. */
	raw();
	noecho();
	nonl();
	curs_set(0);
	if (has_colors() && !g_getenv("NO_COLOR") && start_color() == OK) {
		use_default_colors();
		init_pair(WARNING_PAIR, COLOR_RED, -1);
	}
	terminal->keys = newpad(1, 1);
	keypad(terminal->keys, TRUE);
	nodelay(terminal->keys, TRUE);
	set_escdelay(ESCAPE_DELAY);
}

KmtTopTerminal *kmt_top_terminal_new(GError **error)
{
	g_autoptr(KmtTopTerminal) terminal = g_new0(KmtTopTerminal, 1);

	terminal->signal_fd = -1;
	/* Only for characters: numbers keep the decimal point. */
	setlocale(LC_CTYPE, "");
	block_signals(terminal);
	terminal->in = open_stream(TRUE, error);
	terminal->out = terminal->in ? open_stream(FALSE, error) : NULL;
	if (!terminal->out)
		return NULL;
	terminal->signal_fd =
		signalfd(-1, &terminal->signals, SFD_NONBLOCK | SFD_CLOEXEC);
	if (terminal->signal_fd < 0) {
		g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(errno),
			    "cannot read signals: signalfd: %s",
			    g_strerror(errno));
		return NULL;
	}
	kmt_top_terminal_restore_arm(fileno(terminal->out));
	terminal->screen = newterm(NULL, terminal->out, terminal->in);
	if (!terminal->screen) {
		fail_terminal(error, "cannot be used");
		return NULL;
	}
	set_modes(terminal);
	return g_steal_pointer(&terminal);
}

void kmt_top_terminal_free(KmtTopTerminal *terminal)
{
	if (!terminal)
		return;
	if (terminal->screen) {
		delwin(terminal->keys);
		endwin();
		delscreen(terminal->screen);
	}
	kmt_top_terminal_restore_disarm();
	if (terminal->in)
		fclose(terminal->in);
	if (terminal->out)
		fclose(terminal->out);
	if (terminal->signal_fd >= 0)
		close(terminal->signal_fd);
	pthread_sigmask(SIG_SETMASK, &terminal->old_mask, NULL);
	g_free(terminal);
}

int kmt_top_terminal_key_fd(const KmtTopTerminal *terminal)
{
	return fileno(terminal->in);
}

int kmt_top_terminal_signal_fd(const KmtTopTerminal *terminal)
{
	return terminal->signal_fd;
}

/* ---- keys ---- */

static guint32 function_key(wint_t code)
{
	static const struct {
		wint_t code;
		guint32 key;
	} keys[] = {
		{KEY_UP, KMT_TOP_KEY_UP},
		{KEY_DOWN, KMT_TOP_KEY_DOWN},
		{KEY_LEFT, KMT_TOP_KEY_LEFT},
		{KEY_RIGHT, KMT_TOP_KEY_RIGHT},
		{KEY_PPAGE, KMT_TOP_KEY_PAGE_UP},
		{KEY_NPAGE, KMT_TOP_KEY_PAGE_DOWN},
		{KEY_HOME, KMT_TOP_KEY_HOME},
		{KEY_END, KMT_TOP_KEY_END},
		{KEY_ENTER, KMT_TOP_KEY_ENTER},
		{KEY_BACKSPACE, KMT_TOP_KEY_BACKSPACE},
		{KEY_DC, KMT_TOP_KEY_DELETE},
	};

	for (gsize i = 0; i < G_N_ELEMENTS(keys); i++)
		if (keys[i].code == code)
			return keys[i].key;
	return 0;
}

static guint32 character_key(wint_t character)
{
	switch (character) {
	case '\r':
	case '\n':
		return KMT_TOP_KEY_ENTER;
	case '\b':
	case 0x7f:
		return KMT_TOP_KEY_BACKSPACE;
	case 0x1b:
		return KMT_TOP_KEY_ESCAPE;
	default:
		return (guint32)character;
	}
}

guint32 kmt_top_terminal_key(KmtTopTerminal *terminal)
{
	wint_t code;
	int kind;
	guint32 key = 0;

	/* A key without a meaning is 0, and is skipped. */
	while (!key) {
		kind = wget_wch(terminal->keys, &code);
		if (kind == ERR)
			return KMT_TOP_KEY_NONE;
		key = kind == KEY_CODE_YES ? function_key(code)
					   : character_key(code);
	}
	return key;
}

/* ---- output ---- */

guint kmt_top_terminal_columns(void)
{
	return (guint)getmaxx(stdscr);
}

guint kmt_top_terminal_lines(void)
{
	return (guint)getmaxy(stdscr);
}

void kmt_top_terminal_begin(void)
{
	has_cursor = FALSE;
	erase();
}

void kmt_top_terminal_end(void)
{
	curs_set(has_cursor ? 1 : 0);
	if (has_cursor)
		move((int)cursor_line, (int)cursor_column);
	refresh();
}

void kmt_top_terminal_repaint(void)
{
	clearok(curscr, TRUE);
}

static attr_t attributes(KmtTopStyle style)
{
	switch (style) {
	case KMT_TOP_BOLD:
		return A_BOLD;
	case KMT_TOP_SELECTED:
		return A_REVERSE;
	case KMT_TOP_TITLE:
		return A_REVERSE | A_BOLD;
	case KMT_TOP_WARNING:
		return A_BOLD | A_REVERSE |
		       (has_colors() && !g_getenv("NO_COLOR")
				? (attr_t)COLOR_PAIR(WARNING_PAIR)
				: 0);
	default:
		return A_NORMAL;
	}
}

guint kmt_top_terminal_put(guint line, guint column, KmtTopStyle style,
			   const char *text)
{
	guint width = kmt_top_terminal_columns();
	g_autofree char *part = NULL;

	if (line >= kmt_top_terminal_lines() || column >= width)
		return column;
	part = kmt_top_text_slice(text, 0, width - column);
	attrset(attributes(style));
	mvaddstr((int)line, (int)column, part);
	attrset(A_NORMAL);
	return column + kmt_top_text_width(part);
}

void kmt_top_terminal_fill(guint line, guint column, KmtTopStyle style)
{
	guint width = kmt_top_terminal_columns();

	if (line >= kmt_top_terminal_lines() || column >= width)
		return;
	attrset(attributes(style));
	mvhline((int)line, (int)column, ' ' | attributes(style),
		(int)(width - column));
	attrset(A_NORMAL);
}

void kmt_top_terminal_cursor(guint line, guint column)
{
	if (line >= kmt_top_terminal_lines() ||
	    column >= kmt_top_terminal_columns())
		return;
	has_cursor = TRUE;
	cursor_line = line;
	cursor_column = column;
}
