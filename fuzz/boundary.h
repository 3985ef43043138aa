/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers at which sums, products and conversions in C change behaviour. */
#ifndef KMEMTRACE_FUZZ_BOUNDARY_H
#define KMEMTRACE_FUZZ_BOUNDARY_H

#include <glib.h>

extern const guint64 kmt_boundaries[];
extern const guint kmt_n_boundaries;

/*
 * Return the text of a boundary: a number, or a text that a parser may mistake
 * for a number. Any index is valid. The caller frees the text.
 */
char *kmt_boundary_text(guint index);

#endif
