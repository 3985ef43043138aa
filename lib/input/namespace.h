/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Address spaces: the same address may be live in each of them at once. */
#ifndef KMEMTRACE_INPUT_NAMESPACE_H
#define KMEMTRACE_INPUT_NAMESPACE_H

#include <glib.h>
#include <kmemtrace_abi.h>

typedef enum {
	KMT_INPUT_NAMESPACE_SLAB, /* kmalloc and cache */
	KMT_INPUT_NAMESPACE_PAGES,
	KMT_INPUT_NAMESPACE_PERCPU,
	KMT_INPUT_NAMESPACE_VMALLOC,
	KMT_INPUT_N_NAMESPACES
} KmtInputNamespace;

/* Of an enum kmemtrace_type_id. */
static inline KmtInputNamespace kmt_input_namespace_of(guint type)
{
	G_STATIC_ASSERT(
		KMEMTRACE_TYPE_KMALLOC == 0 && KMEMTRACE_TYPE_CACHE == 1 &&
		KMEMTRACE_TYPE_PAGES == KMT_INPUT_NAMESPACE_PAGES + 1 &&
		KMEMTRACE_TYPE_PERCPU == KMT_INPUT_NAMESPACE_PERCPU + 1 &&
		KMEMTRACE_TYPE_VMALLOC == KMT_INPUT_NAMESPACE_VMALLOC + 1);
	return (KmtInputNamespace)(type - (type != 0));
}

/* The last type that records of this size may have: version 1 had three. */
static inline guint kmt_input_last_type(guint record_size)
{
	return record_size < KMEMTRACE_EVENT_SIZE_V2 ? KMEMTRACE_TYPE_PAGES
						     : KMEMTRACE_TYPE_VMALLOC;
}

/* Spaces differ in bits that the addresses of a kernel have in common: two of
 * them in none, but their addresses do. */
static inline guint64 kmt_input_namespace_bits(guint type)
{
	G_STATIC_ASSERT(KMEMTRACE_TYPE_CACHE < 2 && KMEMTRACE_TYPE_PAGES == 2 &&
			KMEMTRACE_TYPE_PERCPU == 3 &&
			KMEMTRACE_TYPE_VMALLOC == 4);
	return (guint64)(type >> 1) << 61;
}

/* The lower bits of a hash that the table of addresses does not use. */
#define KMT_INPUT_HASH_SPARE_BITS 26

/*
 * Of an address and its space: the upper bits are good, and no two of one space
 * have the same.  seed is odd, and random.
 */
static inline guint64 kmt_input_address_hash(guint64 seed, guint64 ptr,
					     guint type)
{
	return (ptr ^ kmt_input_namespace_bits(type)) * seed;
}

#endif
