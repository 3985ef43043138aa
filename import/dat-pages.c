// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "import/dat-pages.h"
#include "import/unpack.h"

/*
 * Size in bytes of the field with the number of chunks, which precedes the
 * chunks.
 */
#define COUNT_BYTES 4

/*
 * Upper bound for the size of an uncompressed chunk. trace-cmd compresses about
 * ten pages at a time.
 */
#define MAX_CHUNK_BYTES (64U << 20)

struct KmtDatPages {
	const KmtDatFile *dat;
	const KmtDatBuffer *buffer;
	KmtDatEventFunc is_complete;
	gconstpointer user;
	KmtByteSpan rest; /* the CPU's unread bytes in the file */
	gboolean cut;	  /* bytes at the end of the CPU's data are missing in
			   * the file, or belong to no chunk; this was not
			   * reported yet */
	guint32 n_chunks; /* number of compressed chunks not read yet */
	guint8 *chunk;	  /* the current chunk, decompressed */
	KmtByteSpan from_chunk; /* unread bytes of chunk */
	KmtDatPage page;	/* returned by kmt_dat_pages_next() */
};

KmtDatPages *kmt_dat_pages_new(const KmtDatFile *dat,
			       const KmtDatBuffer *buffer, const KmtDatCpu *cpu,
			       KmtDatEventFunc is_complete, gconstpointer user)
{
	KmtDatPages *p = g_new0(KmtDatPages, 1);
	gsize offset = MIN(cpu->offset, dat->size);
	guint64 size = cpu->size;

	/* cpu->size does not include the field with the number of chunks. */
	if (buffer->packed && size && size <= G_MAXUINT64 - COUNT_BYTES)
		size += COUNT_BYTES;
	p->dat = dat;
	p->buffer = buffer;
	p->is_complete = is_complete;
	p->user = user;
	p->rest.next = dat->bytes + offset;
	p->rest.left = MIN(size, dat->size - offset);
	p->cut = p->rest.left < cpu->size;
	p->page.copy = g_malloc(buffer->page_bytes);
	if (buffer->packed && cpu->size)
		p->n_chunks = kmt_byte_span_32(&p->rest);
	return p;
}

void kmt_dat_pages_free(KmtDatPages *p)
{
	g_free(p->page.copy);
	g_free(p->chunk);
	g_free(p);
}

/* ---- raw bytes of pages ---- */

typedef enum {
	FOUND,
	DAMAGED,
	END,
} PageResult;

/*
 * Called when no bytes of the CPU are left. Returns DAMAGED once if bytes at
 * the end of the CPU's data are missing in the file or belong to no chunk, then
 * END.
 */
static PageResult at_end(KmtDatPages *p)
{
	if (!p->cut)
		return END;
	p->cut = FALSE;
	return DAMAGED;
}

/* Decompress the next chunk into p->chunk. */
static PageResult next_chunk(KmtDatPages *p)
{
	guint32 n_packed, n;
	const guint8 *packed;

	if (!p->n_chunks) {
		p->cut |= p->rest.left > COUNT_BYTES;
		p->rest.left = 0;
		return at_end(p);
	}
	p->n_chunks--;
	n_packed = kmt_byte_span_32(&p->rest);
	n = kmt_byte_span_32(&p->rest);
	packed = kmt_byte_span_consume(&p->rest, n_packed);
	/* Without the length of this chunk, no later chunk can be found. */
	if (!packed)
		p->n_chunks = 0;
	if (!packed || n == 0 || n > MAX_CHUNK_BYTES)
		return DAMAGED;
	g_free(p->chunk);
	p->chunk = g_try_malloc(n);
	if (!p->chunk ||
	    !kmt_unpack_block(p->dat->packing, packed, n_packed, p->chunk, n))
		return DAMAGED;
	p->from_chunk = (KmtByteSpan){p->chunk, n};
	return FOUND;
}

/*
 * Copy the next page into to[], which has room for page_bytes. Returns DAMAGED
 * for a short last page or a damaged chunk.
 */
static PageResult next_bytes(KmtDatPages *p, guint8 *to)
{
	KmtByteSpan *from = p->buffer->packed ? &p->from_chunk : &p->rest;
	gsize n;

	if (p->buffer->packed && from->left == 0) {
		PageResult result = next_chunk(p);

		if (result != FOUND)
			return result;
	}
	n = MIN(from->left, p->buffer->page_bytes);
	if (n == 0)
		return at_end(p);
	memcpy(to, kmt_byte_span_consume(from, n), n);
	return n == p->buffer->page_bytes ? FOUND : DAMAGED;
}

/* ---- validation of a single page ---- */

static gboolean is_zero(const guint8 *bytes, gsize n)
{
	for (gsize i = 0; i < n; i++)
		if (bytes[i])
			return FALSE;
	return TRUE;
}

/*
 * Set page->n_events and page->last_time from the events of the page. Returns
 * FALSE if the events do not form a valid sequence.
 */
static gboolean count_events(const KmtDatPages *p, KmtDatPage *page)
{
	KmtTracepointCursor cursor = page->events;
	const guint8 *data;
	gsize n_bytes;

	page->n_events = 0;
	while ((data = kmt_tracepoint_ring_next_event(&cursor, &n_bytes))) {
		if (!p->is_complete(p->user, data, n_bytes))
			return FALSE;
		page->n_events++;
	}
	page->last_time = cursor.time_ns;
	return !cursor.damaged;
}

static gboolean read_page(const KmtDatPages *p, KmtDatPage *page)
{
	const KmtDatPageHeader *header = &p->dat->page_header;
	const guint8 *bytes = page->copy, *rest;
	guint64 commit;
	gsize used, free_bytes;

	if (p->buffer->page_bytes <= header->data_offset)
		return FALSE;
	commit = kmt_tracepoint_slot_load(
		bytes, (KmtTracepointSlot){(guint16)header->commit_offset,
					   (guint16)header->commit_bytes});
	used = commit & KMT_TRACEPOINT_RING_COMMIT_MASK;
	free_bytes = p->buffer->page_bytes - header->data_offset;
	if (used == 0 || used > free_bytes ||
	    used % KMT_TRACEPOINT_RING_WORD_BYTES)
		return FALSE;
	page->time = kmt_tracepoint_load64(bytes);
	page->events = (KmtTracepointCursor){
		.next = bytes + header->data_offset,
		.end = bytes + header->data_offset + used,
		.time_ns = page->time,
	};
	rest = page->events.end;
	free_bytes -= used;
	page->missed = commit & KMT_TRACEPOINT_RING_COMMIT_MISSED
			       ? KMT_DAT_MISSED_UNKNOWN
			       : 0;
	if (commit & KMT_TRACEPOINT_RING_COMMIT_STORED) {
		if (free_bytes < header->commit_bytes)
			return FALSE;
		page->missed = kmt_tracepoint_slot_load(
			rest,
			(KmtTracepointSlot){0, (guint16)header->commit_bytes});
		rest += header->commit_bytes;
		free_bytes -= header->commit_bytes;
	}
	return is_zero(rest, free_bytes) && count_events(p, page);
}

const KmtDatPage *kmt_dat_pages_next(KmtDatPages *p)
{
	KmtDatPage *page = &p->page;
	PageResult result = next_bytes(p, page->copy);

	page->intact = result == FOUND && read_page(p, page);
	return result == END ? NULL : page;
}
