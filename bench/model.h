/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A model of a kernel that allocates and frees, whose events resemble those of
 * a real kernel:
 *
 * - Call sites are Zipf-distributed. A site has one cache, or similar sizes,
 * and one set of gfp flags.
 * - Most objects have a short lifetime and are freed in reverse order by the
 * CPU that allocated them. A smaller part lives for thousands of events and is
 * freed in random order. The number of live objects reaches BenchParams.live
 * after about half of the events, or later if BenchParams.live exceeds half of
 * BenchParams.events.
 * - Each CPU has separate addresses for each size class of kmalloc, pages, and
 * caches; a frequent size has several classes. An allocation reuses the address
 * of its CPU and class that was freed last, if there is one.
 * - Some objects are freed on another CPU.
 *
 * No two events have the same time, and no two live objects have the same
 * address. The events depend only on the parameters and the seed.
 */
#ifndef KMEMTRACE_BENCH_MODEL_H
#define KMEMTRACE_BENCH_MODEL_H

#include <stdio.h>

#include "bench/sink.h"

#define BENCH_MAX_CPUS 4096

typedef struct {
	guint64 events; /* on all CPUs */
	guint64 live;	/* live objects at the end */
	guint64 seed;
	guint cpus;
	guint pages_percent; /* percentage of allocations that are pages */
	guint cross_percent; /* percentage of frees on another CPU */
	gboolean account;    /* compute totals */
} BenchParams;

enum {
	BENCH_KMALLOC = KMEMTRACE_TYPE_KMALLOC,
	BENCH_CACHE = KMEMTRACE_TYPE_CACHE,
	BENCH_PAGES = KMEMTRACE_TYPE_PAGES,
	BENCH_SLAB, /* kmalloc and cache */
	BENCH_N_KINDS,
};

/*
 * Figures that the report must show; the members have the names of its JSON
 * keys.
 */
typedef struct {
	guint64 allocs;
	guint64 frees;
	guint64 bytes_requested;
	guint64 bytes_allocated;
	guint64 cross_cpu_frees;
	guint64 live_objects;
	guint64 live_bytes_requested;
	guint64 live_bytes_allocated;
	guint64 peak_bytes_allocated;
} BenchTotals;

typedef struct BenchModel BenchModel;

BenchModel *bench_model_new(const BenchParams *params);
void bench_model_free(BenchModel *model);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(BenchModel, bench_model_free)

/*
 * Make all events. Return FALSE and set an error if no address is left. If the
 * sink has an error, stop early and return TRUE; bench_sink_close() reports
 * that error.
 */
gboolean bench_model_run(BenchModel *model, BenchSink *sink, GError **error);

/*
 * Return the totals of a kind, valid after a run with params->account.
 * BENCH_SLAB counts kmalloc and cache together, so its peak is that of the sum.
 */
const BenchTotals *bench_model_totals(const BenchModel *model, guint kind);

/* Write symbols for all call sites in the format of /proc/kallsyms. */
void bench_model_kallsyms(const BenchModel *model, FILE *out);

#endif
