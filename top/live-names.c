// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "top/live-names.h"

#include "lib/base/printable.h"
#include "lib/output/capture-symbols.h"

#define UNKNOWN	     "(unknown)"
#define NOT_RECORDED "(not recorded)"

struct KmtTopNames {
	const KmtInputCapture *capture;
	char *vmlinux, *source_tree, *debug_directory;
	gboolean live;
	KmtInputTables *first_tables; /* of kmt_top_names_new() */
	GMutex lock;
	/* Protected by the lock: */
	KmtInputTables *tables;
	KmtSymbolizer *symbolizer;
	GStringChunk *chunk;  /* owns all texts */
	GHashTable *interned; /* set of raw task names in chunk */
	GHashTable *groups;   /* text in chunk -> number of the group */
	GHashTable *sites;    /* address -> number of the group */
	GPtrArray *texts;     /* text of each group, in chunk */
};

/* ---- tables ---- */

static KmtSymbolizer *open_symbols(const KmtTopNames *names, GError **error)
{
	g_autoptr(GPtrArray) warnings = g_ptr_array_new_with_free_func(g_free);
	KmtSymbolizerOptions options = {
		.vmlinux = names->vmlinux,
		.debug_dir = names->debug_directory,
		.source = names->source_tree,
	};

	return kmt_output_open_symbols(names->capture, &options, warnings,
				       error);
}

KmtTopNames *kmt_top_names_new(const KmtInputCapture *capture,
			       const KmtTopNamesOptions *options,
			       GError **error)
{
	KmtTopNames *names = g_new0(KmtTopNames, 1);

	names->capture = capture;
	names->vmlinux = g_strdup(options->vmlinux);
	names->source_tree = g_strdup(options->source_tree);
	names->debug_directory = g_strdup(options->debug_directory);
	names->live = options->live;
	names->chunk = g_string_chunk_new(1 << 16);
	names->interned = g_hash_table_new(g_str_hash, g_str_equal);
	names->groups = g_hash_table_new(g_str_hash, g_str_equal);
	names->sites = g_hash_table_new_full(g_int64_hash, g_int64_equal,
					     g_free, NULL);
	names->texts = g_ptr_array_new();
	names->first_tables = kmt_input_tables_new(capture);
	names->tables = names->first_tables;
	g_mutex_init(&names->lock);
	names->symbolizer = open_symbols(names, error);
	if (!names->symbolizer)
		g_clear_pointer(&names, kmt_top_names_free);
	return names;
}

void kmt_top_names_free(KmtTopNames *names)
{
	if (!names)
		return;
	if (names->tables != names->first_tables)
		kmt_input_tables_free(names->tables);
	kmt_input_tables_free(names->first_tables);
	g_clear_pointer(&names->symbolizer, kmt_symbolizer_free);
	g_hash_table_unref(names->interned);
	g_hash_table_unref(names->groups);
	g_hash_table_unref(names->sites);
	g_ptr_array_unref(names->texts);
	g_string_chunk_free(names->chunk);
	g_mutex_clear(&names->lock);
	g_free(names->vmlinux);
	g_free(names->source_tree);
	g_free(names->debug_directory);
	g_free(names);
}

const KmtInputTables *kmt_top_names_tables(const KmtTopNames *names)
{
	return names->first_tables;
}

/* ---- texts ---- */

static guint32 add_text(KmtTopNames *names, const char *text)
{
	g_ptr_array_add(names->texts, (gpointer)text);
	return names->texts->len - 1;
}

/* Return the number of the group with this text, which is printable. */
static guint32 text_number(KmtTopNames *names, const char *text)
{
	gpointer found;
	const char *copy;
	guint32 number;

	if (g_hash_table_lookup_extended(names->groups, text, NULL, &found))
		return GPOINTER_TO_UINT(found);
	copy = g_string_chunk_insert(names->chunk, text);
	number = add_text(names, copy);
	g_hash_table_insert(names->groups, (gpointer)copy,
			    GUINT_TO_POINTER(number));
	return number;
}

/* Return the text of a call site. Its address identifies a call site, because
 * two static functions may have the same name. */
static const char *site_text(KmtTopNames *names, guint64 address)
{
	KmtSymSite site = kmt_symbolizer_alloc_site(names->symbolizer, address,
						    G_MAXINT64);
	g_autofree char *text = NULL;

	if (!address)
		return g_string_chunk_insert_const(names->chunk,
						   "(caller not recorded)");
	text = kmt_symbolizer_format(names->symbolizer, &site);
	if (!text)
		text = g_strdup_printf("0x%016" G_GINT64_MODIFIER "x", address);
	return g_string_chunk_insert_const(names->chunk, text);
}

static guint32 site_number(KmtTopNames *names, guint64 address)
{
	gpointer found;
	guint32 number;

	if (g_hash_table_lookup_extended(names->sites, &address, NULL, &found))
		return GPOINTER_TO_UINT(found);
	number = add_text(names, site_text(names, address));
	g_hash_table_insert(names->sites, g_memdup2(&address, sizeof(address)),
			    GUINT_TO_POINTER(number));
	return number;
}

static guint32 module_number(KmtTopNames *names, guint64 address)
{
	KmtSymSite site = kmt_symbolizer_alloc_site(names->symbolizer, address,
						    G_MAXINT64);
	KmtSymbol symbol;

	if (!kmt_symbolizer_symbol(names->symbolizer, &site, &symbol))
		return text_number(names, UNKNOWN);
	return text_number(names, symbol.module ? symbol.module : "vmlinux");
}

/* Without the sources of directories, group by module instead. */
static guint32 directory_number(KmtTopNames *names, guint64 address)
{
	KmtSymSite site = kmt_symbolizer_alloc_site(names->symbolizer, address,
						    G_MAXINT64);
	const KmtSymbolizer *symbolizer = names->symbolizer;
	const char *directory;

	if (!symbolizer->dwarf && !symbolizer->tree && !symbolizer->tags)
		return module_number(names, address);
	directory = kmt_symbolizer_directory(symbolizer, &site);
	return text_number(names, directory ? directory : UNKNOWN);
}

/* Return the group of an object whose record does not name its cache. */
static guint32 size_number(KmtTopNames *names, guint type, guint64 bytes)
{
	g_autofree char *text = NULL;
	guint order = 0;

	switch (type) {
	case KMEMTRACE_TYPE_KMALLOC:
		text = g_strdup_printf("kmalloc-%" G_GUINT64_FORMAT, bytes);
		break;
	case KMEMTRACE_TYPE_CACHE:
		text = g_strdup_printf(
			"(objects of %" G_GUINT64_FORMAT " bytes)", bytes);
		break;
	case KMEMTRACE_TYPE_PERCPU:
		return text_number(names, "(per-CPU memory)");
	case KMEMTRACE_TYPE_VMALLOC:
		return text_number(names, "(vmalloc)");
	default:
		while (order < 32 &&
		       bytes > (G_GUINT64_CONSTANT(4096) << order))
			order++;
		text = g_strdup_printf("(pages of order %u)", order);
	}
	return text_number(names, text);
}

static guint32 cache_number(KmtTopNames *names, const KmtMatchKey *key,
			    guint64 bytes_alloc)
{
	const KmtInputCache *cache = NULL;
	g_autofree char *text = NULL;

	if (key->has_owner && key->cache)
		cache = kmt_input_tables_cache(names->tables, key->cache);
	if (!cache)
		return size_number(names, key->type, bytes_alloc);
	text = kmt_printable(cache->name);
	return text_number(names, text);
}

static guint32 command_number(KmtTopNames *names, const KmtMatchKey *key)
{
	g_autofree char *text = NULL;

	if (!key->has_owner)
		return text_number(names, NOT_RECORDED);
	if (!key->comm)
		return text_number(names, UNKNOWN);
	text = kmt_printable(key->comm);
	return text_number(names, text);
}

guint32 kmt_top_names_group(KmtTopNames *names, KmtTopGrouping grouping,
			    const KmtMatchKey *key, guint64 bytes_alloc)
{
	g_autoptr(GMutexLocker) locker = g_mutex_locker_new(&names->lock);

	switch (grouping) {
	case KMT_TOP_BY_CACHE:
		return cache_number(names, key, bytes_alloc);
	case KMT_TOP_BY_COMMAND:
		return command_number(names, key);
	case KMT_TOP_BY_MODULE:
		return module_number(names, key->call_site);
	case KMT_TOP_BY_DIRECTORY:
		return directory_number(names, key->call_site);
	default:
		return site_number(names, key->call_site);
	}
}

const char *kmt_top_names_text(KmtTopNames *names, guint32 group)
{
	g_autoptr(GMutexLocker) locker = g_mutex_locker_new(&names->lock);

	return names->texts->pdata[group];
}

/* ---- tasks ---- */

/* Return the one copy of a raw name. */
static const char *intern(KmtTopNames *names, const char *name)
{
	const char *copy = g_hash_table_lookup(names->interned, name);

	if (copy)
		return copy;
	copy = g_string_chunk_insert(names->chunk, name);
	g_hash_table_add(names->interned, (gpointer)copy);
	return copy;
}

static char *name_in_proc(guint32 pid)
{
	g_autofree char *path = g_strdup_printf("/proc/%u/comm", pid);
	char *text = NULL;

	if (!g_file_get_contents(path, &text, NULL, NULL))
		return NULL;
	return g_strchomp(text);
}

const char *kmt_top_names_task(gpointer user, guint32 pid, gint64 time)
{
	KmtTopNames *names = user;
	g_autoptr(GMutexLocker) locker = g_mutex_locker_new(&names->lock);
	const char *name =
		kmt_input_tables_task_name(names->tables, pid, time, NULL);
	g_autofree char *text = NULL;

	if (!name && names->live)
		name = text = name_in_proc(pid);
	return name ? intern(names, name) : NULL;
}

/* ---- refresh and details ---- */

static void refresh_sites(KmtTopNames *names)
{
	GHashTableIter iter;
	gpointer address, number;

	g_hash_table_iter_init(&iter, names->sites);
	while (g_hash_table_iter_next(&iter, &address, &number))
		names->texts->pdata[GPOINTER_TO_UINT(number)] =
			(gpointer)site_text(names, *(guint64 *)address);
}

void kmt_top_names_refresh(KmtTopNames *names, gboolean symbols)
{
	KmtSymbolizer *symbolizer = symbols ? open_symbols(names, NULL) : NULL;
	KmtInputTables *tables = kmt_input_tables_new(names->capture);
	g_autoptr(GMutexLocker) locker = g_mutex_locker_new(&names->lock);

	if (names->tables != names->first_tables)
		kmt_input_tables_free(names->tables);
	names->tables = tables;
	if (!symbolizer)
		return;
	kmt_symbolizer_free(names->symbolizer);
	names->symbolizer = symbolizer;
	refresh_sites(names);
}

static const char *chunk_text(KmtTopNames *names, const char *text)
{
	g_autofree char *printable = text ? kmt_printable(text) : NULL;

	return printable ? g_string_chunk_insert_const(names->chunk, printable)
			 : NULL;
}

KmtTopSite kmt_top_names_site(KmtTopNames *names, guint64 address)
{
	g_autoptr(GMutexLocker) locker = g_mutex_locker_new(&names->lock);
	KmtSymSite site = kmt_symbolizer_alloc_site(names->symbolizer, address,
						    G_MAXINT64);
	KmtTopSite properties = {NULL};
	KmtSymSourceLine line;
	KmtSymbol symbol;

	if (kmt_symbolizer_source(names->symbolizer, &site, &line) &&
	    line.file) {
		g_autofree char *text =
			g_strdup_printf("%s:%u", line.file, line.line);

		properties.source = chunk_text(names, text);
	}
	properties.directory = chunk_text(
		names, kmt_symbolizer_directory(names->symbolizer, &site));
	if (kmt_symbolizer_symbol(names->symbolizer, &site, &symbol))
		properties.module = chunk_text(
			names, symbol.module ? symbol.module : "vmlinux");
	return properties;
}
