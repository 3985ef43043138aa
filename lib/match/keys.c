// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>

#include "lib/match/keys.h"

/* The second word of a cell: type, file, number of flags. */
#define FILE_SHIFT  8
#define FLAGS_SHIFT 32

/* The first word of flags: node, number of an owner. */
#define OWNER_SHIFT 32

/* The first word of an owner: pid, cache, context, whether there is one. */
#define CACHE_SHIFT   32
#define CONTEXT_SHIFT 48
#define IS_OWNER      (G_GUINT64_CONSTANT(1) << 63)

#define CONTEXT_FLAGS (KMEMTRACE_FLAG_HARDIRQ | KMEMTRACE_FLAG_SOFTIRQ)

/* What the first word of flags has the number of. */
#define BEYOND_FLAGS (KMT_CELL_OWNER | KMT_CELL_PHASE)

#define BEYOND_FILE (KMT_CELL_NODE | KMT_CELL_GFP | BEYOND_FLAGS)

KmtCells *kmt_cells_new(KmtCellParts parts, const KmtCapture *capture,
			const KmtRecordTables *tables)
{
	KmtCells *cells = g_new0(KmtCells, 1);

	parts = tables ? parts : parts & ~(guint)KMT_CELL_OWNER;
	cells->parts = parts;
	cells->capture = capture;
	cells->tables = tables;
	cells->cells = kmt_intern_new();
	cells->sizes = kmt_intern_new();
	cells->lots = kmt_intern_new();
	/* Each has 8 MB of addresses, so those without a use are left out. */
	if (parts & BEYOND_FILE)
		cells->flags = kmt_intern_new();
	if (parts & KMT_CELL_OWNER)
		cells->owners = kmt_intern_new();
	if (parts & KMT_CELL_PHASE)
		cells->phases = kmt_intern_new();
	if (parts & KMT_CELL_STACK)
		cells->stacks = kmt_intern_new();
	/* No flags have the largest number. */
	memset(cells->front, 0xff, sizeof(cells->front));
	return cells;
}

void kmt_cells_free(KmtCells *cells)
{
	if (!cells)
		return;
	kmt_intern_free(cells->cells);
	kmt_intern_free(cells->sizes);
	kmt_intern_free(cells->flags);
	kmt_intern_free(cells->owners);
	kmt_intern_free(cells->phases);
	kmt_intern_free(cells->stacks);
	kmt_intern_free(cells->lots);
	g_free(cells);
}

KmtCell kmt_cells_cell(const KmtCells *cells, guint32 lot)
{
	guint64 number = kmt_intern_at(cells->lots, lot)->word[0];
	const KmtPair *pair = kmt_intern_at(cells->cells, (guint32)number);
	KmtCell cell = {
		.call_site = pair->word[0],
		.type = (guint8)pair->word[1],
		.file = (guint16)(pair->word[1] >> FILE_SHIFT),
		.node = KMEMTRACE_NODE_NONE,
	};

	if (!(cells->parts & BEYOND_FILE))
		return cell;
	pair = kmt_intern_at(cells->flags,
			     (guint32)(pair->word[1] >> FLAGS_SHIFT));
	cell.node = (gint32)(guint32)pair->word[0];
	cell.gfp_flags = pair->word[1];
	if (!(cells->parts & BEYOND_FLAGS))
		return cell;
	number = pair->word[0] >> OWNER_SHIFT;
	if (cells->parts & KMT_CELL_PHASE) {
		pair = kmt_intern_at(cells->phases, (guint32)number);
		number = pair->word[0];
		cell.phase = (guint32)pair->word[1];
	}
	if (!(cells->parts & KMT_CELL_OWNER))
		return cell;
	if (cells->parts & KMT_CELL_STACK) {
		pair = kmt_intern_at(cells->stacks, (guint32)number);
		number = pair->word[0];
		cell.stack = (guint32)pair->word[1];
	}
	pair = kmt_intern_at(cells->owners, (guint32)number);
	cell.has_owner = (pair->word[0] & IS_OWNER) != 0;
	cell.pid = (guint32)pair->word[0];
	cell.cache = (guint16)(pair->word[0] >> CACHE_SHIFT);
	cell.context =
		(guint16)(pair->word[0] >> CONTEXT_SHIFT) & CONTEXT_FLAGS;
	cell.comm = (const char *)(guintptr)pair->word[1];
	return cell;
}

KmtSize kmt_cells_size(const KmtCells *cells, guint32 lot)
{
	guint64 number = kmt_intern_at(cells->lots, lot)->word[1];
	const KmtPair *pair = kmt_intern_at(cells->sizes, (guint32)number);

	return (KmtSize){pair->word[0], pair->word[1]};
}

/* The number of whom an ALLOC is for. */
static guint32 owner_of(KmtCells *cells, const KmtRawEvent *event, guint16 file)
{
	const KmtCpuFile *f = cells->capture->files->pdata[file];
	KmtCellParts parts = cells->parts;
	KmtRecordOwner owner;
	const char *comm = NULL;
	guint64 word = IS_OWNER;

	if (f->record_size < KMEMTRACE_EVENT_SIZE_V2)
		return kmt_intern_get(cells->owners, 0, 0);
	/* Sources give records in the host's byte order. */
	kmt_record_owner((const guint8 *)event, FALSE, &owner);
	if (parts & KMT_CELL_PID)
		word |= owner.pid;
	if (parts & KMT_CELL_CACHE)
		word |= (guint64)owner.cache << CACHE_SHIFT;
	if (parts & KMT_CELL_CONTEXT)
		word |= (guint64)(owner.flags & CONTEXT_FLAGS) << CONTEXT_SHIFT;
	if (parts & KMT_CELL_COMM)
		comm = kmt_record_tables_task(cells->tables, owner.pid,
					      event->timestamp, NULL);
	return kmt_intern_get(cells->owners, word, (guintptr)comm);
}

void kmt_cells_set_phases(KmtCells *cells, const gint64 *starts, guint n)
{
	cells->starts = starts;
	cells->n_starts = n;
}

/* Mostly that of the record before. */
static guint phase_of(KmtCells *cells, gint64 time)
{
	guint low = cells->phase, high = cells->n_starts;

	if ((!low || cells->starts[low - 1] <= time) &&
	    (low == high || cells->starts[low] > time))
		return low;
	for (low = 0; low < high;) {
		guint middle = low + (high - low) / 2;

		if (cells->starts[middle] <= time)
			low = middle + 1;
		else
			high = middle;
	}
	cells->phase = low;
	return low;
}

/* With its stack, if that is asked for. */
static guint32 stack_of(KmtCells *cells, const KmtRawEvent *event, guint16 file)
{
	const KmtCpuFile *f = cells->capture->files->pdata[file];
	guint32 owner = owner_of(cells, event, file);
	guint32 stack = KMEMTRACE_STACK_NONE;

	if (!(cells->parts & KMT_CELL_STACK))
		return owner;
	if (f->record_size >= KMEMTRACE_EVENT_SIZE_V2S)
		stack = kmt_record_stack((const guint8 *)event, FALSE);
	return kmt_intern_get(cells->stacks, owner, stack);
}

guint64 kmt_cells_word(KmtCells *cells, const KmtRawEvent *event, guint16 file)
{
	KmtCellParts parts = cells->parts;
	gint32 node = parts & KMT_CELL_NODE ? event->node : KMEMTRACE_NODE_NONE;
	guint64 gfp = parts & KMT_CELL_GFP ? event->gfp_flags : 0;
	guint64 flags = (guint32)node, word = 0;
	guint32 beyond = 0;

	if (parts & KMT_CELL_CPU)
		word |= (guint64)file << FILE_SHIFT;
	if (parts & KMT_CELL_OWNER)
		beyond = stack_of(cells, event, file);
	if (parts & KMT_CELL_PHASE)
		beyond = kmt_intern_get(cells->phases, beyond,
					phase_of(cells, event->timestamp));
	flags |= (guint64)beyond << OWNER_SHIFT;
	if (parts & BEYOND_FILE)
		word |= (guint64)kmt_intern_get(cells->flags, flags, gfp)
			<< FLAGS_SHIFT;
	return word;
}

guint32 kmt_cells_miss(KmtCells *cells, KmtLotSlot *front,
		       const KmtRawEvent *event, guint64 word)
{
	guint32 cell = kmt_intern_get(cells->cells, event->call_site, word);
	guint32 size = kmt_intern_get(cells->sizes, event->bytes_req,
				      event->bytes_alloc);
	guint32 lot = kmt_intern_get(cells->lots, cell, size);

	*front = (KmtLotSlot){.call_site = event->call_site,
			      .word = word,
			      .bytes_req = event->bytes_req,
			      .bytes_alloc = event->bytes_alloc,
			      .lot = lot};
	return lot;
}
