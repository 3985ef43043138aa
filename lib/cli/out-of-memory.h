/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Controlled exit of a program that runs out of memory. */
#ifndef KMEMTRACE_CLI_OUT_OF_MEMORY_H
#define KMEMTRACE_CLI_OUT_OF_MEMORY_H

#include <glib.h>

/*
 * From now on, end the program if an allocation fails, in any thread and any
 * library. The program prints "PROGRAM: out of memory: ADVICE" and exits with
 * @status. Call this function before threads are created.
 *
 * Without this function GLib calls abort(), which no option changes.
 * g_try_malloc() and its variants still return NULL, except to GLib itself.
 * Buffered output is lost, because partial output would be useless.
 */
void kmt_cli_exit_on_out_of_memory(const char *program, const char *advice,
				   int status);

/*
 * Let malloc() and all related functions return failures to their callers
 * again. A child process calls this function if it must do as much of its work
 * as memory allows.
 */
void kmt_cli_return_allocation_failures(void);

#endif
