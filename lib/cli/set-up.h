/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KMEMTRACE_CLI_SET_UP_H
#define KMEMTRACE_CLI_SET_UP_H

/*
 * Set up the process of a program that reads captures. If memory runs out, or
 * if a mapped file cannot be read because it was truncated meanwhile, the
 * program prints a message and ends with EXIT_FAILURE; @out_of_memory is the
 * advice of kmt_cli_exit_on_out_of_memory(). A write to a closed pipe fails
 * with EPIPE; see kmt_cli_close_stdout(). Call this function first in main().
 */
void kmt_cli_set_up_reader(const char *program, const char *out_of_memory);

#endif
