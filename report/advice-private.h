/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the topics of the advice share. Private to report/advice*.c. */
#ifndef KMEMTRACE_REPORT_ADVICE_PRIVATE_H
#define KMEMTRACE_REPORT_ADVICE_PRIVATE_H

#include "report/advice.h"
#include "report/advice-layout.h"
#include "report/advice-sites.h"

/* Smallest saving, in bytes, of a finding that saves memory: one page. */
#define KMT_ADVICE_MIN_SAVING 4096

/* The common state of all topics. */
typedef struct {
	const KmtReport *report;
	const KmtReplay *replay; /* NULL until the replay has ended */
	KmtAdviceSites *sites;
	KmtAdviceList *list;
	const KmtAdviceLayout *layout; /* NULL: unknown */
	const KmtSymWrappers *wrappers;
	guint64 churn_ns; /* an object that lives less is short-lived */
	double seconds;	  /* time of the figures; valid after the replay */
} KmtAdviceContext;

/* What a topic needs of the capture. */
typedef enum {
	KMT_ADVICE_NEEDS_TASKS = 1 << 0,  /* the task of each event */
	KMT_ADVICE_NEEDS_ALL = 1 << 1,	  /* all allocations, not a sample */
	KMT_ADVICE_NEEDS_CPUS = 1 << 2,	  /* events of several CPUs */
	KMT_ADVICE_NEEDS_LAYOUT = 1 << 3, /* the layout of the slabs */
} KmtAdviceNeeds;

/* A topic. The functions other than find may be NULL; state is the result of
 * new(). */
typedef struct {
	const char *what; /* plural noun for messages: "large allocations" */
	KmtAdviceNeeds needs;
	gpointer (*new)(const KmtAdviceContext *context);
	void (*free)(gpointer state);
	/* As on_event of KmtReplayConsumer, with state as user. */
	void (*on_event)(gpointer state, const KmtReplay *replay,
			 const KmtReplayEvent *event);
	/* Add the findings of the topic to context->list. */
	void (*find)(gpointer state, KmtAdviceContext *context);
} KmtAdviceDetector;

extern const KmtAdviceDetector kmt_advice_sizes;
extern const KmtAdviceDetector kmt_advice_caches;
extern const KmtAdviceDetector kmt_advice_large;
extern const KmtAdviceDetector kmt_advice_remote;
extern const KmtAdviceDetector kmt_advice_short;
extern const KmtAdviceDetector kmt_advice_together;

/* ---- advice-list.c ---- */

KmtAdviceList *kmt_advice_list_new(void);
/* Append an empty finding and return it. */
KmtAdvice *kmt_advice_add(KmtAdviceContext *context, KmtAdviceTopic topic,
			  KmtKind kind);
/* Append a change to a finding. @action must be a static string; the finding
 * takes the other strings. */
void kmt_advice_add_change(KmtAdvice *advice, const char *action, char *change,
			   gint64 live, gint64 peak, char *computation,
			   char *cost);
/* Append an input of the computation. @name must be a static string. */
void kmt_advice_add_number(KmtAdvice *advice, const char *name, guint64 value);
/* Sort the findings by descending saving; equal savings by topic, by descending
 * rate, and by address. */
void kmt_advice_list_sort(KmtAdviceList *list);

/* Return a count of the replay times the factor of a sample. */
guint64 kmt_advice_scaled(const KmtAdviceContext *context, guint64 count);
/* Format a number as the report does, marked if losses may have changed it or
 * if it is an estimate. The caller frees the string. */
char *kmt_advice_figure(const KmtReport *report, guint64 number);
/* As kmt_advice_figure(), for a property of an object such as its size, which
 * losses do not change. */
char *kmt_advice_exact(const KmtReport *report, guint64 number);

/* Return whether the function of a call site is a wrapper, whose objects belong
 * to different callers. */
gboolean kmt_advice_is_wrapper(const KmtAdviceContext *context,
			       const KmtSymSite *site);
/* Return the doubt about a finding of a wrapper, as KmtAdviceEvidence.doubt, or
 * NULL if the function is none. */
const char *kmt_advice_wrapper_doubt(const KmtAdviceContext *context,
				     const KmtSymSite *site);
/* Return whether any allocation of a site requests memory for DMA. */
gboolean kmt_advice_is_for_dma(const KmtReport *report,
			       const KmtAdviceSite *site);
/* Return the page size of the traced machine in bytes. */
guint64 kmt_advice_page_size(const KmtAdviceContext *context);
/* Format a call site for a sentence: its name, or else its address. The caller
 * frees the string. */
char *kmt_advice_site_name(const KmtReport *report, const KmtSymSite *site);

/* ---- advice-certainty.c ---- */

/* What supports a finding. */
typedef struct {
	guint64 objects;	 /* objects that show the pattern */
	gboolean any_number;	 /* one object suffices as evidence */
	gboolean is_rate;	 /* the finding depends on the duration */
	gboolean assumes_layout; /* the geometry of the slabs is computed, and
				  * not that of the traced kernel's slabinfo */
	double known_share;	 /* objects of the replay among those of the
				  * cache; 0: unknown */
	const char *doubt;	 /* another reason against it, or NULL */
} KmtAdviceEvidence;

/* Set the certainty of a finding and its reason. The time of the figures must
 * be set. */
void kmt_advice_set_certainty(const KmtAdviceContext *context,
			      KmtAdvice *advice,
			      const KmtAdviceEvidence *evidence);

#endif
