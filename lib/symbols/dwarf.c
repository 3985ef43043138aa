// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lib/base/printable.h"
#include "lib/symbols/debug-directory.h"
#include "lib/symbols/debug-file.h"
#include "lib/symbols/dwarf.h"
#include "lib/symbols/source-location.h"
#include "lib/base/hash.h"

#include <string.h>

typedef struct {
	KmtSymDebugFile *file; /* NULL: no file matches the module */
	KmtSymModuleMap *map;
	gboolean refused; /* a debug file of another build was found */
} DwarfModule;

/* Cached result of the lookups of one address. */
typedef struct {
	guint64 address;
	gboolean has_source; /* the source location was looked up */
	gboolean found;	     /* result of that lookup: source is valid */
	KmtSymSourceLine source;
	gboolean has_directory; /* the directory was looked up */
	const char *directory;
} CachedLookup;

struct KmtSymDwarf {
	GMutex mutex; /* serializes the lookups, because libdw has no
		       * locking */
	const KmtSymTable *symbols;
	KmtSymDebugFile *vmlinux; /* NULL: no vmlinux found */
	guint64 bias;		  /* address in the running kernel minus address
				   * in vmlinux */
	char *root;		  /* root of the source tree; NULL: not known */
	char *debug_path;
	KmtSymDebugDir *debug_dir; /* NULL: no debug directory given */
	GHashTable *modules;	   /* module name -> DwarfModule */
	GHashTable *lookups;	   /* address -> CachedLookup */
	GStringChunk *strings;	   /* strings that lookups point to */
	GPtrArray *lists;	   /* arrays of inlined functions that lookups
				    * point to */
};

static void free_module(gpointer data)
{
	DwarfModule *module = data;

	kmt_sym_module_map_free(module->map);
	kmt_sym_debug_file_free(module->file);
	g_free(module);
}

static gboolean check_build_id(const KmtSymDebugFile *vmlinux, const char *path,
			       const char *expected, gboolean *is_same,
			       GError **error)
{
	const char *id = kmt_sym_debug_file_build_id(vmlinux);

	*is_same = id && expected && strcmp(id, expected) == 0;
	if (!id || !expected || *is_same)
		return TRUE;
	g_set_error(error, KMT_SYM_DWARF_ERROR,
		    KMT_SYM_DWARF_ERROR_OTHER_KERNEL,
		    "'%s' belongs to another kernel: its build id is %s, that "
		    "of the traced kernel is %s; name the vmlinux of the build "
		    "that was traced",
		    path, id, expected);
	return FALSE;
}

static gboolean open_vmlinux(KmtSymDwarf *dwarf, const char *path,
			     const KmtSymDwarfOptions *options, GError **error)
{
	gboolean is_same;

	dwarf->vmlinux =
		kmt_sym_debug_file_open(path, options->debug_dir, error);
	if (!dwarf->vmlinux)
		return FALSE;
	if (!check_build_id(dwarf->vmlinux, path, options->build_id, &is_same,
			    error) ||
	    !kmt_sym_kernel_offset(dwarf->vmlinux, path, dwarf->symbols,
				   is_same, &dwarf->bias, error))
		return FALSE;
	dwarf->root = kmt_sym_debug_file_source_root(dwarf->vmlinux);
	return TRUE;
}

static gboolean open_debug_dir(KmtSymDwarf *dwarf,
			       const KmtSymDwarfOptions *options,
			       GError **error)
{
	g_autoptr(GError) open_error = NULL;

	dwarf->debug_path = g_strdup(options->debug_dir);
	dwarf->debug_dir = kmt_sym_debug_dir_open(
		options->debug_dir, options->release, &open_error);
	if (!dwarf->debug_dir)
		g_set_error(
			error, KMT_SYM_DWARF_ERROR, KMT_SYM_DWARF_ERROR_READ,
			"cannot read the debug files: %s", open_error->message);
	return dwarf->debug_dir != NULL;
}

static KmtSymDwarf *new_dwarf(const KmtSymTable *symbols)
{
	KmtSymDwarf *dwarf = g_new0(KmtSymDwarf, 1);

	g_mutex_init(&dwarf->mutex);
	dwarf->symbols = symbols;
	dwarf->modules = g_hash_table_new_full(kmt_str_hash, g_str_equal,
					       g_free, free_module);
	dwarf->lookups = g_hash_table_new_full(g_int64_hash, g_int64_equal,
					       NULL, g_free);
	dwarf->strings = g_string_chunk_new(4096);
	dwarf->lists = g_ptr_array_new_with_free_func(g_free);
	return dwarf;
}

KmtSymDwarf *kmt_sym_dwarf_open(const KmtSymDwarfOptions *options,
				const KmtSymTable *symbols, GPtrArray *warnings,
				GError **error)
{
	g_autoptr(KmtSymDwarf) dwarf = new_dwarf(symbols);
	g_autofree char *path = g_strdup(options->vmlinux);

	if (!symbols) {
		g_set_error_literal(
			error, KMT_SYM_DWARF_ERROR,
			KMT_SYM_DWARF_ERROR_NO_LOAD_ADDRESS,
			"cannot find the load address of the kernel without "
			"its symbols: name its kallsyms with --kallsyms");
		return NULL;
	}
	if (options->debug_dir && !open_debug_dir(dwarf, options, error))
		return NULL;
	if (!path && dwarf->debug_dir)
		path = kmt_sym_debug_dir_vmlinux(dwarf->debug_dir,
						 options->build_id);
	if (path && !open_vmlinux(dwarf, path, options, error))
		return NULL;
	if (!path)
		g_ptr_array_add(warnings,
				g_strdup_printf("no vmlinux in '%s': only "
						"modules have source lines",
						options->debug_dir));
	return g_steal_pointer(&dwarf);
}

void kmt_sym_dwarf_free(KmtSymDwarf *dwarf)
{
	if (!dwarf)
		return;
	g_hash_table_unref(dwarf->lookups);
	g_hash_table_unref(dwarf->modules);
	g_ptr_array_unref(dwarf->lists);
	g_string_chunk_free(dwarf->strings);
	kmt_sym_debug_file_free(dwarf->vmlinux);
	kmt_sym_debug_dir_free(dwarf->debug_dir);
	g_free(dwarf->debug_path);
	g_free(dwarf->root);
	g_mutex_clear(&dwarf->mutex);
	g_free(dwarf);
}

/* Open the first debug file of the module that matches the running module. */
static void open_module(KmtSymDwarf *dwarf, const char *name,
			DwarfModule *module)
{
	const GPtrArray *paths =
		kmt_sym_debug_dir_module(dwarf->debug_dir, name);
	guint i;

	for (i = 0; paths && !module->file && i < paths->len; i++) {
		g_autoptr(KmtSymDebugFile) file = kmt_sym_debug_file_open(
			g_ptr_array_index(paths, i), dwarf->debug_path, NULL);

		if (!file)
			continue;
		module->map =
			kmt_sym_module_map_new(file, dwarf->symbols, name);
		if (module->map)
			module->file = g_steal_pointer(&file);
		else
			module->refused = TRUE;
	}
}

static const DwarfModule *get_module(KmtSymDwarf *dwarf, const char *name)
{
	DwarfModule *module = g_hash_table_lookup(dwarf->modules, name);

	if (module)
		return module;
	module = g_new0(DwarfModule, 1);
	if (dwarf->debug_dir)
		open_module(dwarf, name, module);
	g_hash_table_insert(dwarf->modules, g_strdup(name), module);
	return module;
}

/*
 * Return the part of @path below @directory, or NULL if @path is not below it.
 */
static const char *path_inside(const char *path, const char *directory)
{
	gsize length = directory ? strlen(directory) : 0;

	/* The root directory "/" ends in a slash, other directories do not. */
	if (length && directory[length - 1] == '/')
		length--;
	if (!length || strncmp(path, directory, length) != 0 ||
	    path[length] != '/')
		return NULL;
	return path + length + 1;
}

/*
 * Shorten an absolute source path: relative to the root of the source, else
 * relative to the directory in which the compiler ran. The two directories
 * differ if the kernel was built in a separate folder.
 */
static const char *short_path(const KmtSymDwarf *dwarf, const char *path,
			      const char *unit_dir)
{
	const char *suffix = path_inside(path, dwarf->root);

	if (!suffix)
		suffix = path_inside(path, unit_dir);
	return suffix ? suffix : path;
}

/*
 * Copy a text from the debug information. Such text is shown on terminals, so
 * '?' replaces each control character in the copy.
 */
static const char *store_text(KmtSymDwarf *dwarf, const char *text)
{
	g_autofree char *printable = kmt_printable(text);

	return g_string_chunk_insert_const(dwarf->strings, printable);
}

static void store_inlined(KmtSymDwarf *dwarf, const GPtrArray *names,
			  KmtSymSourceLine *source)
{
	const char **list = g_new0(const char *, names->len);
	guint i;

	for (i = 0; i + 1 < names->len; i++)
		list[i] = store_text(dwarf, g_ptr_array_index(names, i));
	g_ptr_array_add(dwarf->lists, list);
	source->inlined = list;
}

static void store_location(KmtSymDwarf *dwarf,
			   const KmtSymSourceLocation *location,
			   KmtSymSourceLine *source)
{
	if (location->file) {
		source->file =
			store_text(dwarf, short_path(dwarf, location->file,
						     location->unit_dir));
		source->line = location->line;
	}
	store_inlined(dwarf, location->inlined, source);
}

/*
 * Return the debug file that contains the return address @address, and set
 * *file_address to the place of the call in that file: the byte before the
 * return address. Return NULL if there is none.
 */
static KmtSymDebugFile *find_file(KmtSymDwarf *dwarf, guint64 address,
				  guint64 *file_address)
{
	KmtSymDebugFile *file = dwarf->vmlinux;
	const DwarfModule *module;
	KmtSymbol symbol;

	if (!kmt_sym_table_lookup(dwarf->symbols, address, &symbol))
		return NULL;
	if (!symbol.module) {
		*file_address = address - dwarf->bias;
	} else {
		module = get_module(dwarf, symbol.module);
		file = module->file;
		if (!file || !kmt_sym_module_map_lookup(module->map, address,
							&symbol, file_address))
			return NULL;
	}
	/* A return address may already belong to the next function, so use the
	 * byte before it. See kmt_sym_table_lookup(). */
	(*file_address)--;
	return file;
}

static void find_source(KmtSymDwarf *dwarf, CachedLookup *lookup)
{
	g_auto(KmtSymSourceLocation) location = {0};
	guint64 file_address;
	KmtSymDebugFile *file =
		find_file(dwarf, lookup->address, &file_address);

	lookup->has_source = TRUE;
	lookup->found = file && kmt_sym_debug_file_lookup(file, file_address,
							  &location);
	if (lookup->found)
		store_location(dwarf, &location, &lookup->source);
}

static void find_directory(KmtSymDwarf *dwarf, CachedLookup *lookup)
{
	g_autofree char *path = NULL;
	g_autofree char *unit_dir = NULL;
	g_autofree char *directory = NULL;
	guint64 file_address;
	KmtSymDebugFile *file =
		find_file(dwarf, lookup->address, &file_address);

	lookup->has_directory = TRUE;
	if (!file ||
	    !kmt_sym_debug_file_unit(file, file_address, &path, &unit_dir) ||
	    !path)
		return;
	directory = g_path_get_dirname(short_path(dwarf, path, unit_dir));
	lookup->directory = store_text(dwarf, directory);
}

static CachedLookup *get_lookup(KmtSymDwarf *dwarf, guint64 address)
{
	CachedLookup *lookup = g_hash_table_lookup(dwarf->lookups, &address);

	if (!lookup) {
		lookup = g_new0(CachedLookup, 1);
		lookup->address = address;
		g_hash_table_insert(dwarf->lookups, &lookup->address, lookup);
	}
	return lookup;
}

gboolean kmt_sym_dwarf_lookup(KmtSymDwarf *dwarf, guint64 address,
			      KmtSymSourceLine *source)
{
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locker =
		g_mutex_locker_new(&dwarf->mutex);
	CachedLookup *lookup = get_lookup(dwarf, address);

	if (!lookup->has_source)
		find_source(dwarf, lookup);
	*source = lookup->source;
	return lookup->found;
}

const char *kmt_sym_dwarf_directory(KmtSymDwarf *dwarf, guint64 address)
{
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locker =
		g_mutex_locker_new(&dwarf->mutex);
	CachedLookup *lookup = get_lookup(dwarf, address);

	if (!lookup->has_directory)
		find_directory(dwarf, lookup);
	return lookup->directory;
}

/*
 * Return whether a debug file can exist for the module. The running kernel
 * generates the code of the pseudo modules "bpf" and "__builtin__*", so no file
 * contains that code.
 */
static gboolean has_file(const char *module)
{
	return strcmp(module, "bpf") != 0 &&
	       !g_str_has_prefix(module, "__builtin__");
}

static int compare_names(gconstpointer a, gconstpointer b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/*
 * Add a warning that lists the modules. The names are sorted, so that the text
 * does not depend on the order of the call sites.
 */
static void warn_of_modules(GPtrArray *warnings, const char *problem,
			    const char *path, GPtrArray *names)
{
	g_autofree char *list = NULL;

	if (!names->len)
		return;
	g_ptr_array_sort(names, compare_names);
	g_ptr_array_add(names, NULL);
	list = g_strjoinv(", ", (char **)names->pdata);
	g_ptr_array_add(warnings, g_strdup_printf("'%s' has %s: %s", path,
						  problem, list));
}

void kmt_sym_dwarf_check_modules(KmtSymDwarf *dwarf, const guint64 *addresses,
				 guint n, GPtrArray *warnings)
{
	g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
	g_autoptr(GPtrArray) missing = g_ptr_array_new();
	g_autoptr(GPtrArray) refused = g_ptr_array_new();
	guint i;

	if (!dwarf->debug_dir)
		return;
	g_mutex_lock(&dwarf->mutex);
	for (i = 0; i < n; i++) {
		const DwarfModule *module;
		KmtSymbol symbol;

		if (!kmt_sym_table_lookup(dwarf->symbols, addresses[i],
					  &symbol) ||
		    !symbol.module || !has_file(symbol.module) ||
		    !g_hash_table_add(seen, (gpointer)symbol.module))
			continue;
		module = get_module(dwarf, symbol.module);
		if (!module->file)
			g_ptr_array_add(module->refused ? refused : missing,
					(gpointer)symbol.module);
	}
	g_mutex_unlock(&dwarf->mutex);
	warn_of_modules(warnings, "no debug files of modules",
			dwarf->debug_path, missing);
	warn_of_modules(warnings, "only debug files of other builds of modules",
			dwarf->debug_path, refused);
}
