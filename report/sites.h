/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call sites of a capture and their figures: an open-addressing hash table
 * of numbers into one dense array.  One thread owns a table.
 */
#ifndef KMEMTRACE_REPORT_SITES_H
#define KMEMTRACE_REPORT_SITES_H

#include "report/totals.h"

typedef struct {
	guint64 address;  /* return address in the caller */
	KmtKind kind;	  /* never KMT_KIND_SLAB */
	KmtTotals totals; /* frees: of this site's own allocations */
} KmtSite;

typedef struct {
	KmtSite *sites; /* n_sites of them, in order of appearance */
	guint32 n_sites;
	/* private: */
	guint32 n_allocated;
	guint32 mask;	/* slots - 1; slots is a power of 2 */
	guint64 seed;	/* of the hash */
	guint32 *slots; /* number of a site + 1; 0 is an empty slot */
} KmtSites;

KmtSites *kmt_sites_new(void);
void kmt_sites_free(KmtSites *sites);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtSites, kmt_sites_free)

/*
 * The number of the site of that address and kind, added if it is new.  The
 * number stays; a pointer into sites->sites lives until the next call.
 */
guint32 kmt_sites_get(KmtSites *sites, guint64 address, KmtKind kind);

#endif
