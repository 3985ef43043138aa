/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The layout of the slabs of the traced kernel, for the advice. */
#ifndef KMEMTRACE_REPORT_ADVICE_LAYOUT_H
#define KMEMTRACE_REPORT_ADVICE_LAYOUT_H

#include <glib.h>

typedef struct KmtAdviceLayout KmtAdviceLayout;

/* Return the bytes that kmalloc() allocates for a request. */
guint64 kmt_advice_kmalloc_bytes(const KmtAdviceLayout *layout, guint64 bytes);

#endif
