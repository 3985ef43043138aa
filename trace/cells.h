/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the figures of a report can be kept by, as numbers that fit into the
 * entry of a live object: a cell is a call site with the kind of memory and, if
 * they are asked for, CPU, node and gfp flags; a size is what was requested
 * with what was allocated.
 */
#ifndef KMEMTRACE_CELLS_H
#define KMEMTRACE_CELLS_H

#include "trace/capture.h"
#include "trace/intern.h"

typedef enum {
	KMT_CELL_CPU = 1 << 0,
	KMT_CELL_NODE = 1 << 1,
	KMT_CELL_GFP = 1 << 2,
} KmtCellParts;

typedef struct {
	KmtCellParts parts; /* beyond call site and kind */
	KmtIntern *cells;
	KmtIntern *sizes;
	KmtIntern *flags; /* pairs of node and gfp flags */
} KmtCells;

KmtCells *kmt_cells_new(KmtCellParts parts);
void kmt_cells_free(KmtCells *cells);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtCells, kmt_cells_free)

typedef struct {
	guint64 call_site;
	guint8 type;  /* enum kmemtrace_type_id */
	guint16 file; /* the allocating CPU's; 0 if parts lacks it */
	gint32 node;  /* asked for; likewise */
	guint64 gfp_flags;
} KmtCell;

KmtCell kmt_cells_cell(const KmtCells *cells, guint32 cell);

/* Its type alone. */
static inline guint8 kmt_cells_type(const KmtCells *cells, guint32 cell)
{
	return (guint8)kmt_intern_at(cells->cells, cell)->word[1];
}

static inline guint64 kmt_cells_bytes_req(const KmtCells *cells, guint32 size)
{
	return kmt_intern_at(cells->sizes, size)->word[0];
}

static inline guint64 kmt_cells_bytes_alloc(const KmtCells *cells, guint32 size)
{
	return kmt_intern_at(cells->sizes, size)->word[1];
}

/* Of one thread. */
typedef struct {
	const KmtCells *cells;
	KmtInternCache cell, size, flags;
} KmtCellCache;

KmtCellCache *kmt_cell_cache_new(const KmtCells *cells);
void kmt_cell_cache_free(KmtCellCache *cache);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtCellCache, kmt_cell_cache_free)

/* Private: the second word of a cell that has more than call site and kind. */
guint64 kmt_cell_cache_parts(KmtCellCache *cache, const KmtRawEvent *event,
			     guint16 file);

/* The numbers of what event, an ALLOC of capture->files[file], allocates. */
static inline guint32
kmt_cell_cache_cell(KmtCellCache *cache, const KmtRawEvent *event, guint16 file)
{
	guint64 word = event->type_id;

	if (G_UNLIKELY(cache->cells->parts))
		word |= kmt_cell_cache_parts(cache, event, file);
	return kmt_intern_get(&cache->cell, event->call_site, word);
}

static inline guint32 kmt_cell_cache_size(KmtCellCache *cache,
					  const KmtRawEvent *event)
{
	return kmt_intern_get(&cache->size, event->bytes_req,
			      event->bytes_alloc);
}

#endif
