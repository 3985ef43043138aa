/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call sites that free the objects of one allocating site, with the number
 * of frees of each. Only the most frequent ones are kept.
 */
#ifndef KMEMTRACE_REPORT_ADVICE_FREE_SITES_H
#define KMEMTRACE_REPORT_ADVICE_FREE_SITES_H

#include <glib.h>

#define KMT_ADVICE_FREE_SITES 8

typedef struct {
	guint64 address;
	guint64 frees;
} KmtAdviceFreeSite;

/* Zero-initialise. While there are at most KMT_ADVICE_FREE_SITES different
 * sites, the numbers are exact; otherwise, they are too small by at most a
 * ninth of all frees (Misra and Gries, 1982). */
typedef struct {
	KmtAdviceFreeSite entries[KMT_ADVICE_FREE_SITES];
} KmtAdviceFreeSites;

static inline void kmt_advice_free_sites_add(KmtAdviceFreeSites *sites,
					     guint64 address)
{
	KmtAdviceFreeSite *unused = NULL;
	guint i;

	for (i = 0; i < KMT_ADVICE_FREE_SITES; i++) {
		KmtAdviceFreeSite *entry = &sites->entries[i];

		if (entry->frees && entry->address == address) {
			entry->frees++;
			return;
		}
		if (!entry->frees)
			unused = entry;
	}
	if (unused) {
		*unused = (KmtAdviceFreeSite){address, 1};
		return;
	}
	for (i = 0; i < KMT_ADVICE_FREE_SITES; i++)
		sites->entries[i].frees--;
}

/* Return the most frequent site; its frees are 0 if there is none. */
static inline const KmtAdviceFreeSite *
kmt_advice_free_sites_first(const KmtAdviceFreeSites *sites)
{
	const KmtAdviceFreeSite *first = &sites->entries[0];
	guint i;

	for (i = 1; i < KMT_ADVICE_FREE_SITES; i++)
		if (sites->entries[i].frees > first->frees)
			first = &sites->entries[i];
	return first;
}

#endif
