/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parser of the kernel's file "info", which describes a session and the state
 * of each event.
 */
#ifndef KMEMTRACED_KERNEL_INFO_H
#define KMEMTRACED_KERNEL_INFO_H

#include <glib.h>

typedef struct {
	GHashTable *values; /* from lines "# key: value" */
	/* Only allocations, frees and deferred frees: */
	GPtrArray *events_off; /* names of the events that are off now */
	GPtrArray *missed;     /* names of the events that were off at some time
				* of the session */
} KmtdInfo;

/*
 * Parse the text of the file. The function never fails. Without a line about an
 * event, the event counts as recorded; without a line about the filter, there
 * is no filter. Free the result with kmtd_info_free().
 */
KmtdInfo *kmtd_info_parse(const char *text);

/* Free @info. NULL is ignored. */
void kmtd_info_free(KmtdInfo *info);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtdInfo, kmtd_info_free)

/*
 * Return why the kernel records no stacks although its command line has
 * kmemtrace.stacks=yes, or NULL if that is not the case. @info owns the text.
 */
const char *kmtd_info_no_stacks(const KmtdInfo *info);

/* Return the number of the session, or 0 if the kernel does not report one. */
guint64 kmtd_info_session(const KmtdInfo *info);

/*
 * Set in @meta the keys that describe which events the kernel does not record.
 * With @next NULL, the keys describe the current session. Otherwise they
 * describe the session that begins next, with the filter @next.
 */
void kmtd_info_describe(const KmtdInfo *info, const char *next, GKeyFile *meta);

#endif
