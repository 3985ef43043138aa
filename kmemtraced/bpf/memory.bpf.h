/* SPDX-License-Identifier: GPL-2.0-only */
/* From addresses to pages and back, and the size of an object. */
#ifndef KMEMTRACED_BPF_MEMORY_H
#define KMEMTRACED_BPF_MEMORY_H

#include "buffer.bpf.h"

extern const void vmemmap_base __ksym __weak;
extern const void page_offset_base __ksym __weak;
extern const void vmalloc_base __ksym __weak;

static __always_inline __u64 read_word(const void *from)
{
	__u64 value = 0;

	bpf_probe_read_kernel(&value, sizeof(value), from);
	return value;
}

/* Return the struct page of a page frame, or 0 if it is not known. */
static __always_inline __u64 page_of_frame(__u64 frame)
{
	__u64 base = &vmemmap_base ? read_word(&vmemmap_base) : 0;

	return base ? base + frame * settings.struct_page_bytes : 0;
}

/* Return the first page of the block of pages that has this page. */
static __always_inline __u64 head_of(__u64 page)
{
	const struct page *p = (const struct page *)page;
	__u64 word;

	if (bpf_core_field_exists(p->compound_head))
		word = BPF_CORE_READ(p, compound_head);
	else
		word = BPF_CORE_READ(p, compound_info);
	if (!(word & 1))
		return page;
	/* Since Linux 7.0, the word may be a mask for the address. */
	return word >> 40 == 0xffffff ? page & word : word - 1;
}

/* Return whether the first page of a block belongs to the slab allocator. */
static __always_inline bool is_slab(const struct page *page)
{
	if (bpf_core_enum_value_exists(enum pagetype, PGTY_slab))
		return BPF_CORE_READ(page, page_type) >> 24 ==
		       bpf_core_enum_value(enum pagetype, PGTY_slab);
	return read_word(page) >> bpf_core_enum_value(enum pageflags, PG_slab) &
	       1;
}

/* Return the order of the block whose first page is @page. */
static __always_inline __u32 block_order(__u64 page)
{
	const struct folio *folio = (const struct folio *)page;

	/* The flags are the first word of each version of struct page. */
	if (!(read_word((const void *)page) >>
		      bpf_core_enum_value(enum pageflags, PG_head) &
	      1))
		return 0;
	if (bpf_core_field_exists(folio->_folio_order))
		return BPF_CORE_READ(folio, _folio_order) & 31;
	return BPF_CORE_READ(folio, _flags_1) & 31;
}

/* Return the first page of the block that has the object at @address, or 0. */
static __always_inline __u64 block_of(__u64 address)
{
	__u64 base = &page_offset_base ? read_word(&page_offset_base) : 0;
	__u64 page;

	if (!base || address < base)
		return 0;
	page = page_of_frame((address - base) / settings.page_bytes);
	return page ? head_of(page) : 0;
}

/* Return the cache of the object at @address; 0: none, or not known. */
static __always_inline __u64 cache_of(__u64 address)
{
	__u64 block = block_of(address);

	if (!block || !is_slab((const struct page *)block))
		return 0;
	return (__u64)BPF_CORE_READ((const struct slab *)block, slab_cache);
}

/*
 * Return the size in bytes of the slab object at @address, or 0 if it is not
 * known.
 */
static __always_inline __u64 object_bytes(__u64 address)
{
	__u64 block = block_of(address);

	if (!block)
		return 0;
	if (is_slab((const struct page *)block))
		return BPF_CORE_READ((const struct slab *)block, slab_cache,
				     size);
	return (__u64)settings.page_bytes << block_order(block);
}

/*
 * Tell kmemtraced where the array of all struct page begins, and return the
 * tgid of the calling process. kmemtraced runs this program.
 */
SEC("raw_tp")
int describe_machine(void *ctx)
{
	state.pages = page_of_frame(0);
	state.memory = &page_offset_base ? read_word(&page_offset_base) : 0;
	state.vmalloc = &vmalloc_base ? read_word(&vmalloc_base) : 0;
	return bpf_get_current_pid_tgid() >> 32;
}

#endif
