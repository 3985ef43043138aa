/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Address spaces: the same address may be live in each of them at once. */
#ifndef KMEMTRACE_SPACE_H
#define KMEMTRACE_SPACE_H

#include <glib.h>
#include <kmemtrace_abi.h>

typedef enum {
	KMT_SPACE_SLAB, /* kmalloc and cache */
	KMT_SPACE_PAGES,
	KMT_SPACE_PERCPU,
	KMT_SPACE_VMALLOC,
	KMT_N_SPACES
} KmtSpace;

/* Of an enum kmemtrace_type_id. */
static inline KmtSpace kmt_space_of(guint type)
{
	G_STATIC_ASSERT(KMEMTRACE_TYPE_KMALLOC == 0 &&
			KMEMTRACE_TYPE_CACHE == 1 &&
			KMEMTRACE_TYPE_PAGES == KMT_SPACE_PAGES + 1 &&
			KMEMTRACE_TYPE_PERCPU == KMT_SPACE_PERCPU + 1 &&
			KMEMTRACE_TYPE_VMALLOC == KMT_SPACE_VMALLOC + 1);
	return (KmtSpace)(type - (type != 0));
}

/* The last type that records of this size may have: version 1 had three. */
static inline guint kmt_last_type(guint record_size)
{
	return record_size < KMEMTRACE_EVENT_SIZE_V2 ? KMEMTRACE_TYPE_PAGES
						     : KMEMTRACE_TYPE_VMALLOC;
}

#endif
