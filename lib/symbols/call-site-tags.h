/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names and source lines of call sites, from the allocation tags of the traced
 * kernel.
 */
#ifndef KMEMTRACE_SYMBOLS_CALL_SITE_TAGS_H
#define KMEMTRACE_SYMBOLS_CALL_SITE_TAGS_H

#include <glib.h>

/* The source line of the call site of allocations at an address. */
typedef struct KmtSymTag {
	guint64 address;
	gint64 went; /* time in ns when the code of the call site was freed;
		      * G_MAXINT64: never */
	const char *function;
	const char *module; /* NULL: the kernel itself */
	const char *file; /* relative to the root of the source, or absolute */
	const char *directory; /* of file; only in the result of a lookup */
	guint line;	       /* never 0 */
	const struct KmtSymTag *first; /* private: the first tag of this address
					* that differs only in went */
} KmtSymTag;

typedef struct KmtSymTags KmtSymTags;

/*
 * Copy the n @tags, which are sorted by address and went. The copies of the
 * strings are safe to print. The caller frees the result.
 */
KmtSymTags *kmt_sym_tags_new(const KmtSymTag *tags, guint n);
void kmt_sym_tags_free(KmtSymTags *tags);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtSymTags, kmt_sym_tags_free)

/*
 * Return the tag of the call site of an allocation at @time; NULL if it has
 * none. This is the tag at @address whose code was the first to be freed at
 * @time or later. All tags of one address that differ only in went have the
 * same result. @tags may be NULL. Any thread may call this function. @tags owns
 * the result.
 */
const KmtSymTag *kmt_sym_tags_lookup(const KmtSymTags *tags, guint64 address,
				     gint64 time);

/*
 * Return all tags, sorted by address and went, and set *n to their number.
 * @tags may be NULL. @tags owns the array.
 */
const KmtSymTag *kmt_sym_tags_get(const KmtSymTags *tags, guint *n);

#endif
