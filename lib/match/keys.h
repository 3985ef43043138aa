/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the figures of a report can be kept by, as numbers: a cell is a call
 * site with the kind of memory and, if they are asked for, CPU, node, gfp
 * flags, and whom it was for; a size is what was requested with what was
 * allocated.  A cell with a size is a lot: the one number that the entry of a
 * live object has.
 */
#ifndef KMEMTRACE_MATCH_KEYS_H
#define KMEMTRACE_MATCH_KEYS_H

#include "lib/input/capture.h"
#include "lib/match/intern.h"
#include "lib/input/name-tables.h"

typedef enum {
	KMT_CELL_CPU = 1 << 0,
	KMT_CELL_NODE = 1 << 1,
	KMT_CELL_GFP = 1 << 2,
	/* Of version 2 of the record: */
	KMT_CELL_PID = 1 << 3,
	KMT_CELL_COMM = 1 << 4,
	KMT_CELL_CACHE = 1 << 5,
	KMT_CELL_CONTEXT = 1 << 6,
	KMT_CELL_STACK = 1 << 7,
	KMT_CELL_OWNER = KMT_CELL_PID | KMT_CELL_COMM | KMT_CELL_CACHE |
			 KMT_CELL_CONTEXT | KMT_CELL_STACK,
	KMT_CELL_PHASE = 1 << 16,
} KmtCellParts;

/* What is asked for often is found in the first try, in a table where each lot
 * has one place. */
#define KMT_LOT_FRONT_BITS 11

typedef struct {
	guint64 call_site;
	guint64 word; /* the second one of a cell; all bits: empty */
	guint64 bytes_req;
	guint64 bytes_alloc;
	guint32 lot;
} KmtLotSlot;

/* One thread at a time asks for numbers; who was handed a number may read what
 * it stands for meanwhile. */
typedef struct {
	KmtCellParts parts; /* beyond call site and kind */
	KmtIntern *cells;
	KmtIntern *sizes;
	KmtIntern *lots; /* pairs of cell and size */
	/* NULL where parts need none: */
	KmtIntern *flags;  /* pairs of node with owner, and gfp flags */
	KmtIntern *owners; /* pairs of pid, cache and context, and name */
	KmtIntern *phases; /* pairs of owner and phase */
	KmtIntern *stacks; /* pairs of owner and stack, in place of owners */
	/* private: */
	const KmtCapture *capture;
	const KmtRecordTables *tables;
	const gint64 *starts; /* of phases but the first, n_starts */
	guint n_starts;
	guint phase; /* of the last record */
	KmtLotSlot front[1 << KMT_LOT_FRONT_BITS];
} KmtCells;

/* tables: whose records have an owner, or NULL; these must live as long. */
KmtCells *kmt_cells_new(KmtCellParts parts, const KmtCapture *capture,
			const KmtRecordTables *tables);
void kmt_cells_free(KmtCells *cells);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtCells, kmt_cells_free)

/*
 * For KMT_CELL_PHASE: phases of the capture, by when each begins but the first,
 * 0; in their order.  starts must live as long.
 */
void kmt_cells_set_phases(KmtCells *cells, const gint64 *starts, guint n);

typedef struct {
	guint64 call_site;
	guint8 type;  /* enum kmemtrace_type_id */
	guint16 file; /* the allocating CPU's; 0 if parts lacks it */
	gint32 node;  /* asked for; likewise */
	guint64 gfp_flags;
	/* Whom it was for; FALSE, and all 0, if parts or the records lack it.
	 */
	gboolean has_owner;
	guint32 pid;
	guint16 cache;	  /* KMEMTRACE_CACHE_NONE: none */
	guint16 context;  /* KMEMTRACE_FLAG_HARDIRQ, _SOFTIRQ or 0 */
	guint32 stack;	  /* KMEMTRACE_STACK_NONE: none */
	const char *comm; /* of any bytes; NULL: not known */
	guint32 phase;	  /* in which it was allocated; 0 if parts lacks it */
} KmtCell;

/* The cell of a lot. */
KmtCell kmt_cells_cell(const KmtCells *cells, guint32 lot);

/* Pointer to the call site of a lot, valid as long as cells. */
static inline const guint64 *kmt_cells_site(const KmtCells *cells, guint32 lot)
{
	guint32 cell = (guint32)kmt_intern_at(cells->lots, lot)->word[0];

	return &kmt_intern_at(cells->cells, cell)->word[0];
}

/* The call site of a lot. */
static inline guint64 kmt_cells_call_site(const KmtCells *cells, guint32 lot)
{
	return *kmt_cells_site(cells, lot);
}

typedef struct {
	guint64 req, alloc;
} KmtSize;

/* Its size. */
KmtSize kmt_cells_size(const KmtCells *cells, guint32 lot);

/* Private: the second word of a cell that has more than call site and kind, and
 * what kmt_cells_lot() does with what the front lacks. */
guint64 kmt_cells_word(KmtCells *cells, const KmtRawEvent *event, guint16 file);
guint32 kmt_cells_miss(KmtCells *cells, KmtLotSlot *front,
		       const KmtRawEvent *event, guint64 word);

/* The lot of what event, an ALLOC of capture->files[file], allocates.  parts
 * are those of cells. */
static inline guint32 kmt_cells_lot(KmtCells *cells, KmtCellParts parts,
				    const KmtRawEvent *event, guint16 file)
{
	guint64 word = event->type_id, hash;
	KmtLotSlot *front;

	if (G_UNLIKELY(parts))
		word |= kmt_cells_word(cells, event, file);
	/* A lot that is found slowly is all that a bad hash does. */
	hash = (event->call_site +
		(event->bytes_req ^ word) *
			G_GUINT64_CONSTANT(0xd6e8feb86659fd93)) *
	       G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);
	front = &cells->front[hash >> (64 - KMT_LOT_FRONT_BITS)];
	if (G_LIKELY(front->call_site == event->call_site &&
		     front->bytes_req == event->bytes_req &&
		     front->bytes_alloc == event->bytes_alloc &&
		     front->word == word))
		return front->lot;
	return kmt_cells_miss(cells, front, event, word);
}

#endif
