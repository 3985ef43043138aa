/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the programs read a command line, speak of what is wrong, and end. */
#ifndef KMEMTRACE_CLI_CLI_H
#define KMEMTRACE_CLI_CLI_H

#include <glib.h>

/* The paragraph on operands in the help texts of check and report. */
#define KMT_CLI_OPERANDS                                                       \
	"A capture is a directory that kmemtraced wrote, a tar of one, or "    \
	"its cpu<n>.out\nfiles. Files may be pipes, - is standard input, and " \
	"all may be compressed by gzip\nor zstd. Without an operand, the "     \
	"current directory is read."

/*
 * Parses argv; short options may have their value in the same word, as in -l3,
 * which GLib does not know.  Returns what is left of argv, or NULL.
 */
GStrv kmt_cli_parse(GOptionContext *context, const GOptionEntry *entries,
		    char **argv, GError **error);

/* Prints what --help or --version ask for.  FALSE if neither was given. */
gboolean kmt_cli_answer(const char *program, GOptionContext *context,
			gboolean help, gboolean version);

/*
 * Keep a file of the program from becoming descriptor 0, 1 or 2 where the
 * caller closed that one: the output would be written into the file.  A closed
 * descriptor is occupied such that its use fails: stdout cannot be written, so
 * kmt_cli_close_stdout() reports output that is lost.  Call first in main().
 */
void kmt_cli_occupy_standard_descriptors(void);

/* Allow as many open files as the hard limit does; the usual limit is 1024. */
void kmt_cli_raise_file_limit(void);

/* "PROGRAM: MESSAGE" on stderr.  Returns EXIT_FAILURE. */
int kmt_cli_fail(const char *program, const char *message);

/* The same, and where help is to be found. */
int kmt_cli_fail_usage(const char *program, const char *message);

/* kmt_cli_fail() for an error that may quote a capture: made printable. */
int kmt_cli_fail_error(const char *program, const GError *error);

/*
 * The value of an option as a number from 0 to max.  *number stays as it is if
 * text is NULL: the option was not given.
 */
gboolean kmt_cli_parse_number(const char *text, guint64 max, const char *option,
			      guint64 *number, GError **error);

/* From now on a mapped file that loses its end, or whose disk fails, ends the
 * program with a message. */
void kmt_cli_guard_mapped_files(const char *program);

/* From now on what is large is taken from the kernel by itself, so that it
 * grows where it is, or moves without a copy, and goes back when it is freed.
 */
void kmt_cli_keep_memory_small(void);

/*
 * The last use of stdout.  Returns status; EXIT_FAILURE, with a message, if not
 * all could be written: what did not reach its reader must not look like a
 * success.  A reader that went away has seen enough and is told nothing;
 * SIGPIPE has to be ignored for that.
 */
int kmt_cli_close_stdout(const char *program, int status);

#endif
