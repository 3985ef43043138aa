/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel's file info tells of a session: what it does not record. */
#ifndef KMEMTRACED_KERNEL_INFO_H
#define KMEMTRACED_KERNEL_INFO_H

#include <glib.h>

typedef struct {
	GHashTable *values;    /* of the lines "# key: value" */
	GPtrArray *events_off; /* names of those that are off now */
	GPtrArray *missed;     /* and of those off at some time of it */
} KmtdInfo;

/* Never fails: what is not there is as if nothing were left out. */
KmtdInfo *kmtd_info_parse(const char *text);
void kmtd_info_free(KmtdInfo *info);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtdInfo, kmtd_info_free)

/* Number of the session; 0: the kernel does not tell. */
guint64 kmtd_info_session(const KmtdInfo *info);

/*
 * Says in meta what is not recorded, of the session as it was; or, where next
 * is not NULL, of one that begins with the filter next.
 */
void kmtd_info_describe(const KmtdInfo *info, const char *next, GKeyFile *meta);

#endif
