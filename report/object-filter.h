/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Conditions that select the objects of a report by their allocation and their
 * lifetime. An object must meet all conditions. The accounting code checks the
 * lifetime, which depends on the free or on the end of the figures.
 */
#ifndef KMEMTRACE_REPORT_OBJECT_FILTER_H
#define KMEMTRACE_REPORT_OBJECT_FILTER_H

#include "lib/symbols/symbolizer.h"
#include "report/totals.h"
#include "lib/match/keys.h"

/* A range of numbers including both ends. */
typedef struct {
	guint64 from;
	guint64 to;
} KmtRange;

/* The conditions. The functions below set all of them. */
typedef struct {
	guint kinds;	  /* bit mask of KmtKind; 0: all */
	GArray *cpus;	  /* KmtRange; NULL: all CPUs */
	GArray *nodes;	  /* KmtRange of requested nodes; NULL: all */
	guint64 size_min; /* requested bytes */
	guint64 size_max;
	char **callsite;      /* globs, or NULL */
	char **module;	      /* globs, or NULL; "vmlinux" is the kernel */
	char **cgroup;	      /* globs, or NULL; compared with the text that
			       * the report prints */
	gboolean lifetime;    /* lifetime_min and lifetime_max are set */
	guint64 lifetime_min; /* ns */
	guint64 lifetime_max;
	/* Not a condition: the figures begin after the first record and include
	 * objects that were live at that time. */
	gboolean starts_later;
} KmtFilter;

/*
 * Initialise a filter without conditions. The caller frees its memory with
 * kmt_filter_clear().
 */
void kmt_filter_init(KmtFilter *filter);
void kmt_filter_clear(KmtFilter *filter);

/*
 * Set a condition from the text of an option. Return FALSE on error; the error
 * names the option.
 */
gboolean kmt_filter_set_kinds(KmtFilter *filter, const char *text,
			      GError **error);
gboolean kmt_filter_set_cpus(KmtFilter *filter, const char *text,
			     GError **error);
gboolean kmt_filter_set_nodes(KmtFilter *filter, const char *text,
			      GError **error);
/*
 * Parse a range of bytes, including both ends: "64-4096", "4096-", "-64",
 * "192". The suffixes k or K, M and G are powers of 1024.
 */
gboolean kmt_filter_set_size(KmtFilter *filter, const char *text,
			     GError **error);
/*
 * Parse a range of times, including both ends: "1ms-", "100us-2s". A number
 * needs the suffix ns, us, ms or s.
 */
gboolean kmt_filter_set_lifetime(KmtFilter *filter, const char *text,
				 GError **error);

/*
 * Parse a list of globs such as "kmem_*,kfree" into *globs, whose old value is
 * freed. @option is named in the error.
 */
gboolean kmt_filter_set_globs(char ***globs, const char *option,
			      const char *text, GError **error);

/* Add a warning (char *) for each glob that matches no call site or cgroup, and
 * for CPUs or nodes none of which the capture has. Call this function after all
 * records are read. */
void kmt_filter_warn(const KmtFilter *filter, const KmtInputCapture *capture,
		     const KmtSymbolizer *symbolizer, const KmtMatchKeys *keys,
		     GPtrArray *warnings);

/* Return whether the filter has any condition. */
gboolean kmt_filter_is_set(const KmtFilter *filter);

/* Return the key parts that the conditions need. */
KmtMatchKeyParts kmt_filter_parts(const KmtFilter *filter);

/*
 * Return whether an allocation with this key, recorded on CPU number @cpu,
 * meets all conditions except size and lifetime.
 */
gboolean kmt_filter_matches_key(const KmtFilter *filter, const KmtMatchKey *key,
				guint cpu, const KmtSymbolizer *symbolizer);

/* Return whether a request of @bytes_req bytes meets the size condition. */
static inline gboolean kmt_filter_matches_size(const KmtFilter *filter,
					       guint64 bytes_req)
{
	return bytes_req >= filter->size_min && bytes_req <= filter->size_max;
}

#endif
