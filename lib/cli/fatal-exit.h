/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Work that a program must do even if it ends in the middle of anything, such
 * as restoring the terminal.
 */
#ifndef KMEMTRACE_CLI_FATAL_EXIT_H
#define KMEMTRACE_CLI_FATAL_EXIT_H

/*
 * Set the function that runs before a message of
 * kmt_cli_exit_on_out_of_memory() or kmt_cli_exit_on_sigbus() is printed; NULL:
 * none. Any thread may call the function, at any moment, so it must be safe in
 * a signal handler.
 */
void kmt_cli_set_fatal_exit(void (*function)(void));

/* Call the function, at most once. Safe in a signal handler. */
void kmt_cli_call_fatal_exit(void);

#endif
