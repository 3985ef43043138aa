/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names and source lines of call sites, from the allocation tags of the traced
 * kernel.
 */
#ifndef KMEMTRACE_SYMBOLS_CALL_SITE_TAGS_H
#define KMEMTRACE_SYMBOLS_CALL_SITE_TAGS_H

#include <glib.h>

/* The source line of the call site at an address. */
typedef struct {
	guint64 address;
	const char *function;
	const char *module; /* NULL: the kernel itself */
	const char *file; /* relative to the root of the source, or absolute */
	const char *directory; /* of file; only in the result of a lookup */
	guint line;	       /* never 0 */
} KmtSymTag;

typedef struct KmtSymTags KmtSymTags;

/*
 * Copy the n @tags, which are sorted by address. The copies of the strings are
 * safe to print. The caller frees the result.
 */
KmtSymTags *kmt_sym_tags_new(const KmtSymTag *tags, guint n);
void kmt_sym_tags_free(KmtSymTags *tags);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtSymTags, kmt_sym_tags_free)

/*
 * Return the tag of a call site; NULL if it has none. @tags may be NULL. Any
 * thread may call this function. @tags owns the result.
 */
const KmtSymTag *kmt_sym_tags_lookup(const KmtSymTags *tags, guint64 address);

#endif
