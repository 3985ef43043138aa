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
	KmtDebugFile *file; /* NULL: none that fits */
	KmtModulePlace *place;
	gboolean refused; /* there was one, of another build */
} Module;

/* What is known of an address, kept for the next question. */
typedef struct {
	guint64 address;
	gboolean has_source; /* it was asked for */
	gboolean known;	     /* and this is it: */
	KmtSourceLine source;
	gboolean has_directory; /* likewise */
	const char *directory;
} Answer;

struct KmtDwarf {
	GMutex mutex; /* of all below: libdw has none */
	const KmtSymbols *symbols;
	KmtDebugFile *vmlinux; /* or NULL */
	guint64 bias;	       /* of vmlinux: running minus linked */
	char *root;	       /* of the source; NULL: not known */
	char *debug_path;
	KmtDebugDir *debug_dir; /* NULL: none was named */
	GHashTable *modules;	/* name -> Module */
	GHashTable *answers;	/* by address */
	GStringChunk *strings;	/* what answers point to */
	GPtrArray *lists;	/* likewise: inlined functions */
};

static void free_module(gpointer data)
{
	Module *module = data;

	kmt_module_place_free(module->place);
	kmt_debug_file_free(module->file);
	g_free(module);
}

static gboolean check_build_id(const KmtDebugFile *vmlinux, const char *path,
			       const char *wanted, gboolean *is_same,
			       GError **error)
{
	const char *id = kmt_debug_file_build_id(vmlinux);

	*is_same = id && wanted && strcmp(id, wanted) == 0;
	if (!id || !wanted || *is_same)
		return TRUE;
	g_set_error(error, KMT_DWARF_ERROR, KMT_DWARF_ERROR_OTHER_KERNEL,
		    "'%s' is of another kernel: its build id is %s, that of "
		    "the traced kernel is %s; name the vmlinux of the build "
		    "that was traced",
		    path, id, wanted);
	return FALSE;
}

static gboolean open_vmlinux(KmtDwarf *dwarf, const char *path,
			     const KmtDwarfOptions *options, GError **error)
{
	gboolean is_same;

	dwarf->vmlinux = kmt_debug_file_open(path, options->debug_dir, error);
	if (!dwarf->vmlinux)
		return FALSE;
	if (!check_build_id(dwarf->vmlinux, path, options->build_id, &is_same,
			    error) ||
	    !kmt_place_kernel(dwarf->vmlinux, path, dwarf->symbols, is_same,
			      &dwarf->bias, error))
		return FALSE;
	dwarf->root = kmt_debug_file_source_root(dwarf->vmlinux);
	return TRUE;
}

static gboolean open_debug_dir(KmtDwarf *dwarf, const KmtDwarfOptions *options,
			       GError **error)
{
	g_autoptr(GError) why = NULL;

	dwarf->debug_path = g_strdup(options->debug_dir);
	dwarf->debug_dir =
		kmt_debug_dir_open(options->debug_dir, options->release, &why);
	if (!dwarf->debug_dir)
		g_set_error(error, KMT_DWARF_ERROR, KMT_DWARF_ERROR_READ,
			    "cannot read the debug files: %s", why->message);
	return dwarf->debug_dir != NULL;
}

static KmtDwarf *new_dwarf(const KmtSymbols *symbols)
{
	KmtDwarf *dwarf = g_new0(KmtDwarf, 1);

	g_mutex_init(&dwarf->mutex);
	dwarf->symbols = symbols;
	dwarf->modules = g_hash_table_new_full(kmt_str_hash, g_str_equal,
					       g_free, free_module);
	dwarf->answers = g_hash_table_new_full(g_int64_hash, g_int64_equal,
					       NULL, g_free);
	dwarf->strings = g_string_chunk_new(4096);
	dwarf->lists = g_ptr_array_new_with_free_func(g_free);
	return dwarf;
}

KmtDwarf *kmt_dwarf_open(const KmtDwarfOptions *options,
			 const KmtSymbols *symbols, GPtrArray *warnings,
			 GError **error)
{
	g_autoptr(KmtDwarf) dwarf = new_dwarf(symbols);
	g_autofree char *path = g_strdup(options->vmlinux);

	if (!symbols) {
		g_set_error_literal(
			error, KMT_DWARF_ERROR, KMT_DWARF_ERROR_NO_PLACE,
			"without the symbols of the running kernel nothing "
			"tells where its code was: name its kallsyms with "
			"--kallsyms");
		return NULL;
	}
	if (options->debug_dir && !open_debug_dir(dwarf, options, error))
		return NULL;
	if (!path && dwarf->debug_dir)
		path = kmt_debug_dir_vmlinux(dwarf->debug_dir,
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

void kmt_dwarf_free(KmtDwarf *dwarf)
{
	if (!dwarf)
		return;
	g_hash_table_unref(dwarf->answers);
	g_hash_table_unref(dwarf->modules);
	g_ptr_array_unref(dwarf->lists);
	g_string_chunk_free(dwarf->strings);
	kmt_debug_file_free(dwarf->vmlinux);
	kmt_debug_dir_free(dwarf->debug_dir);
	g_free(dwarf->debug_path);
	g_free(dwarf->root);
	g_mutex_clear(&dwarf->mutex);
	g_free(dwarf);
}

/* The first of its files that fits. */
static void open_module(KmtDwarf *dwarf, const char *name, Module *module)
{
	const GPtrArray *paths = kmt_debug_dir_module(dwarf->debug_dir, name);
	guint i;

	for (i = 0; paths && !module->file && i < paths->len; i++) {
		g_autoptr(KmtDebugFile) file = kmt_debug_file_open(
			g_ptr_array_index(paths, i), dwarf->debug_path, NULL);

		if (!file)
			continue;
		module->place =
			kmt_module_place_new(file, dwarf->symbols, name);
		if (module->place)
			module->file = g_steal_pointer(&file);
		else
			module->refused = TRUE;
	}
}

static const Module *get_module(KmtDwarf *dwarf, const char *name)
{
	Module *module = g_hash_table_lookup(dwarf->modules, name);

	if (module)
		return module;
	module = g_new0(Module, 1);
	if (dwarf->debug_dir)
		open_module(dwarf, name, module);
	g_hash_table_insert(dwarf->modules, g_strdup(name), module);
	return module;
}

/* The rest of path, if it lies in directory. */
static const char *path_inside(const char *path, const char *directory)
{
	gsize length = directory ? strlen(directory) : 0;

	/* That of the root directory ends in the slash. */
	if (length && directory[length - 1] == '/')
		length--;
	if (!length || strncmp(path, directory, length) != 0 ||
	    path[length] != '/')
		return NULL;
	return path + length + 1;
}

/*
 * From the root of the source, or from where the compiler ran: the same, unless
 * it was built in a folder of its own.
 */
static const char *short_path(const KmtDwarf *dwarf, const char *path,
			      const char *unit_dir)
{
	const char *inside = path_inside(path, dwarf->root);

	if (!inside)
		inside = path_inside(path, unit_dir);
	return inside ? inside : path;
}

/* What the compiler was told is shown on terminals. */
static const char *keep_text(KmtDwarf *dwarf, const char *text)
{
	g_autofree char *printable = kmt_printable(text);

	return g_string_chunk_insert_const(dwarf->strings, printable);
}

static void keep_inlined(KmtDwarf *dwarf, const GPtrArray *names,
			 KmtSourceLine *source)
{
	const char **list = g_new0(const char *, names->len);
	guint i;

	for (i = 0; i + 1 < names->len; i++)
		list[i] = keep_text(dwarf, g_ptr_array_index(names, i));
	g_ptr_array_add(dwarf->lists, list);
	source->inlined = list;
}

static void keep(KmtDwarf *dwarf, const KmtDebugPlace *place,
		 KmtSourceLine *source)
{
	if (place->file) {
		source->file = keep_text(
			dwarf, short_path(dwarf, place->file, place->unit_dir));
		source->line = place->line;
	}
	keep_inlined(dwarf, place->inlined, source);
}

/* The file that address is from, and the place in it; NULL: not known. */
static KmtDebugFile *find_file(KmtDwarf *dwarf, guint64 address,
			       guint64 *in_file)
{
	KmtDebugFile *file = dwarf->vmlinux;
	const Module *module;
	KmtSymbol symbol;

	if (!kmt_symbols_lookup(dwarf->symbols, address, &symbol))
		return NULL;
	if (!symbol.module) {
		*in_file = address - dwarf->bias;
	} else {
		module = get_module(dwarf, symbol.module);
		file = module->file;
		if (!file || !kmt_module_place_map(module->place, address,
						   &symbol, in_file))
			return NULL;
	}
	/* The byte before: see kmt_symbols_lookup(). */
	(*in_file)--;
	return file;
}

static void find_source(KmtDwarf *dwarf, Answer *answer)
{
	g_auto(KmtDebugPlace) place = {0};
	guint64 in_file;
	KmtDebugFile *file = find_file(dwarf, answer->address, &in_file);

	answer->has_source = TRUE;
	answer->known = file && kmt_debug_file_lookup(file, in_file, &place);
	if (answer->known)
		keep(dwarf, &place, &answer->source);
}

static void find_directory(KmtDwarf *dwarf, Answer *answer)
{
	g_autofree char *path = NULL;
	g_autofree char *unit_dir = NULL;
	g_autofree char *directory = NULL;
	guint64 in_file;
	KmtDebugFile *file = find_file(dwarf, answer->address, &in_file);

	answer->has_directory = TRUE;
	if (!file || !kmt_debug_file_unit(file, in_file, &path, &unit_dir) ||
	    !path)
		return;
	directory = g_path_get_dirname(short_path(dwarf, path, unit_dir));
	answer->directory = keep_text(dwarf, directory);
}

static Answer *get_answer(KmtDwarf *dwarf, guint64 address)
{
	Answer *answer = g_hash_table_lookup(dwarf->answers, &address);

	if (!answer) {
		answer = g_new0(Answer, 1);
		answer->address = address;
		g_hash_table_insert(dwarf->answers, &answer->address, answer);
	}
	return answer;
}

gboolean kmt_dwarf_lookup(KmtDwarf *dwarf, guint64 address,
			  KmtSourceLine *source)
{
	Answer *answer;
	gboolean known;

	g_mutex_lock(&dwarf->mutex);
	answer = get_answer(dwarf, address);
	if (!answer->has_source)
		find_source(dwarf, answer);
	known = answer->known;
	*source = answer->source;
	g_mutex_unlock(&dwarf->mutex);
	return known;
}

const char *kmt_dwarf_directory(KmtDwarf *dwarf, guint64 address)
{
	const char *directory;
	Answer *answer;

	g_mutex_lock(&dwarf->mutex);
	answer = get_answer(dwarf, address);
	if (!answer->has_directory)
		find_directory(dwarf, answer);
	directory = answer->directory;
	g_mutex_unlock(&dwarf->mutex);
	return directory;
}

/* Code that the running kernel made is in no file. */
static gboolean has_file(const char *module)
{
	return strcmp(module, "bpf") != 0 &&
	       !g_str_has_prefix(module, "__builtin__");
}

static int compare_names(gconstpointer a, gconstpointer b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* In the same order however the call sites came. */
static void warn_of_modules(GPtrArray *warnings, const char *what,
			    const char *path, GPtrArray *names)
{
	g_autofree char *list = NULL;

	if (!names->len)
		return;
	g_ptr_array_sort(names, compare_names);
	g_ptr_array_add(names, NULL);
	list = g_strjoinv(", ", (char **)names->pdata);
	g_ptr_array_add(warnings,
			g_strdup_printf("'%s' has %s: %s", path, what, list));
}

void kmt_dwarf_check_modules(KmtDwarf *dwarf, const guint64 *addresses, guint n,
			     GPtrArray *warnings)
{
	g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
	g_autoptr(GPtrArray) missing = g_ptr_array_new();
	g_autoptr(GPtrArray) refused = g_ptr_array_new();
	guint i;

	if (!dwarf->debug_dir)
		return;
	g_mutex_lock(&dwarf->mutex);
	for (i = 0; i < n; i++) {
		const Module *module;
		KmtSymbol symbol;

		if (!kmt_symbols_lookup(dwarf->symbols, addresses[i],
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
	warn_of_modules(warnings, "debug files of other builds only of modules",
			dwarf->debug_path, refused);
}
