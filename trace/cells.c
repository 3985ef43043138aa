// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>

#include "trace/cells.h"

/* The second word of a cell: type, file, number of node and gfp flags. */
#define FILE_SHIFT  8
#define FLAGS_SHIFT 32

KmtCells *kmt_cells_new(KmtCellParts parts)
{
	KmtCells *cells = g_new0(KmtCells, 1);

	cells->parts = parts;
	cells->cells = kmt_intern_new();
	cells->sizes = kmt_intern_new();
	cells->flags = kmt_intern_new();
	cells->lots = kmt_intern_new();
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

	if (cells->parts & (KMT_CELL_NODE | KMT_CELL_GFP)) {
		pair = kmt_intern_at(cells->flags,
				     (guint32)(pair->word[1] >> FLAGS_SHIFT));
		cell.node = (gint32)(guint32)pair->word[0];
		cell.gfp_flags = pair->word[1];
	}
	return cell;
}

KmtSize kmt_cells_size(const KmtCells *cells, guint32 lot)
{
	guint64 number = kmt_intern_at(cells->lots, lot)->word[1];
	const KmtPair *pair = kmt_intern_at(cells->sizes, (guint32)number);

	return (KmtSize){pair->word[0], pair->word[1]};
}

guint64 kmt_cells_word(KmtCells *cells, const KmtRawEvent *event, guint16 file)
{
	KmtCellParts parts = cells->parts;
	gint32 node = parts & KMT_CELL_NODE ? event->node : KMEMTRACE_NODE_NONE;
	guint64 gfp = parts & KMT_CELL_GFP ? event->gfp_flags : 0;
	guint64 word = 0;

	if (parts & KMT_CELL_CPU)
		word |= (guint64)file << FILE_SHIFT;
	if (parts & (KMT_CELL_NODE | KMT_CELL_GFP))
		word |= (guint64)kmt_intern_get(cells->flags, (guint32)node,
						gfp)
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
