/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The advice of --advise: changes of the traced kernel that would save memory
 * or work, computed from a capture. docs/advice.md explains each topic.
 */
#ifndef KMEMTRACE_REPORT_ADVICE_H
#define KMEMTRACE_REPORT_ADVICE_H

#include "report/replay.h"
#include "report/report.h"
#include "report/size-classes.h"
#include "lib/symbols/wrapper-functions.h"

/* What a finding is about. */
typedef enum {
	KMT_ADVICE_SIZE,     /* a size just above a size of kmalloc() */
	KMT_ADVICE_CACHE,    /* a cache whose slabs are half empty */
	KMT_ADVICE_LARGE,    /* a kmalloc() of more than two pages */
	KMT_ADVICE_REMOTE,   /* objects that another CPU frees */
	KMT_ADVICE_SHORT,    /* objects that the same task frees at once */
	KMT_ADVICE_TOGETHER, /* objects allocated and freed together */
	KMT_ADVICE_N_TOPICS
} KmtAdviceTopic;

typedef enum {
	KMT_CERTAINTY_LOW,
	KMT_CERTAINTY_MEDIUM,
	KMT_CERTAINTY_HIGH,
} KmtCertainty;

/* A number of a computation, for JSON. @name is a static string. */
typedef struct {
	const char *name;
	guint64 value;
} KmtAdviceNumber;

/* A change, with its saving. A negative saving is a loss. */
typedef struct {
	const char *action; /* name of the change in JSON, a static string */
	char *change;	    /* what to do, in the imperative */
	gint64 live;	    /* bytes saved at the end of the time */
	gint64 peak;	    /* bytes saved at the peak of the kind */
	char *computation;  /* how the bytes were computed */
	char *cost;	    /* what the change costs */
} KmtAdviceChange;

/* A finding. */
typedef struct {
	KmtAdviceTopic topic;
	KmtKind kind;
	KmtSymSite sites[2]; /* allocating call sites */
	guint n_sites;	     /* 0: the finding is about a whole cache */
	char *cache;	     /* name of the cache, or NULL */
	GArray *changes;     /* KmtAdviceChange; the first is recommended, the
			      * others are alternatives */
	/* For the topics whose saving is not memory that is held: a number of
	 * events or bytes for each second. rate_unit is a static string, or
	 * NULL if the finding has no rate. */
	double rate;
	const char *rate_unit;
	KmtCertainty certainty;
	char *reason;	 /* of the certainty */
	GArray *numbers; /* KmtAdviceNumber: the inputs of the computation */
} KmtAdvice;

/* The result of --advise. */
struct KmtAdviceList {
	GPtrArray *findings;   /* KmtAdvice, by descending saving */
	GPtrArray *omitted;    /* char *: what could not be examined, and why */
	GPtrArray *empty;      /* const char *: topics without a finding */
	guint64 duration_ns;   /* time of the figures */
	KmtSizeClasses *sizes; /* NULL: not examined; see omitted */
	char *model;   /* the slab allocator whose geometry was assumed */
	char *warning; /* about slabinfo of the capture, or NULL */
};

/* No pointer is owned. */
typedef struct {
	KmtReplayOptions replay;
	const KmtSymWrappers *wrappers; /* list of the wrapper functions */
	guint64 churn_ns; /* an object that lives less is short-lived */
} KmtAdviceOptions;

/*
 * Replay the capture of a report and return the findings. @report has its
 * capture, aggregate, symbolizer and losses; the symbolizer must outlive the
 * list. The caller frees the list.
 */
KmtAdviceList *kmt_advice_new(const KmtReport *report,
			      const KmtAdviceOptions *options);
void kmt_advice_free(KmtAdviceList *list);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtAdviceList, kmt_advice_free)

/* Return the name of a topic in JSON, and its title in text. */
const char *kmt_advice_topic_name(KmtAdviceTopic topic);
const char *kmt_advice_topic_title(KmtAdviceTopic topic);
/* Return "low", "medium" or "high". */
const char *kmt_certainty_name(KmtCertainty certainty);

/* Return the bytes by which findings are sorted: the larger of the savings at
 * the peak and at the end. */
gint64 kmt_advice_saving(const KmtAdvice *advice);

#endif
