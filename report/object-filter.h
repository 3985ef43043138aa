/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which objects a report is about, by what their allocation was: all conditions
 * must hold.  That lifetimes are among them is for those who see the frees.
 */
#ifndef KMEMTRACE_REPORT_OBJECT_FILTER_H
#define KMEMTRACE_REPORT_OBJECT_FILTER_H

#include "lib/symbols/symbolizer.h"
#include "report/totals.h"
#include "lib/match/keys.h"

typedef struct {
	guint64 from;
	guint64 to;
} KmtRange;

typedef struct {
	guint kinds;	  /* bits of KmtKind: kmalloc, cache, pages; 0: all */
	GArray *cpus;	  /* of KmtRange; NULL: all */
	GArray *nodes;	  /* likewise; those asked for */
	guint64 size_min; /* bytes requested */
	guint64 size_max;
	char **callsite;      /* globs, or NULL */
	char **module;	      /* the kernel itself is "vmlinux" */
	gboolean lifetime;    /* whether these are given: */
	guint64 lifetime_min; /* ns */
	guint64 lifetime_max;
	/* No condition: the figures begin later than the records, and objects
	 * that were live by then are among them. */
	gboolean starts_later;
} KmtFilter;

void kmt_filter_init(KmtFilter *filter);
void kmt_filter_clear(KmtFilter *filter);

/* What options say.  An error names the option. */
gboolean kmt_filter_set_kinds(KmtFilter *filter, const char *text,
			      GError **error);
gboolean kmt_filter_set_cpus(KmtFilter *filter, const char *text,
			     GError **error);
gboolean kmt_filter_set_nodes(KmtFilter *filter, const char *text,
			      GError **error);
/* "64-4096", "4096-", "-64", "192"; k, M, G are powers of 1024. */
gboolean kmt_filter_set_size(KmtFilter *filter, const char *text,
			     GError **error);
/* Likewise, with ns, us, ms or s after a number: "1ms-", "100us-2s". */
gboolean kmt_filter_set_lifetime(KmtFilter *filter, const char *text,
				 GError **error);

/* "kmem_*,kfree", for callsite or module. */
gboolean kmt_filter_set_globs(char ***globs, const char *option,
			      const char *text, GError **error);

/* When all is read: adds a warning (char *) for each condition that no call
 * site, or no CPU or node of the capture, meets. */
void kmt_filter_warn(const KmtFilter *filter, const KmtInputCapture *capture,
		     const KmtSymbolizer *names, const KmtMatchKeys *keys,
		     GPtrArray *warnings);

/* Is there any condition? */
gboolean kmt_filter_is_set(const KmtFilter *filter);

/* The parts of a cell that the conditions need. */
KmtMatchKeyParts kmt_filter_parts(const KmtFilter *filter);

gboolean kmt_filter_cell(const KmtFilter *filter, const KmtMatchKey *cell,
			 guint cpu, const KmtSymbolizer *names);

static inline gboolean kmt_filter_size(const KmtFilter *filter,
				       guint64 bytes_req)
{
	return bytes_req >= filter->size_min && bytes_req <= filter->size_max;
}

#endif
