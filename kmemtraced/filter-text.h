/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The filter that the options -F, -p, -c and --cgroup demand, as text. */
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

/*
 * Return whether one of the globs, a GPtrArray of char *, matches the path of a
 * cgroup or of a cgroup above.
 */
gboolean kmtd_filter_has_cgroup(const GPtrArray *globs, const char *path);

#endif
