/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A kernel that allocates and frees, as far as a reader of its events can tell
 * it from a real one.
 *
 * - Call sites are zipf-distributed; a site has one cache, or sizes near one
 *   another, and one set of gfp flags.
 * - Most objects live shortly and are freed in the reverse order, by the CPU
 *   that allocated them; a smaller part lives for thousands of events and is
 *   freed in random order; what is live at the end came in the first half.
 * - An address that is freed is the next one of its size that its CPU gives.
 * - Some objects are freed by another CPU.
 *
 * Two events never have the same time, and what is live has its addresses for
 * itself.  The events depend on the parameters and the seed alone.
 */
#ifndef KMEMTRACE_BENCH_MODEL_H
#define KMEMTRACE_BENCH_MODEL_H

#include <stdio.h>

#include "bench/sink.h"

#define BENCH_MAX_CPUS 4096

typedef struct {
	guint64 events; /* on all CPUs */
	guint64 live;	/* objects at the end */
	guint64 seed;
	guint cpus;
	guint pages_percent; /* of the allocations are of pages */
	guint cross_percent; /* of the frees are on another CPU */
	gboolean account;    /* totals are wanted */
} BenchParams;

enum {
	BENCH_KMALLOC = KMEMTRACE_TYPE_KMALLOC,
	BENCH_CACHE = KMEMTRACE_TYPE_CACHE,
	BENCH_PAGES = KMEMTRACE_TYPE_PAGES,
	BENCH_SLAB, /* kmalloc and cache */
	BENCH_N_KINDS,
};

/* What the report must find; names are those of its JSON. */
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

/* Makes all events.  Ends early when sink has an error. */
gboolean bench_model_run(BenchModel *model, BenchSink *sink, GError **error);

/* After it ran, with params->account.  That of BENCH_SLAB is complete too. */
const BenchTotals *bench_model_totals(const BenchModel *model, guint kind);

/* Writes symbols for all call sites, as /proc/kallsyms has them. */
void bench_model_kallsyms(const BenchModel *model, FILE *out);

#endif
