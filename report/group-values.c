// SPDX-License-Identifier: GPL-2.0-or-later
/* The value of an allocation in each dimension by which a report groups. */
#include "config.h"

#include <string.h>

#include "lib/base/printable.h"
#include "report/groups-private.h"

/* Entry of KmtGroups.values for a value that depends on more than its source.
 */
#define NO_VALUE G_MAXUINT64

static guint64 text_number(KmtGroups *groups, const char *text)
{
	guint64 hash = kmt_hash(groups->seed, kmt_str_hash(text));
	guint32 number =
		kmt_index_find(&groups->text_index, groups, hash, text);

	if (number != KMT_INDEX_NONE)
		return number;
	g_ptr_array_add(groups->texts,
			g_string_chunk_insert(groups->text_bytes, text));
	kmt_index_add(&groups->text_index, groups, hash);
	return groups->texts->len - 1;
}

static guint64 function_value(KmtGroups *groups, const KmtSymSite *site)
{
	g_autofree char *text = NULL;
	KmtSymbol symbol;

	if (!kmt_symbolizer_symbol(groups->options.symbolizer, site, &symbol))
		text = g_strdup_printf("0x%016" G_GINT64_MODIFIER "x",
				       site->address);
	else if (symbol.module)
		text = g_strdup_printf("%s [%s]", symbol.name, symbol.module);
	return text_number(groups, text ? text : symbol.name);
}

static guint64 module_value(KmtGroups *groups, const KmtMatchKey *key)
{
	KmtSymSite site = kmt_groups_key_site(groups, key);
	KmtSymbol symbol;
	const char *module = "(unknown)";

	if (kmt_symbolizer_symbol(groups->options.symbolizer, &site, &symbol))
		module = symbol.module ? symbol.module : "vmlinux";
	return text_number(groups, module);
}

static guint64 directory_value(KmtGroups *groups, const KmtMatchKey *key)
{
	KmtSymSite site = kmt_groups_key_site(groups, key);
	const char *directory =
		kmt_symbolizer_directory(groups->options.symbolizer, &site);

	return text_number(groups, directory ? directory : "(unknown)");
}

/*
 * Return the name of a key's cache, or NULL if the key has no cache or the
 * table lacks it.
 */
static const char *cache_name(const KmtGroups *groups, const KmtMatchKey *key)
{
	const KmtInputCache *cache = NULL;

	if (key->has_owner && key->cache)
		cache = kmt_input_tables_cache(groups->options.tables,
					       key->cache);
	return cache ? cache->name : NULL;
}

/* Return the index of the text of a cache. Records of version 1 do not identify
 * the cache, and records of kmalloc never do. The allocated size then
 * distinguishes caches. */
static guint64 cache_value(KmtGroups *groups, const KmtMatchKey *key,
			   guint64 bytes_alloc)
{
	const char *name = cache_name(groups, key);
	g_autofree char *text = NULL;
	guint order = 0;

	if (name) {
		text = kmt_printable(name);
		return text_number(groups, text);
	}
	switch ((KmtKind)key->type) {
	case KMT_KIND_KMALLOC:
		text = g_strdup_printf("kmalloc-%" G_GUINT64_FORMAT,
				       bytes_alloc);
		break;
	case KMT_KIND_CACHE:
		text = g_strdup_printf("(objects of %" G_GUINT64_FORMAT
				       " bytes)",
				       bytes_alloc);
		break;
	case KMT_KIND_PERCPU:
		return text_number(groups, "(per-CPU memory)");
	case KMT_KIND_VMALLOC:
		return text_number(groups, "(vmalloc)");
	default:
		while (order < 32 &&
		       bytes_alloc > (G_GUINT64_CONSTANT(4096) << order))
			order++;
		text = g_strdup_printf("(pages of order %u)", order);
	}
	return text_number(groups, text);
}

/* Return the index of the text of a name from a table of tasks. */
static guint64 task_value(KmtGroups *groups, const KmtMatchKey *key,
			  const char *name)
{
	g_autofree char *text = NULL;

	if (!key->has_owner)
		return text_number(groups, "(not recorded)");
	if (!name)
		return text_number(groups, "(unknown)");
	text = kmt_printable(name);
	return text_number(groups, text);
}

static guint64 context_value(KmtGroups *groups, const KmtMatchKey *key)
{
	const char *context = "task";

	if (!key->has_owner)
		context = "(not recorded)";
	else if (key->context & KMEMTRACE_FLAG_HARDIRQ)
		context = "hardirq";
	else if (key->context & KMEMTRACE_FLAG_SOFTIRQ)
		context = "softirq";
	return text_number(groups, context);
}

KmtChain kmt_groups_chain_of(const KmtGroups *groups, guint32 class_id,
			     const KmtMatchKey *key)
{
	KmtChain chain = {.addresses = NULL};
	KmtSymSite site;
	gint64 time;

	if (key->has_owner && key->stack != KMEMTRACE_STACK_NONE)
		chain.addresses = kmt_input_tables_stack(groups->options.tables,
							 key->stack, &chain.n);
	if (!chain.addresses) {
		chain.addresses = kmt_match_keys_site_of_class(
			groups->match_keys, class_id);
		chain.n = 1;
	}
	/* If the call site is the address of a tag, the chain begins with a
	 * return address. */
	time = *chain.addresses == key->call_site ? key->tag_time : G_MAXINT64;
	site = kmt_symbolizer_alloc_site(groups->options.symbolizer,
					 *chain.addresses, time);
	chain.tag = site.tag;
	return chain;
}

/*
 * Return the index of the chain of a class. Find the chain by its addresses,
 * because a chain without a recorded stack has no stack number.
 */
static guint64 stack_value(KmtGroups *groups, guint32 class_id,
			   const KmtMatchKey *key)
{
	KmtChain chain = kmt_groups_chain_of(groups, class_id, key);
	guint64 hash = kmt_groups_hash(groups, chain.addresses, chain.n);
	guint32 number =
		kmt_index_find(&groups->chain_index, groups, hash, &chain);

	if (number != KMT_INDEX_NONE)
		return number;
	g_array_append_val(groups->chains, chain);
	kmt_index_add(&groups->chain_index, groups, hash);
	return groups->chains->len - 1;
}

KmtSymSite kmt_groups_frame(const KmtGroups *groups, const KmtChain *chain,
			    guint i)
{
	if (i == 0)
		return (KmtSymSite){chain->addresses[0], chain->tag};
	return kmt_symbolizer_alloc_site(groups->options.symbolizer,
					 chain->addresses[i], G_MAXINT64);
}

/* Return the index of the text of the innermost function of the call chain of a
 * class that is not a known wrapper function; NO_VALUE if all functions are
 * wrappers. */
static guint64 chain_owner_value(KmtGroups *groups, guint32 class_id,
				 const KmtMatchKey *key)
{
	KmtChain chain = kmt_groups_chain_of(groups, class_id, key);
	KmtSymbol symbol;
	guint i;

	for (i = 0; groups->options.skip && i < chain.n; i++) {
		KmtSymSite site = kmt_groups_frame(groups, &chain, i);

		if (!kmt_symbolizer_symbol(groups->options.symbolizer, &site,
					   &symbol) ||
		    !kmt_sym_wrappers_matches(groups->options.skip,
					      symbol.name))
			return function_value(groups, &site);
	}
	return NO_VALUE;
}

/* Return the index of the owner's text: that of the chain, or else the function
 * of the call site. */
static guint64 owner_value(KmtGroups *groups, guint32 class_id,
			   const KmtMatchKey *key)
{
	guint64 value = chain_owner_value(groups, class_id, key);
	KmtSymSite site;

	if (value != NO_VALUE)
		return value;
	site = kmt_groups_key_site(groups, key);
	return function_value(groups, &site);
}

/* Return the value of a class in a dimension whose values are indexes. */
static guint64 index_value(KmtGroups *groups, KmtDimension dimension,
			   guint32 class_id, const KmtMatchKey *key,
			   guint64 bytes_alloc)
{
	KmtSymSite site;

	switch (dimension) {
	case KMT_BY_MODULE:
		return module_value(groups, key);
	case KMT_BY_DIRECTORY:
		return directory_value(groups, key);
	case KMT_BY_CACHE:
		return cache_value(groups, key, bytes_alloc);
	case KMT_BY_COMM:
		return task_value(groups, key, key->comm);
	case KMT_BY_CGROUP:
		return task_value(groups, key, key->cgroup);
	case KMT_BY_CONTEXT:
		return context_value(groups, key);
	case KMT_BY_OWNER:
		return owner_value(groups, class_id, key);
	case KMT_BY_STACK:
		return stack_value(groups, class_id, key);
	case KMT_BY_FUNCTION:
	default:
		site = kmt_groups_key_site(groups, key);
		return function_value(groups, &site);
	}
}

static gboolean has_stack(const KmtMatchKey *key)
{
	return key->has_owner && key->stack != KMEMTRACE_STACK_NONE;
}

/* Return the value of a class with a stack in the dimension stack or owner, or
 * NO_VALUE if the value does not depend on the number of the stack only. */
static guint64 value_of_stack(KmtGroups *groups, KmtDimension dimension,
			      guint32 class_id, const KmtMatchKey *key)
{
	guint n;

	if (key->tag_time != G_MAXINT64 ||
	    !kmt_input_tables_stack(groups->options.tables, key->stack, &n))
		return NO_VALUE;
	return dimension == KMT_BY_STACK
		       ? stack_value(groups, class_id, key)
		       : chain_owner_value(groups, class_id, key);
}

/*
 * Return index_value() of a class. The value is computed once for all classes
 * that agree in the properties on which the value depends: most classes differ
 * only in others.
 */
static guint64 stored_value(KmtGroups *groups, KmtDimension dimension,
			    guint32 class_id, const KmtMatchKey *key,
			    guint64 bytes_alloc)
{
	guint64 source[KMT_GROUPS_SOURCE_WORDS] = {(guint64)dimension << 1 |
						   (key->has_owner ? 1 : 0)};
	const gboolean by_stack =
		(dimension == KMT_BY_STACK || dimension == KMT_BY_OWNER) &&
		has_stack(key);
	guint64 value;
	guint32 number;

	switch (dimension) {
	case KMT_BY_CACHE:
		source[1] = key->type;
		source[2] = key->cache;
		source[3] = bytes_alloc;
		break;
	case KMT_BY_COMM:
		source[1] = (guintptr)key->comm;
		break;
	case KMT_BY_CGROUP:
		source[1] = (guintptr)key->cgroup;
		break;
	case KMT_BY_CONTEXT:
		source[1] = key->context;
		break;
	default:
		/* An entry for each pair of call site and stack would take much
		 * memory. */
		source[1] = by_stack ? 0 : key->call_site;
		source[2] = by_stack ? key->stack : 0;
		source[3] = (guint64)key->tag_time;
	}
	number = kmt_match_intern_get(groups->sources, source);
	if (number == groups->values->len) {
		value = by_stack ? value_of_stack(groups, dimension, class_id,
						  key)
				 : index_value(groups, dimension, class_id, key,
					       bytes_alloc);
		g_array_append_val(groups->values, value);
	}
	value = g_array_index(groups->values, guint64, number);
	return value != NO_VALUE ? value
				 : index_value(groups, dimension, class_id, key,
					       bytes_alloc);
}

guint64 kmt_groups_value_of(KmtGroups *groups, KmtDimension dimension,
			    guint32 class_id, const KmtMatchKey *key,
			    guint64 bytes_alloc)
{
	const KmtInputCpuFile *file =
		groups->options.capture->files->pdata[key->file];

	switch (dimension) {
	case KMT_BY_CALLSITE:
		return key->call_site;
	case KMT_BY_KIND:
		return key->type;
	case KMT_BY_SIZE:
		return bytes_alloc;
	case KMT_BY_CPU:
		return file->cpu;
	case KMT_BY_NODE:
		return (guint64)(gint64)MAX(key->node, -1);
	case KMT_BY_PID:
		return key->has_owner ? key->pid : NO_PID;
	case KMT_BY_MARK:
		return key->phase;
	case KMT_BY_GFP:
		return key->gfp_flags;
	default:
		return stored_value(groups, dimension, class_id, key,
				    bytes_alloc);
	}
}
