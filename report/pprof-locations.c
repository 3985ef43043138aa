// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/pprof-locations.h"

/* The names of mappings are those of perf. Readers look for no file whose name
 * begins with a bracket. */
#define KERNEL "[kernel.kallsyms]"
/* A mapping covers whole pages. */
#define PAGE_MASK G_GUINT64_CONSTANT(0xfff)

/* The kernel or a module. */
typedef struct {
	guint64 id;
	char *name;
	guint64 first, last; /* addresses of its call sites */
	gboolean has_lines;
	gboolean has_inlined;
} KmtPprofMapping;

struct KmtPprofLocations {
	KmtPprofStream *stream;
	const KmtSymbolizer *symbolizer;
	GHashTable *sites;	 /* KmtSymSite * -> id */
	GHashTable *directories; /* string number -> id of a location */
	GHashTable *functions;	 /* gint64 *: string numbers of name and file,
				  * in one -> id */
	GPtrArray *mappings;	 /* KmtPprofMapping */
	guint n_locations;
};

static guint hash_site(gconstpointer key)
{
	const KmtSymSite *site = key;

	return g_int64_hash(&site->address) ^ g_direct_hash(site->tag);
}

static gboolean equal_sites(gconstpointer a, gconstpointer b)
{
	const KmtSymSite *x = a, *y = b;

	return x->address == y->address && x->tag == y->tag;
}

static void free_mapping(gpointer data)
{
	KmtPprofMapping *mapping = data;

	g_free(mapping->name);
	g_free(mapping);
}

/* Return the id of a function; the first request writes the function. @file is
 * "" if unknown. */
static guint64 function_id(KmtPprofLocations *locations, const char *name,
			   const char *file)
{
	KmtPprof__Function function = KMT_PPROF__FUNCTION__INIT;
	KmtPprof__Function *functions[] = {&function};
	KmtPprof__Profile part = KMT_PPROF__PROFILE__INIT;
	gint64 key;
	gpointer id;

	function.name = kmt_pprof_stream_string(locations->stream, name);
	function.filename = kmt_pprof_stream_string(locations->stream, file);
	key = function.name << 32 | function.filename;
	id = g_hash_table_lookup(locations->functions, &key);
	if (id)
		return GPOINTER_TO_UINT(id);
	function.id = g_hash_table_size(locations->functions) + 1;
	function.system_name = function.name;
	part.n_function = 1;
	part.function = functions;
	kmt_pprof_stream_add(locations->stream, &part);
	g_hash_table_insert(locations->functions, g_memdup2(&key, sizeof(key)),
			    GUINT_TO_POINTER((guint)function.id));
	return function.id;
}

static KmtPprofMapping *add_mapping(KmtPprofLocations *locations,
				    const char *name)
{
	KmtPprofMapping *mapping = g_new0(KmtPprofMapping, 1);

	mapping->id = locations->mappings->len + 1;
	mapping->name = g_strdup(name);
	mapping->first = G_MAXUINT64;
	g_ptr_array_add(locations->mappings, mapping);
	return mapping;
}

KmtPprofLocations *kmt_pprof_locations_new(KmtPprofStream *stream,
					   const KmtSymbolizer *symbolizer)
{
	KmtPprofLocations *locations = g_new0(KmtPprofLocations, 1);

	locations->stream = stream;
	locations->symbolizer = symbolizer;
	locations->sites =
		g_hash_table_new_full(hash_site, equal_sites, g_free, NULL);
	locations->directories = g_hash_table_new(NULL, NULL);
	locations->functions = g_hash_table_new_full(
		g_int64_hash, g_int64_equal, g_free, NULL);
	locations->mappings = g_ptr_array_new_with_free_func(free_mapping);
	/* Readers take the first mapping for the main one. */
	add_mapping(locations, KERNEL);
	return locations;
}

void kmt_pprof_locations_free(KmtPprofLocations *locations)
{
	if (!locations)
		return;
	g_hash_table_unref(locations->sites);
	g_hash_table_unref(locations->directories);
	g_hash_table_unref(locations->functions);
	g_ptr_array_unref(locations->mappings);
	g_free(locations);
}

/* Return the mapping of @module (NULL: the kernel), and extend it to
 * @address. */
static KmtPprofMapping *mapping_of(KmtPprofLocations *locations,
				   const char *module, guint64 address)
{
	g_autofree char *name =
		module ? g_strdup_printf("[%s]", module) : g_strdup(KERNEL);
	KmtPprofMapping *mapping = NULL;
	guint i;

	for (i = 0; !mapping && i < locations->mappings->len; i++) {
		mapping = locations->mappings->pdata[i];
		if (!g_str_equal(mapping->name, name))
			mapping = NULL;
	}
	if (!mapping)
		mapping = add_mapping(locations, name);
	mapping->first = MIN(mapping->first, address);
	mapping->last = MAX(mapping->last, address);
	return mapping;
}

/* Write a location with @n lines. Return its id. */
static guint64 add_location(KmtPprofLocations *locations,
			    KmtPprof__Location *location,
			    const KmtPprof__Line *lines, guint n)
{
	g_autofree KmtPprof__Line **list = g_new(KmtPprof__Line *, n);
	KmtPprof__Profile part = KMT_PPROF__PROFILE__INIT;
	guint i;

	for (i = 0; i < n; i++)
		list[i] = (KmtPprof__Line *)&lines[i];
	location->id = ++locations->n_locations;
	location->n_line = n;
	location->line = list;
	part.n_location = 1;
	part.location = &location;
	kmt_pprof_stream_add(locations->stream, &part);
	return location->id;
}

/* Return the name of the function of a call site, as in the reports by
 * function. The caller frees the string. */
static char *name_of(const KmtSymSite *site, const KmtSymbol *symbol)
{
	if (!symbol && !site->address)
		return g_strdup("(caller not recorded)");
	if (!symbol)
		return g_strdup_printf("0x%016" G_GINT64_MODIFIER "x",
				       site->address);
	if (symbol->module)
		return g_strdup_printf("%s [%s]", symbol->name, symbol->module);
	return g_strdup(symbol->name);
}

/*
 * Add one line for each inlined function, the innermost first, and one for the
 * function that contains the code. The source line is that of the innermost.
 */
static void add_lines(KmtPprofLocations *locations, GArray *lines,
		      const char *name, const KmtSymSourceLine *source)
{
	const char *file = source->file ? source->file : "";
	KmtPprof__Line line = KMT_PPROF__LINE__INIT;
	guint i;

	line.line = source->line;
	for (i = 0; source->inlined && source->inlined[i]; i++) {
		line.function_id =
			function_id(locations, source->inlined[i], file);
		g_array_append_val(lines, line);
		line.line = 0;
		file = "";
	}
	line.function_id = function_id(locations, name, file);
	g_array_append_val(lines, line);
}

static guint64 add_site(KmtPprofLocations *locations, const KmtSymSite *site)
{
	g_autoptr(GArray) lines =
		g_array_new(FALSE, FALSE, sizeof(KmtPprof__Line));
	KmtPprof__Location location = KMT_PPROF__LOCATION__INIT;
	KmtSymSourceLine source = {0};
	KmtSymbol symbol = {0};
	gboolean has_symbol =
		kmt_symbolizer_symbol(locations->symbolizer, site, &symbol);
	g_autofree char *name = name_of(site, has_symbol ? &symbol : NULL);

	kmt_symbolizer_source(locations->symbolizer, site, &source);
	add_lines(locations, lines, name, &source);
	location.address = site->address;
	if (has_symbol) {
		KmtPprofMapping *mapping =
			mapping_of(locations, symbol.module, site->address);

		mapping->has_lines |= source.file != NULL;
		mapping->has_inlined |= lines->len > 1;
		location.mapping_id = mapping->id;
	}
	return add_location(locations, &location,
			    (const KmtPprof__Line *)lines->data, lines->len);
}

guint64 kmt_pprof_locations_site(KmtPprofLocations *locations,
				 const KmtSymSite *site)
{
	gpointer id = g_hash_table_lookup(locations->sites, site);

	if (!id) {
		id = GUINT_TO_POINTER((guint)add_site(locations, site));
		g_hash_table_insert(locations->sites,
				    g_memdup2(site, sizeof(*site)), id);
	}
	return GPOINTER_TO_UINT(id);
}

guint64 kmt_pprof_locations_directory(KmtPprofLocations *locations,
				      const KmtSymSite *site)
{
	const KmtSymbolizer *symbolizer = locations->symbolizer;
	KmtPprof__Location location = KMT_PPROF__LOCATION__INIT;
	KmtPprof__Line line = KMT_PPROF__LINE__INIT;
	const char *directory;
	gpointer key, id;

	if (!symbolizer->dwarf && !symbolizer->tree && !symbolizer->tags)
		return 0;
	directory = kmt_symbolizer_directory(symbolizer, site);
	if (!directory)
		directory = "(unknown)";
	key = GUINT_TO_POINTER(
		(guint)kmt_pprof_stream_string(locations->stream, directory));
	id = g_hash_table_lookup(locations->directories, key);
	if (!id) {
		line.function_id = function_id(locations, directory, "");
		id = GUINT_TO_POINTER(
			(guint)add_location(locations, &location, &line, 1));
		g_hash_table_insert(locations->directories, key, id);
	}
	return GPOINTER_TO_UINT(id);
}

void kmt_pprof_locations_end(KmtPprofLocations *locations, const char *build_id)
{
	guint i;

	for (i = 0; i < locations->mappings->len; i++) {
		const KmtPprofMapping *from = locations->mappings->pdata[i];
		KmtPprof__Mapping mapping = KMT_PPROF__MAPPING__INIT;
		KmtPprof__Mapping *mappings[] = {&mapping};
		KmtPprof__Profile part = KMT_PPROF__PROFILE__INIT;

		/* The kernel may have no call site. */
		if (from->first > from->last)
			continue;
		mapping.id = from->id;
		mapping.memory_start = from->first & ~PAGE_MASK;
		/* The end of the last page is no 64-bit number. */
		mapping.memory_limit = MAX(from->last | PAGE_MASK,
					   (from->last | PAGE_MASK) + 1);
		mapping.filename =
			kmt_pprof_stream_string(locations->stream, from->name);
		if (build_id && g_str_equal(from->name, KERNEL))
			mapping.build_id = kmt_pprof_stream_string(
				locations->stream, build_id);
		mapping.has_functions = TRUE;
		mapping.has_filenames = from->has_lines;
		mapping.has_line_numbers = from->has_lines;
		mapping.has_inline_frames = from->has_inlined;
		part.n_mapping = 1;
		part.mapping = mappings;
		kmt_pprof_stream_add(locations->stream, &part);
	}
}
