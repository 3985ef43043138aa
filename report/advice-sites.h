/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts of a replay by call site and by size, which the topics of the advice
 * share. A site is a call site with a kind and a cache. Only objects that the
 * filter of the report selects are counted.
 */
#ifndef KMEMTRACE_REPORT_ADVICE_SITES_H
#define KMEMTRACE_REPORT_ADVICE_SITES_H

#include "report/index.h"
#include "report/replay.h"

/* Not a site or size. */
#define KMT_ADVICE_NONE G_MAXUINT32

/* The allocations of a site with equal requested and allocated bytes. */
typedef struct {
	guint32 site;
	guint32 next; /* next size of the site, or KMT_ADVICE_NONE */
	guint64 bytes_req;
	guint64 bytes_alloc;
	guint64 allocs; /* up to the end of the time, including those before */
	KmtReplayGauge live; /* objects; the peak is that of the kind */
} KmtAdviceSize;

typedef struct {
	KmtSymSite site;
	KmtKind kind;
	guint16 cache;
	guint64 allocs;	       /* sum of its sizes */
	guint64 allocs_inside; /* allocations in the time of the report */
	guint64 frees_inside;
	guint64 live;	      /* live objects */
	guint64 max_live;     /* largest number of live objects at any moment */
	guint64 common_flags; /* gfp flags that all allocations have */
	guint64 any_flags;    /* gfp flags that any allocation has */
	guint32 first_size;   /* the others follow by KmtAdviceSize.next */
} KmtAdviceSite;

typedef struct {
	GArray *sites;	  /* KmtAdviceSite */
	GArray *sizes;	  /* KmtAdviceSize */
	GArray *of_class; /* guint32: size of each class; KMT_ADVICE_NONE: not
			   * selected; G_MAXUINT32 - 1: not looked up yet */
	KmtIndex site_index, size_index;
	guint64 seed;
} KmtAdviceSites;

KmtAdviceSites *kmt_advice_sites_new(void);
void kmt_advice_sites_free(KmtAdviceSites *sites);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtAdviceSites, kmt_advice_sites_free)

/* Return the consumer that counts; it must be the first of the replay. */
KmtReplayConsumer kmt_advice_sites_consumer(KmtAdviceSites *sites);

static inline KmtAdviceSite *kmt_advice_site(const KmtAdviceSites *sites,
					     guint32 number)
{
	return &g_array_index(sites->sites, KmtAdviceSite, number);
}

static inline KmtAdviceSize *kmt_advice_size(const KmtAdviceSites *sites,
					     guint32 number)
{
	return &g_array_index(sites->sizes, KmtAdviceSize, number);
}

/* Return the number of the site of an event, or KMT_ADVICE_NONE if the filter
 * excludes the object. Valid in a later consumer of the same replay. */
static inline guint32 kmt_advice_site_of(const KmtAdviceSites *sites,
					 guint32 class_id)
{
	guint32 size = g_array_index(sites->of_class, guint32, class_id);

	return size == KMT_ADVICE_NONE ? KMT_ADVICE_NONE
				       : kmt_advice_size(sites, size)->site;
}

/* Return the first size of a site, or the next one after a size; NULL if there
 * is none. */
static inline const KmtAdviceSize *
kmt_advice_first_size(const KmtAdviceSites *sites, const KmtAdviceSite *site)
{
	return kmt_advice_size(sites, site->first_size);
}

static inline const KmtAdviceSize *
kmt_advice_next_size(const KmtAdviceSites *sites, const KmtAdviceSize *size)
{
	return size->next == KMT_ADVICE_NONE
		       ? NULL
		       : kmt_advice_size(sites, size->next);
}

/*
 * Return the size that dominates a site, or NULL if none does: at least 95 % of
 * the allocations, and of the objects at the peak, have this size.
 */
const KmtAdviceSize *kmt_advice_dominating_size(const KmtAdviceSites *sites,
						const KmtAdviceSite *site);

/* Data that a topic has of some of the sites. */
typedef struct {
	GArray *numbers; /* guint32 by site: index of its entry plus 1, or 0 */
	GArray *sites;	 /* guint32 by entry: its site */
	GArray *entries;
} KmtAdviceSiteData;

/* Create the data without entries. An entry has entry_size bytes. */
KmtAdviceSiteData *kmt_advice_site_data_new(guint entry_size);
void kmt_advice_site_data_free(KmtAdviceSiteData *data);

/* Return the entry of a site, which is valid until the next call. A new entry
 * is zero. */
gpointer kmt_advice_site_data_add(KmtAdviceSiteData *data, guint32 site);

#endif
