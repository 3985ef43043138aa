/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that the files of the preloaded library share. The functions are
 * hidden, so that the preloaded library never replaces a function of a program.
 */
#ifndef KMEMTRACE_TESTS_SHIM_H
#define KMEMTRACE_TESTS_SHIM_H

#include <stddef.h>

/* Alignment of writes with O_DIRECT, and size of the header of a ring file. */
#define BLOCK_BYTES 4096

/*
 * NEXT(function) is the definition of the function in the next library, usually
 * libc, with the type of the function.
 */
#define NEXT(function) ((__typeof__(&function))next(#function))

#pragma GCC visibility push(hidden)

/* Return the definition of a function in the next library. */
void *next(const char *name);

/*
 * Return the value of an environment variable, or otherwise if the variable is
 * not set.
 */
long number(const char *variable, long otherwise);

/* Append a line to the file of SHIM_LOG, if there is one. */
void log_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Return whether a text ends with end. */
int ends_with(const char *text, const char *end);

/* Return whether the path of fd ends with name. */
int is_named(int fd, const char *name);

/*
 * Return whether the path of fd ends with the value of an environment variable.
 */
int is_selected_file(int fd, const char *variable);

/*
 * Run a shell command and return its wait status. system() is no alternative:
 * it ignores SIGINT and SIGQUIT while the command runs, and a pending signal
 * would be lost. The shell runs without LD_PRELOAD: a shell of another
 * architecture would print an error, because it cannot load this library.
 */
int shell(const char *command);

/*
 * Return the name "cpu<n>" if fd is such a file of the fake debugfs, otherwise
 * NULL. The name points into path, which has room for n_path bytes.
 */
const char *cpu_name(int fd, char *path, size_t n_path);

#pragma GCC visibility pop

#endif
