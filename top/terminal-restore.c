// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <signal.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include <glib.h>

#include "lib/cli/fatal-exit.h"
#include "top/terminal-restore.h"

/* Last, because it defines macros with names such as newline and tab. */
#include <curses.h>
#include <term.h>

static const int fatal_signals[] = {SIGSEGV, SIGABRT, SIGFPE, SIGILL, SIGBUS};

/* Constant while armed. */
static char restore_text[256];
static gsize restore_bytes;
static struct termios saved_modes;
static gboolean has_modes;
static int terminal_fd;
static struct sigaction old_actions[G_N_ELEMENTS(fatal_signals)];
static gboolean replaced[G_N_ELEMENTS(fatal_signals)];

/* Return a capability of the terminal type that is set, or NULL. */
static const char *find_capability(const char *name)
{
	/* Some versions of ncurses declare the argument without const. */
	char copy[16];
	const char *text;

	g_strlcpy(copy, name, sizeof(copy));
	text = tigetstr(copy);
	return text == (const char *)-1 ? NULL : text;
}

/* Append a capability without its padding, which is written as $<5>. */
static void append_capability(const char *name)
{
	const char *text = find_capability(name);

	while (text && *text && restore_bytes < sizeof(restore_text)) {
		const char *end =
			g_str_has_prefix(text, "$<") ? strchr(text, '>') : NULL;

		if (end)
			text = end + 1;
		else
			restore_text[restore_bytes++] = *text++;
	}
}

const char *kmt_top_terminal_restore_prepare(int fd)
{
	int status;
	gboolean usable;

	if (setupterm(NULL, fd, &status) == ERR)
		return "is unknown";
	usable = find_capability("cup") && find_capability("clear");
	restore_bytes = 0;
	append_capability("sgr0");  /* attributes off */
	append_capability("cnorm"); /* cursor visible */
	append_capability("rmkx");  /* keypad off */
	append_capability("rmcup"); /* the screen before the program */
	del_curterm(cur_term);
	return usable ? NULL : "cannot move the cursor";
}

/* Runs in any context. */
static void restore(void)
{
	gssize written = write(terminal_fd, restore_text, restore_bytes);

	/* If write() fails, the modes are still worth restoring. */
	(void)written;
	if (has_modes)
		tcsetattr(terminal_fd, TCSANOW, &saved_modes);
}

static void on_fatal_signal(int number)
{
	kmt_cli_call_fatal_exit();
	/* The action is the default again; see SA_RESETHAND. */
	raise(number);
}

void kmt_top_terminal_restore_arm(int fd)
{
	struct sigaction action = {.sa_handler = on_fatal_signal,
				   .sa_flags = (int)SA_RESETHAND};

	terminal_fd = fd;
	has_modes = tcgetattr(fd, &saved_modes) == 0;
	kmt_cli_set_fatal_exit(restore);
	for (gsize i = 0; i < G_N_ELEMENTS(fatal_signals); i++) {
		/* Another handler, such as that of a sanitizer, remains. */
		sigaction(fatal_signals[i], NULL, &old_actions[i]);
		replaced[i] = old_actions[i].sa_handler == SIG_DFL;
		if (replaced[i])
			sigaction(fatal_signals[i], &action, NULL);
	}
}

void kmt_top_terminal_restore_disarm(void)
{
	kmt_cli_set_fatal_exit(NULL);
	for (gsize i = 0; i < G_N_ELEMENTS(fatal_signals); i++)
		if (replaced[i])
			sigaction(fatal_signals[i], &old_actions[i], NULL);
}
