/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Restores the terminal if the program ends in the middle of anything: by a
 * fatal signal, without memory, or because a mapped file was truncated.
 * endwin() may not be called there, so the texts that it would print are
 * prepared.
 */
#ifndef KMEMTRACE_TOP_TERMINAL_RESTORE_H
#define KMEMTRACE_TOP_TERMINAL_RESTORE_H

/*
 * Prepare the texts for the terminal fd of the type in TERM. Return NULL, or
 * why a terminal of this type cannot show a screen, such as "is unknown".
 */
const char *kmt_top_terminal_restore_prepare(int fd);

/* From now on, restore the terminal fd at a fatal end to its present state. */
void kmt_top_terminal_restore_arm(int fd);

/* The terminal has been restored: do nothing at a fatal end. */
void kmt_top_terminal_restore_disarm(void);

#endif
