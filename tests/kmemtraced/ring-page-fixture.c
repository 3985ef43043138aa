// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>

#include "lib/capture/error.h"
#include "tests/kmemtraced/ring-page-fixture.h"

void page_start(RingPage *page, guint64 time_ns)
{
	memset(page, 0xee, sizeof(*page));
	memcpy(page->bytes, &time_ns, sizeof(time_ns));
	page->used = 0;
}

void put_word(RingPage *page, guint32 word)
{
	memcpy(page->bytes + HEADER + page->used, &word, sizeof(word));
	page->used += sizeof(word);
}

guint32 event_head(guint type, guint32 delta)
{
#if G_BYTE_ORDER == G_LITTLE_ENDIAN
	return type | delta << 5;
#else
	return type << 27 | delta;
#endif
}

void put_extend(RingPage *page, guint type, guint64 time)
{
	put_word(page, event_head(type, (guint32)(time & ((1U << 27) - 1))));
	put_word(page, (guint32)(time >> 27));
}

void put_data(RingPage *page, guint32 delta, const void *data, gsize n,
	      gboolean is_long)
{
	if (is_long) {
		put_word(page, event_head(0, delta));
		put_word(page, (guint32)n + 4);
	} else {
		put_word(page, event_head((guint)(n + 3) / 4, delta));
	}
	memcpy(page->bytes + HEADER + page->used, data, n);
	page->used += (n + 3) & ~(gsize)3;
}

KmallocEvent kmalloc_event(guint64 ptr)
{
	return (KmallocEvent){ID_KMALLOC, 0,   0,   1,	   0xffffffff81000010,
			      ptr,	  100, 128, 0xcc0, -1};
}

void put_kmalloc(RingPage *page, guint32 delta, guint64 ptr)
{
	KmallocEvent e = kmalloc_event(ptr);

	put_data(page, delta, &e, sizeof(e), FALSE);
}

void put_task_kmalloc(RingPage *page, guint64 ptr, gint32 pid, guint8 flags)
{
	KmallocEvent e = kmalloc_event(ptr);

	e.pid = pid;
	e.flags = flags;
	put_data(page, 1, &e, sizeof(e), FALSE);
}

/* Append a kfree, whose fields are the first 24 bytes of a kmalloc. */
void put_kfree(RingPage *page, guint64 ptr, gint32 pid, guint8 flags)
{
	KmallocEvent e = kmalloc_event(ptr);

	e.type = ID_KFREE;
	e.pid = pid;
	e.flags = flags;
	put_data(page, 1, &e, KFREE_LEN, FALSE);
}

void page_end(RingPage *page, guint64 flags)
{
	guint64 commit = page->used | flags;

	memcpy(page->bytes + 8, &commit, sizeof(commit));
}

static KmtTracepoint *point(guint8 event_id, guint8 type_id, guint min_bytes)
{
	KmtTracepoint *p = g_new0(KmtTracepoint, 1);

	p->event_id = event_id;
	p->type_id = type_id;
	p->min_bytes = min_bytes;
	p->call_site = (KmtTracepointSlot){8, 8};
	p->ptr = (KmtTracepointSlot){16, 8};
	if (event_id == KMEMTRACE_EVENT_ALLOC) {
		p->bytes_req = (KmtTracepointSlot){24, 8};
		p->bytes_alloc = (KmtTracepointSlot){32, 8};
		p->gfp_flags = (KmtTracepointSlot){40, 4};
		p->node = (KmtTracepointSlot){44, 4};
	}
	kmt_tracepoint_prepare(p, 4096, 0);
	return p;
}

static KmtdRingFormat *make_format(void)
{
	KmtdRingFormat *f = g_new0(KmtdRingFormat, 1);
	KmtTracepoint *pages;

	f->page_bytes = PAGE;
	f->commit_offset = 8;
	f->commit_bytes = 8;
	f->data_offset = HEADER;
	f->common.type = (KmtTracepointSlot){0, 2};
	f->common.flags = (KmtTracepointSlot){2, 1};
	f->common.pid = (KmtTracepointSlot){4, 4};
	f->common.bytes = 8;
	f->by_id = g_ptr_array_new_with_free_func(g_free);
	g_ptr_array_set_size(f->by_id, ID_PAGES + 1);
	f->by_id->pdata[ID_KMALLOC] = point(
		KMEMTRACE_EVENT_ALLOC, KMEMTRACE_TYPE_KMALLOC, KMALLOC_LEN);
	f->by_id->pdata[ID_KFREE] =
		point(KMEMTRACE_EVENT_FREE, KMEMTRACE_TYPE_KMALLOC, KFREE_LEN);
	pages = g_new0(KmtTracepoint, 1);
	pages->event_id = KMEMTRACE_EVENT_ALLOC;
	pages->type_id = KMEMTRACE_TYPE_PAGES;
	pages->min_bytes = 20;
	pages->pfn = (KmtTracepointSlot){8, 8};
	pages->order = (KmtTracepointSlot){16, 4};
	kmt_tracepoint_prepare(pages, 4096, 0);
	f->by_id->pdata[ID_PAGES] = pages;
	return f;
}

void ring_set_up(RingFixture *f, gconstpointer data)
{
	f->format = make_format();
	memset(&f->tasks, 0, sizeof(f->tasks));
	kmtd_own_tasks_add(&f->tasks, OUR_TID);
	kmtd_ring_init(&f->ring, f->format, &f->tasks);
}

void ring_tear_down(RingFixture *f, gconstpointer data)
{
	kmtd_ring_format_free(f->format);
}

void ring_decode(RingFixture *f, gsize n_bytes)
{
	kmtd_ring_begin(&f->ring, f->page.bytes, n_bytes);
	f->n = kmtd_ring_next(&f->ring, f->out, G_N_ELEMENTS(f->out));
}
