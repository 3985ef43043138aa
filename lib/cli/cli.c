// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lib/cli/cli.h"
#include "lib/cli/color.h"
#include "lib/cli/pager.h"
#include "lib/cli/progress.h"
#include "lib/cli/fatal-exit.h"
#include "lib/base/printable.h"

void kmt_cli_raise_file_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		/* If this call fails, the later open() that exceeds the limit
		 * reports the error. */
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static gboolean takes_value(const GOptionEntry *entry)
{
	return entry->arg != G_OPTION_ARG_NONE;
}

/*
 * Return the length of @word up to and including the first short option that
 * takes a value. Return 0 if there is none, or if an unknown option precedes.
 */
static size_t length_before_value(const GOptionEntry *entries, const char *word)
{
	const GOptionEntry *entry;
	size_t i;

	for (i = 1; word[i]; i++) {
		for (entry = entries; entry->long_name; entry++)
			if (entry->short_name == word[i])
				break;
		if (!entry->long_name)
			return 0;
		if (takes_value(entry))
			return i + 1;
	}
	return 0;
}

/* Return the entry of the long option @word, which has no value; or NULL. */
static const GOptionEntry *find_long(const GOptionEntry *entries,
				     const char *word)
{
	for (; entries->long_name; entries++)
		if (g_str_equal(entries->long_name, word + 2))
			return entries;
	return NULL;
}

/* Return whether @word, which may be NULL, is a number of decimal digits. */
static gboolean is_number(const char *word)
{
	return word && *word && !word[strspn(word, "0123456789")];
}

/*
 * Copy @argv, with each value of a short option in a word of its own. A long
 * option with an optional value gets the next word only if that word is a
 * number, and else an empty value, because GLib would take any next word.
 */
static GStrv split_values(const GOptionEntry *entries, char **argv)
{
	g_autoptr(GPtrArray) words = g_ptr_array_new();
	size_t n;

	for (; *argv; argv++) {
		const GOptionEntry *entry = NULL;

		if (g_str_equal(*argv, "--"))
			break;
		n = 0;
		if (g_str_has_prefix(*argv, "--"))
			entry = find_long(entries, *argv);
		else if (**argv == '-')
			n = length_before_value(entries, *argv);
		if (entry && entry->flags & G_OPTION_FLAG_OPTIONAL_ARG) {
			char *word = *argv;

			if (is_number(argv[1]))
				argv++;
			g_ptr_array_add(words,
					g_strconcat(word, "=",
						    *argv == word ? "" : *argv,
						    NULL));
			continue;
		}
		if (n && (*argv)[n]) {
			g_ptr_array_add(words, g_strndup(*argv, n));
			g_ptr_array_add(words, g_strdup(*argv + n));
			continue;
		}
		g_ptr_array_add(words, g_strdup(*argv));
		if ((n || (entry && takes_value(entry))) && argv[1])
			g_ptr_array_add(words, g_strdup(*++argv));
	}
	for (; *argv; argv++)
		g_ptr_array_add(words, g_strdup(*argv));
	g_ptr_array_add(words, NULL);
	return (GStrv)g_ptr_array_free(g_steal_pointer(&words), FALSE);
}

GStrv kmt_cli_parse(GOptionContext *context, const GOptionEntry *entries,
		    char **argv, GError **error)
{
	g_auto(GStrv) words = split_values(entries, argv);

	g_option_context_add_main_entries(context, entries, NULL);
	if (!g_option_context_parse_strv(context, &words, error))
		return NULL;
	return g_steal_pointer(&words);
}

gboolean kmt_cli_must_exit(const char *program, GOptionContext *context,
			   const GError *error, gboolean help, gboolean version,
			   int *status)
{
	if (!context) {
		*status = kmt_cli_fail_usage(program, error->message);
		return TRUE;
	}
	if (!help && !version)
		return FALSE;
	if (help) {
		g_autofree char *text =
			g_option_context_get_help(context, TRUE, NULL);

		fputs(text, stdout);
	} else {
		printf("%s " PACKAGE_VERSION "\n", program);
	}
	*status = kmt_cli_close_stdout(program, EXIT_SUCCESS);
	return TRUE;
}

int kmt_cli_fail(const char *program, const char *message)
{
	kmt_progress_end();
	/* The message must stay on the terminal, not in the pager. */
	kmt_pager_end();
	fprintf(stderr, "%s%s:%s %s\n",
		kmt_color_begin(stderr, KMT_COLOR_ERROR), program,
		kmt_color_end(stderr), message);
	return EXIT_FAILURE;
}

int kmt_cli_fail_usage(const char *program, const char *message)
{
	kmt_cli_fail(program, message);
	fprintf(stderr, "Try '%s --help' for more information.\n", program);
	return EXIT_FAILURE;
}

int kmt_cli_fail_error(const char *program, const GError *error)
{
	g_autofree char *message = kmt_printable(error->message);

	return kmt_cli_fail(program, message);
}

gboolean kmt_cli_parse_number(const char *text, guint64 max, const char *option,
			      guint64 *number, GError **error)
{
	if (!text || g_ascii_string_to_unsigned(text, 10, 0, max, number, NULL))
		return TRUE;
	g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
		    "%s '%s': not a number from 0 to %" G_GUINT64_FORMAT,
		    option, text, max);
	return FALSE;
}

/* Allocated before the signal, because a signal handler must not allocate. */
static char *sigbus_text;

static void on_sigbus(int number)
{
	kmt_pager_abandon();
	kmt_cli_call_fatal_exit();
	/* If write() fails too, only the exit status reports the error. */
	if (write(STDERR_FILENO, sigbus_text, strlen(sigbus_text)) < 0)
		_exit(EXIT_FAILURE);
	_exit(EXIT_FAILURE);
}

void kmt_cli_exit_on_sigbus(const char *program)
{
	sigbus_text = g_strdup_printf("%s: a file of the capture became "
				      "shorter while it was read, or cannot be "
				      "read: copy it, and read the copy\n",
				      program);
	signal(SIGBUS, on_sigbus);
}

void kmt_cli_map_large_blocks(void)
{
#ifdef __GLIBC__
	/* By default glibc raises this threshold when large blocks are freed.
	 * Growing arrays would then stay in the heap: realloc() would copy them
	 * and leave gaps in the heap. */
	mallopt(M_MMAP_THRESHOLD, 16 * 1024);
#endif
}

void kmt_cli_occupy_standard_descriptors(void)
{
	/* open() returns the lowest free descriptor. */
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null",
			 (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) |
				 O_CLOEXEC) < 0)
			return;
}

int kmt_cli_close_stdout(const char *program, int status)
{
	gboolean failed;
	int error;

	kmt_pager_end();
	failed = ferror(stdout) != 0;
	/* Error of the failed write to stdout, unless a later call has changed
	 * errno. The data of that write is lost, and fflush() may have nothing
	 * left to write, so it may succeed. */
	error = errno;
	if (fflush(stdout) != 0 || fclose(stdout) != 0) {
		failed = TRUE;
		error = errno;
	}
	if (!failed)
		return status;
	if (error != EPIPE)
		fprintf(stderr, "%s: cannot write the output: %s\n", program,
			g_strerror(error));
	return EXIT_FAILURE;
}
