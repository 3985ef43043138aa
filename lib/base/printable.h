/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KMEMTRACE_BASE_PRINTABLE_H
#define KMEMTRACE_BASE_PRINTABLE_H

#include <glib.h>

/*
 * Return a copy of text for one line of a terminal, in which '?' replaces each
 * unprintable character, each line or paragraph separator, and each byte that
 * is not valid UTF-8. Text from a capture, including its file names, may
 * contain escape sequences that control the terminal. The caller frees the
 * copy.
 */
char *kmt_printable(const char *text);

#endif
