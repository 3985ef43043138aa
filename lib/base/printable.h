/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KMEMTRACE_BASE_PRINTABLE_H
#define KMEMTRACE_BASE_PRINTABLE_H

#include <glib.h>

/*
 * A copy of text to be shown on a terminal: captures come from other people
 * too, and nothing of them, the names of their files included, steers it.
 * What is no printable UTF-8 becomes '?'.
 */
char *kmt_printable(const char *text);

#endif
