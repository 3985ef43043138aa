/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Address namespaces. The same address may be live in several namespaces at the
 * same time, so an object is identified by address and namespace.
 */
#ifndef KMEMTRACE_INPUT_NAMESPACE_H
#define KMEMTRACE_INPUT_NAMESPACE_H

#include <glib.h>
#include <kmemtrace_abi.h>

typedef enum {
	KMT_INPUT_NAMESPACE_SLAB, /* objects of kmalloc() and of slab caches */
	KMT_INPUT_NAMESPACE_PAGES,
	KMT_INPUT_NAMESPACE_PERCPU,
	KMT_INPUT_NAMESPACE_VMALLOC,
	KMT_INPUT_N_NAMESPACES
} KmtInputNamespace;

/* Return the namespace of a type. type is an enum kmemtrace_type_id. */
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
 * Return the highest type id that a record of this size can contain.
 * record_size is in bytes. Version 1 has only three types.
 */
static inline guint kmt_input_last_type(guint record_size)
{
	return record_size < KMEMTRACE_EVENT_SIZE_V2 ? KMEMTRACE_TYPE_PAGES
						     : KMEMTRACE_TYPE_VMALLOC;
}

/*
 * Return the bits that are XORed into an address of the given type before
 * hashing, so that one hash table can serve all four namespaces. The two lowest
 * bits of kernel addresses are 0, and XOR with these bits separates the
 * namespaces. Pages and per-CPU allocations share one value, because per-CPU
 * pointers are offsets, which differ from page addresses. Lookups compare the
 * namespace as well. Low bits cost an instruction less per record than high
 * bits, which need a shift.
 */
static inline guint64 kmt_input_namespace_bits(guint type)
{
	G_STATIC_ASSERT(KMEMTRACE_TYPE_CACHE < 2 && KMEMTRACE_TYPE_PAGES == 2 &&
			KMEMTRACE_TYPE_PERCPU == 3 &&
			KMEMTRACE_TYPE_VMALLOC == 4);
	return type >> 1;
}

/*
 * Number of low bits of a hash that the object table leaves unused. The shard
 * queue selects the shard by these bits.
 */
#define KMT_INPUT_HASH_SPARE_BITS 26

/*
 * Return the hash of an address in the namespace of type. The upper bits are
 * well mixed. The function is a bijection on addresses, so two addresses of one
 * namespace never have the same hash. seed is random and must be odd.
 */
static inline guint64 kmt_input_address_hash(guint64 seed, guint64 ptr,
					     guint type)
{
	return (ptr ^ kmt_input_namespace_bits(type)) * seed;
}

#endif
