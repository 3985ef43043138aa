/* SPDX-License-Identifier: GPL-2.0-only */
/* Pages that are allocated or freed without a tracepoint. */
#ifndef KMEMTRACED_BPF_PAGES_H
#define KMEMTRACED_BPF_PAGES_H

#include "memory.bpf.h"
#include "operation.bpf.h"

/*
 * Bulk allocation fills the unused elements of an array. The elements that were
 * used before, as a bitmap, from the entry of the function until its exit. Both
 * programs find the bitmap by the address of their arguments, which they share.
 */
#define PREFILLED_MAX 512

struct prefilled {
	__u64 bits[PREFILLED_MAX / 64];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u64);
	__type(value, struct prefilled);
} prefilled SEC(".maps");

struct bulk {
	struct operation operation;
	__u64 array; /* address of the array of pages, or 0 */
	__u64 list;  /* address of the next list_head of a page */
	bool any_used;
	struct prefilled used;
};

static int find_used(__u32 i, struct bulk *bulk)
{
	__u64 page = 0;

	bpf_probe_read_kernel(&page, sizeof(page),
			      (const void *)(bulk->array + i * sizeof(page)));
	if (page && i < PREFILLED_MAX) {
		bulk->any_used = true;
		bulk->used.bits[i / 64 % (PREFILLED_MAX / 64)] |= 1ULL
								  << i % 64;
	}
	return 0;
}

static __always_inline void bulk_arguments(__u64 *ctx, struct bulk *bulk,
					   __u64 *n)
{
	__u64 gfp = 0;

	bpf_get_func_arg(ctx, 0, &gfp);
	bulk->operation.gfp = gfp;
	bpf_get_func_arg(ctx, 3, n);
	*n = (__u32)*n;
	if (settings.page_bulk_has_list) {
		bpf_get_func_arg(ctx, 4, &bulk->list);
		bpf_get_func_arg(ctx, 5, &bulk->array);
	} else {
		bpf_get_func_arg(ctx, 4, &bulk->array);
	}
}

/*
 * unsigned long alloc_pages_bulk(gfp, node, nodemask, int n, [list,] array), at
 * its entry. The kernel skips this program only for bulk allocations in an
 * interrupt of itself; network drivers make those, with empty arrays.
 */
SEC("fentry")
int page_bulk_begin(__u64 *ctx)
{
	struct bulk bulk = {0};
	__u64 key = (__u64)ctx, n = 0;

	if (!state.recording)
		return 0;
	bulk_arguments(ctx, &bulk, &n);
	if (!bulk.array)
		return 0;
	bpf_loop(n, find_used, &bulk, 0);
	if (bulk.any_used)
		bpf_map_update_elem(&prefilled, &key, &bulk.used, BPF_ANY);
	else
		/* The kernel may have skipped the programs at an earlier exit.
		 */
		bpf_map_delete_elem(&prefilled, &key);
	return 0;
}

/* Record a page of the array, unless the element was used before. */
static int record_element(__u32 i, struct bulk *bulk)
{
	__u64 page = 0;

	if (bulk->any_used && i < PREFILLED_MAX &&
	    bulk->used.bits[i / 64 % (PREFILLED_MAX / 64)] & 1ULL << i % 64)
		return 0;
	bpf_probe_read_kernel(&page, sizeof(page),
			      (const void *)(bulk->array + i * sizeof(page)));
	return record_object(page, &bulk->operation);
}

/* Record a page of the list, whose newest page is the first one. */
static int record_listed(__u32 i, struct bulk *bulk)
{
	const struct list_head *at = (const struct list_head *)bulk->list;

	bulk->list = (__u64)BPF_CORE_READ(at, next);
	return record_object(bulk->list -
				     bpf_core_field_offset(struct page, lru),
			     &bulk->operation);
}

/* The same function, at its exit. */
static __always_inline int page_bulk(__u64 *ctx, bool second)
{
	struct bulk bulk = {
		.operation = {.kind = KMTD_BPF_PAGE_BULK, .node = -1}};
	__u64 key = (__u64)ctx, n = 0, result = 0;
	const struct prefilled *used;

	bulk_arguments(ctx, &bulk, &n);
	bpf_get_func_ret(ctx, &result);
	if (!begin_operation(ctx, KMTD_BPF_START_PAGE_BULK, second,
			     bulk.array + n, &bulk.operation))
		return 0;
	used = bpf_map_lookup_elem(&prefilled, &key);
	if (used) {
		bulk.any_used = true;
		bulk.used = *used;
		bpf_map_delete_elem(&prefilled, &key);
	}
	if (bulk.array)
		bpf_loop(n, record_element, &bulk, 0);
	else if (bulk.list)
		bpf_loop(result < n ? result : n, record_listed, &bulk, 0);
	return 0;
}

/* A block that becomes several blocks. */
struct split {
	struct operation operation;
	__u64 page;
	__u64 step; /* bytes from one struct page to that of the next block */
};

static int record_part(__u32 i, struct split *split)
{
	return record_object(split->page + i * split->step, &split->operation);
}

/* Record that the block of a page becomes blocks of another order. */
static __always_inline int split_block(__u64 *ctx, bool second, __u32 start_id,
				       __u64 page, __u32 order, __u32 new_order)
{
	struct split split = {
		.operation = {.kind = KMTD_BPF_PAGE_FREE, .node = -1}};

	if (order > 30 || new_order > order ||
	    !begin_operation(ctx, start_id, second, page, &split.operation))
		return 0;
	record_object(page, &split.operation);
	split.operation.kind = KMTD_BPF_PAGE_ALLOC;
	split.operation.a = new_order;
	split.page = page;
	split.step = (__u64)settings.struct_page_bytes << new_order;
	bpf_loop(1U << (order - new_order), record_part, &split, 0);
	return 0;
}

/*
 * void split_page_memcg(page, ...): each function that splits a block calls
 * this function before other code can use or free a part.
 */
static __always_inline int split(__u64 *ctx, bool second)
{
	__u64 page = 0, order = 0, new_order = 0;

	bpf_get_func_arg(ctx, 0, &page);
	bpf_get_func_arg(ctx, 1, &order);
	if (settings.split_has_new_order)
		bpf_get_func_arg(ctx, 2, &new_order);
	if (settings.split_by_number) {
		__u32 n = order;

		for (order = 0; order < 31 && 1U << order < n; order++)
			;
	}
	return split_block(ctx, second, KMTD_BPF_START_SPLIT, page, order,
			   new_order);
}

/* void folio_split_memcg_refs(folio, order, new_order), since Linux 6.15 */
static __always_inline int split_folio(__u64 *ctx, bool second)
{
	__u64 folio = 0, order = 0, new_order = 0;

	bpf_get_func_arg(ctx, 0, &folio);
	bpf_get_func_arg(ctx, 1, &order);
	bpf_get_func_arg(ctx, 2, &new_order);
	return split_block(ctx, second, KMTD_BPF_START_SPLIT_FOLIO, folio,
			   order, new_order);
}

/* int alloc_contig_range(first pfn, end pfn, ..., gfp) */
static __always_inline int contig(__u64 *ctx, bool second)
{
	struct split split = {
		.operation = {.kind = KMTD_BPF_PAGE_ALLOC, .node = -1}};
	__u64 first = 0, end = 0, gfp = 0, result = 0;

	bpf_get_func_arg(ctx, 0, &first);
	bpf_get_func_arg(ctx, 1, &end);
	bpf_get_func_arg(ctx, 3, &gfp);
	bpf_get_func_ret(ctx, &result);
	if ((__u32)result || end <= first || end - first > 1 << 30)
		return 0;
	split.page = page_of_frame(first);
	split.step = settings.struct_page_bytes;
	split.operation.gfp = gfp;
	if (!split.page || !begin_operation(ctx, KMTD_BPF_START_CONTIG, second,
					    first, &split.operation))
		return 0;
	if (gfp & settings.gfp_comp) {
		while (split.operation.a < 31 &&
		       1ULL << split.operation.a < end - first)
			split.operation.a++;
		return record_object(split.page, &split.operation);
	}
	bpf_loop(end - first, record_part, &split, 0);
	return 0;
}

/* struct page or folio *compaction_alloc(source, data): a target of migration
 */
static __always_inline int migration_target(__u64 *ctx, bool second)
{
	struct operation operation = {.kind = KMTD_BPF_PAGE_ALLOC, .node = -1};
	__u64 page = 0;

	bpf_get_func_ret(ctx, &page);
	if (!page || !begin_operation(ctx, KMTD_BPF_START_TARGET, second, page,
				      &operation))
		return 0;
	operation.a = block_order(page);
	return record_object(page, &operation);
}

/* void compaction_free(target, data): the target was not used. */
static __always_inline int unused_target(__u64 *ctx, bool second)
{
	struct operation operation = {.kind = KMTD_BPF_PAGE_FREE, .node = -1};
	__u64 page = 0;

	bpf_get_func_arg(ctx, 0, &page);
	if (begin_operation(ctx, KMTD_BPF_START_UNUSED_TARGET, second, page,
			    &operation))
		record_object(page, &operation);
	return 0;
}

HOOK("fexit", page_bulk)
HOOK("fentry", split)
HOOK("fentry", split_folio)
HOOK("fexit", contig)
HOOK("fexit", migration_target)
HOOK("fentry", unused_target)

#endif
