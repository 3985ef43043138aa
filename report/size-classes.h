/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sizes of kmalloc() as a whole: what the traced kernel's set wastes, what
 * other sets would waste, the best set of as many sizes, and the gain of one
 * more size. docs/advice.md explains the figures.
 */
#ifndef KMEMTRACE_REPORT_SIZE_CLASSES_H
#define KMEMTRACE_REPORT_SIZE_CLASSES_H

#include "lib/cli/json-writer.h"
#include "report/report.h"
#include "report/size-demand.h"
#include "report/size-replay.h"

/* Numbers of sizes beyond that of the kernel's set for which a best set is
 * computed. */
#define KMT_SIZE_CLASSES_MORE 4

/* The size that saves the most if it is added to the kernel's set. */
typedef struct {
	guint32 size;  /* 0: no size saves anything */
	guint64 saved; /* bytes of the objects; see KmtSizeRule.cost */
} KmtSizeAddition;

typedef struct {
	/* Why the sets were not compared, as a clause for messages; NULL: they
	 * were compared, and the members below are valid. */
	const char *omitted;
	KmtSlabKernel kernel;
	KmtSizeRule rule;
	KmtSizeDemand *demand;
	GArray *sets;	 /* KmtSizeSet without duplicates; the first is the
			  * kernel's */
	GArray *results; /* KmtSizeResult of each set */
	KmtSizeAddition additions[KMT_SIZE_N_MOMENTS];
	/* The best sets of up to the kernel's number of sizes and
	 * KMT_SIZE_CLASSES_MORE. */
	KmtBestSizes *best[KMT_SIZE_N_MOMENTS];
} KmtSizeClasses;

/* Create the comparison for a kernel, which is copied. */
KmtSizeClasses *kmt_size_classes_new(const KmtSlabKernel *kernel);
void kmt_size_classes_free(KmtSizeClasses *classes);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtSizeClasses, kmt_size_classes_free)

/* Return the consumer that counts the requests in a first replay. */
KmtReplayConsumer kmt_size_classes_consumer(KmtSizeClasses *classes);

/* Choose the sets, and replay the capture once more with each of them. options
 * are those of the first replay. */
void kmt_size_classes_measure(KmtSizeClasses *classes,
			      const KmtReplayOptions *options);

/* Print the section of the text report. */
void kmt_size_classes_text(const KmtSizeClasses *classes,
			   const KmtReport *report, FILE *out);
/* Add the member "size_classes". */
void kmt_size_classes_json(const KmtSizeClasses *classes, KmtJson *json,
			   const KmtReport *report);

#endif
