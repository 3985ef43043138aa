/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The end of a program that runs out of memory. */
#ifndef KMEMTRACE_CLI_OUT_OF_MEMORY_H
#define KMEMTRACE_CLI_OUT_OF_MEMORY_H

#include <glib.h>

/*
 * From now on an allocation that fails, of any thread and any library, ends the
 * program with "PROGRAM: out of memory: ADVICE" and status.
 *
 * GLib calls abort() otherwise, and has no switch for it.  g_try_malloc() and
 * its like still return NULL.  Output that was not flushed before is lost, as a
 * part of it would be of no use.
 */
void kmt_cli_guard_memory(const char *program, const char *advice, int status);

/*
 * From now on a failure is returned to the caller again.  For a child process
 * that has to do as much of its work as memory allows.
 */
void kmt_cli_release_memory(void);

#endif
