/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Selects rows by their names; see KmtTopQuery.filter. */
#ifndef KMEMTRACE_TOP_NAME_FILTER_H
#define KMEMTRACE_TOP_NAME_FILTER_H

#include <glib.h>

typedef struct KmtTopNameFilter KmtTopNameFilter;

/* text may be NULL or "": the filter matches every name. */
KmtTopNameFilter *kmt_top_name_filter_new(const char *text);
void kmt_top_name_filter_free(KmtTopNameFilter *filter);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtTopNameFilter, kmt_top_name_filter_free)

gboolean kmt_top_name_filter_matches(const KmtTopNameFilter *filter,
				     const char *name);

#endif
