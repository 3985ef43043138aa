/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Address namespaces: the same address may be live in each namespace at once.
 */
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

/* Return the namespace of an enum kmemtrace_type_id. */
static inline KmtInputNamespace kmt_input_namespace_of(guint type)
{
	G_STATIC_ASSERT(
		KMEMTRACE_TYPE_KMALLOC == 0 && KMEMTRACE_TYPE_CACHE == 1 &&
		KMEMTRACE_TYPE_PAGES == KMT_INPUT_NAMESPACE_PAGES + 1 &&
		KMEMTRACE_TYPE_PERCPU == KMT_INPUT_NAMESPACE_PERCPU + 1 &&
		KMEMTRACE_TYPE_VMALLOC == KMT_INPUT_NAMESPACE_VMALLOC + 1);
	return (KmtInputNamespace)(type - (type != 0));
}

/*
 * Return the last type that records of this size may have. Version 1 has three
 * types.
 */
static inline guint kmt_input_last_type(guint record_size)
{
	return record_size < KMEMTRACE_EVENT_SIZE_V2 ? KMEMTRACE_TYPE_PAGES
						     : KMEMTRACE_TYPE_VMALLOC;
}

/* Return the bits by which the addresses of a namespace are changed, so that
 * one hash table serves all four namespaces. The upper bits of kernel addresses
 * are equal; each namespace changes them differently. */
static inline guint64 kmt_input_namespace_bits(guint type)
{
	G_STATIC_ASSERT(KMEMTRACE_TYPE_CACHE < 2 && KMEMTRACE_TYPE_PAGES == 2 &&
			KMEMTRACE_TYPE_PERCPU == 3 &&
			KMEMTRACE_TYPE_VMALLOC == 4);
	return (guint64)(type >> 1) << 61;
}

/* Lower bits of a hash that the object table does not use. */
#define KMT_INPUT_HASH_SPARE_BITS 26

/*
 * Return the hash of an address in its namespace. The upper bits are well
 * mixed, and no two addresses of one namespace have the same hash. seed is odd
 * and random.
 */
static inline guint64 kmt_input_address_hash(guint64 seed, guint64 ptr,
					     guint type)
{
	return (ptr ^ kmt_input_namespace_bits(type)) * seed;
}

#endif
