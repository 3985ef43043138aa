/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The filter that the options -F, -p and -c demand, as text. */
#ifndef KMEMTRACED_FILTER_TEXT_H
#define KMEMTRACED_FILTER_TEXT_H

#include "kmemtraced/event-source.h"

/*
 * Set *text to a filter in the syntax of the kernel's kmemtrace, a new string,
 * or to NULL if the options demand none. Return FALSE and set an error if a
 * process does not exist; the kernel accepts any number.
 */
gboolean kmtd_filter_text(const KmtdSourceOptions *options, char **text,
			  GError **error);

#endif
