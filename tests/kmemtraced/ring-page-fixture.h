/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pages of the ring buffer that tests build word by word, and a decoder of
 * pages. */
#ifndef KMEMTRACE_TESTS_RING_PAGE_FIXTURE_H
#define KMEMTRACE_TESTS_RING_PAGE_FIXTURE_H

#include "kmemtraced/ring-format.h"

#define PAGE	    4096
#define HEADER	    16
#define ID_KMALLOC  10
#define ID_KFREE    11
#define ID_PAGES    12
#define ID_RENAME   13
#define OUR_TID	    77
#define MISSED	    (1U << 31)
#define SOFTIRQ	    0x10
#define NS(n)	    ((guint64)(n))
#define KMALLOC_LEN 48
#define KFREE_LEN   24

typedef struct {
	guint8 bytes[PAGE];
	gsize used; /* bytes of data after the header */
} RingPage;

/* The data of a tracepoint kmem:kmalloc. */
typedef struct __attribute__((packed)) {
	guint16 type;
	guint8 flags, preempt;
	gint32 pid;
	guint64 call_site, ptr, req, alloc;
	guint32 gfp;
	gint32 node;
} KmallocEvent;
G_STATIC_ASSERT(sizeof(KmallocEvent) == KMALLOC_LEN);

/* A decoder of pages, and the records of the last page. */
typedef struct {
	KmtdRingFormat *format;
	KmtdOwnTasks tasks;
	KmtdRing ring;
	RingPage page;
	struct kmemtrace_event_v2 out[512];
	gsize n;
} RingFixture;

/* Begin a page whose first event is relative to a time. */
void page_start(RingPage *page, guint64 time_ns);

/* Store the number of data bytes of a page, combined with flags such as MISSED.
 */
void page_end(RingPage *page, guint64 flags);

/* Append a word. */
void put_word(RingPage *page, guint32 word);

/* Return the first word of an event. */
guint32 event_head(guint type, guint32 delta);

/* Append an event that changes the time. Type 30 adds a difference; type 31 is
 * an absolute time. */
void put_extend(RingPage *page, guint type, guint64 time);

/*
 * Append an event with n bytes of data. is_long selects the layout that stores
 * the length in a separate word after the event's head.
 */
void put_data(RingPage *page, guint32 delta, const void *data, gsize n,
	      gboolean is_long);

/* Return a kmalloc of 100 bytes by the task 1. */
KmallocEvent kmalloc_event(guint64 ptr);

/* Append a kmalloc by the task 1. */
void put_kmalloc(RingPage *page, guint32 delta, guint64 ptr);

/* Append a kmalloc by a task, with the flags of the event. */
void put_task_kmalloc(RingPage *page, guint64 ptr, gint32 pid, guint8 flags);

/* Append a kfree by a task, with the flags of the event. */
void put_kfree(RingPage *page, guint64 ptr, gint32 pid, guint8 flags);

/* Functions of a test case. */
void ring_set_up(RingFixture *f, gconstpointer data);
void ring_tear_down(RingFixture *f, gconstpointer data);

/* Decode the first n_bytes of the page to f->out. */
void ring_decode(RingFixture *f, gsize n_bytes);

#endif
