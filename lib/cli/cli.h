/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Command line parsing, error messages, and process setup that several programs
 * share.
 */
#ifndef KMEMTRACE_CLI_CLI_H
#define KMEMTRACE_CLI_CLI_H

#include <glib.h>

/* Help text that describes the operands of check and report. */
#define KMT_CLI_OPERANDS                                                       \
	"A capture is a directory that kmemtraced wrote, a tar of one, or "    \
	"its cpu<n>.out\nfiles. Files may be pipes, - is standard input, and " \
	"all may be compressed by gzip\nor zstd. Without an operand, the "     \
	"current directory is read."

/* Options that several programs have, as initializers of a GOptionEntry. */
#define KMT_CLI_OPTION_HELP(help)                                              \
	{                                                                      \
		"help", 'h', 0, G_OPTION_ARG_NONE, help,                       \
			"Show this help and exit", NULL                        \
	}
#define KMT_CLI_OPTION_VERSION(version)                                        \
	{                                                                      \
		"version", 'V', 0, G_OPTION_ARG_NONE, version,                 \
			"Show the version and exit", NULL                      \
	}
#define KMT_CLI_OPTION_CLOCK_TOLERANCE(ns)                                     \
	{                                                                      \
		"clock-tolerance", 0, 0, G_OPTION_ARG_STRING, ns,              \
			"Assume clocks of two CPUs that differ by up to NS "   \
			"nanoseconds (default: 1000000)",                      \
			"NS"                                                   \
	}
#define KMT_CLI_OPTION_LAYOUT(layout)                                          \
	{                                                                      \
		"layout", 0, 0, G_OPTION_ARG_STRING, layout,                   \
			"Read the records as layout A, B, C or D (default: "   \
			"detect)",                                             \
			"LAYOUT"                                               \
	}
/* The operands that KMT_CLI_OPERANDS describes. */
#define KMT_CLI_OPTION_OPERANDS(operands)                                      \
	{                                                                      \
		G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY,         \
			operands, NULL, "[DIRECTORY | TAR | FILE...]"          \
	}

/*
 * Parse @argv. Unlike GLib's parser, this function accepts a short option and
 * its value in one word, as in -l3. An optional value of a long option follows
 * '=', or is the next word if that word is a number; otherwise the option has
 * the value "". Return the program name and the words that were not parsed; the
 * caller frees the array. On error return NULL and set @error.
 */
GStrv kmt_cli_parse(GOptionContext *context, const GOptionEntry *entries,
		    char **argv, GError **error);

/*
 * Handle the outcome of kmt_cli_parse(). If @context is NULL, print the message
 * of @error; otherwise print the text for --help or --version, if one of them
 * was given. Return TRUE if the program must then exit with *status, without
 * further output.
 */
gboolean kmt_cli_must_exit(const char *program, GOptionContext *context,
			   const GError *error, gboolean help, gboolean version,
			   int *status);

/*
 * Ensure that descriptors 0, 1 and 2 are open. If the parent process started
 * the program with one of them closed, a file that the program opens would get
 * that number, and output would be written into the file. A closed descriptor
 * is replaced by one whose use fails: writing to stdout fails, so
 * kmt_cli_close_stdout() reports the lost output. If /dev/null cannot be
 * opened, the descriptor stays closed. Call this function first in main().
 */
void kmt_cli_occupy_standard_descriptors(void);

/*
 * Raise the soft limit of open files to the hard limit. The usual soft limit is
 * 1024.
 */
void kmt_cli_raise_file_limit(void);

/* Print "PROGRAM: MESSAGE" to stderr. Return EXIT_FAILURE. */
int kmt_cli_fail(const char *program, const char *message);

/*
 * Print "PROGRAM: MESSAGE" and a hint to use --help to stderr. Return
 * EXIT_FAILURE.
 */
int kmt_cli_fail_usage(const char *program, const char *message);

/*
 * Print an error to stderr like kmt_cli_fail(). The error may quote a capture,
 * so '?' replaces unprintable characters. Return EXIT_FAILURE.
 */
int kmt_cli_fail_error(const char *program, const GError *error);

/*
 * Parse the value of an option as a decimal number from 0 to @max. If @text is
 * NULL, the option was not given, and *number is unchanged. On error return
 * FALSE with G_OPTION_ERROR_BAD_VALUE.
 */
gboolean kmt_cli_parse_number(const char *text, guint64 max, const char *option,
			      guint64 *number, GError **error);

/* Install a handler of SIGBUS for the rest of the program. The signal occurs if
 * the program reads a mapped file that was truncated or whose disk fails. The
 * handler prints a message and exits with EXIT_FAILURE. */
void kmt_cli_exit_on_sigbus(const char *program);

/* Make malloc() of glibc map a block of 16 KiB or more separately if the free
 * memory of the heap is too small for it, for the rest of the program. Such a
 * block grows in place or moves without a copy, and its memory returns to the
 * kernel when the block is freed. Without glibc, do nothing. */
void kmt_cli_map_large_blocks(void);

/*
 * Close stdout, as its last use, and return @status. If some output could not
 * be written, print a message and return EXIT_FAILURE, because incomplete
 * output must not look like success. If the reader closed the pipe (EPIPE), no
 * message is printed; the program must ignore SIGPIPE for that. If the output
 * goes to a pager, wait for the pager; see kmt_pager_end().
 */
int kmt_cli_close_stdout(const char *program, int status);

#endif
