// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <errno.h>
#include <string.h>

#include "import/functions.h"
#include "import/import-symbols.h"
#include "lib/capture/error.h"
#include "lib/capture/meta.h"

#define NO_NAMES                                                               \
	"name a copy of the machine's /proc/kallsyms, read as root, "          \
	"with --kallsyms, or name its System.map when you print the "          \
	"report"

static gboolean copy_file(KmtCaptureWriter *output, const char *path,
			  const char *name, GError **error)
{
	GError *problem = NULL;

	if (!path ||
	    kmt_capture_writer_copy_table(output, path, name, NULL, &problem))
		return TRUE;
	/* A failure without an error means that the file does not exist. */
	if (problem)
		g_propagate_error(error, problem);
	else
		kmt_capture_set_errno(error, KMT_DAEMON_ERROR_READ, ENOENT,
				      "cannot open %s", path);
	return FALSE;
}

/* Source of the kernel's function names. */
typedef enum {
	ORIGIN_NONE,
	ORIGIN_USER,	/* option --kallsyms */
	ORIGIN_MACHINE, /* this machine still runs the recorded boot */
	ORIGIN_CACHE,	/* perf's build-id cache */
} Origin;

/*
 * Return the address of symbol in a kallsyms, or 0 if the symbol is missing or
 * its address is hidden.
 */
static guint64 find_symbol(const char *text, const char *symbol)
{
	gsize n = strlen(symbol);
	KmtImportKallsymsLine line;

	while (*text)
		if (kmt_import_kallsyms_next(&text, &line) &&
		    line.n_name == n && memcmp(line.name, symbol, n) == 0)
			return line.address;
	return 0;
}

/*
 * Relocate a kallsyms of another boot: shift all addresses by the distance from
 * the address of kernel->symbol in text to kernel->address, its address in the
 * recorded boot. Only symbols from kernel->symbol up to _end are kept; modules
 * are omitted, because the distance differs for each module. Returns NULL if no
 * symbol is left; the caller frees the text.
 */
static char *relocate(const char *text, const KmtImportKernel *kernel)
{
	guint64 old_address = find_symbol(text, kernel->symbol);
	guint64 end = find_symbol(text, "_end");
	GString *relocated = g_string_new(NULL);
	KmtImportKallsymsLine line;

	while (old_address && *text) {
		if (!kmt_import_kallsyms_next(&text, &line) ||
		    line.is_of_module || line.address < old_address ||
		    (end && line.address > end))
			continue;
		g_string_append_printf(
			relocated, "%016" G_GINT64_MODIFIER "x %c %.*s\n",
			line.address - old_address + kernel->address, line.type,
			(int)line.n_name, line.name);
	}
	return g_string_free(relocated, relocated->len == 0);
}

/*
 * Return the path of a kallsyms in perf's cache,
 * ~/.debug/.build-id/ab/cdef.../kallsyms. The caller frees the path.
 */
static char *cached_kallsyms(const KmtImportSymbolFiles *files,
			     const char *build_id)
{
	g_autofree char *directory =
		files->build_id_dir
			? g_strdup(files->build_id_dir)
			: g_build_filename(g_get_home_dir(), ".debug", NULL);
	g_autofree char *first = g_strndup(build_id, 2);

	return g_build_filename(directory, ".build-id", first,
				build_id + strlen(first), "kallsyms", NULL);
}

static char *read_text(const char *path)
{
	char *text = NULL;

	return g_file_get_contents(path, &text, NULL, NULL) ? text : NULL;
}

/*
 * Find the best available kallsyms. *origin receives its source and *path its
 * path or NULL. Returns the text or NULL. The caller frees *path and the text.
 */
static char *find_text(const KmtImport *import,
		       const KmtImportSymbolFiles *files, Origin *origin,
		       char **path)
{
	const KmtImportKernel *kernel = kmt_import_kernel((KmtImport *)import);
	g_autofree char *build_id = kmt_capture_meta_build_id(files->sys);
	g_autofree char *text = NULL;

	*origin = ORIGIN_USER;
	*path = g_strdup(files->kallsyms);
	if (*path)
		return read_text(*path);
	*origin = ORIGIN_NONE;
	if (!kernel->build_id || !kernel->symbol)
		return NULL;
	*path = g_build_filename(files->proc, "kallsyms", NULL);
	text = read_text(*path);
	if (text && g_strcmp0(build_id, kernel->build_id) == 0 &&
	    find_symbol(text, kernel->symbol) == kernel->address) {
		*origin = ORIGIN_MACHINE;
		return g_steal_pointer(&text);
	}
	g_free(text);
	g_free(*path);
	*path = cached_kallsyms(files, kernel->build_id);
	text = read_text(*path);
	if (text)
		*origin = ORIGIN_CACHE;
	return text ? relocate(text, kernel) : NULL;
}

char *kmt_import_symbols_text(const KmtImport *import,
			      const KmtImportSymbolFiles *files)
{
	g_autofree char *path = NULL;
	Origin origin;

	return find_text(import, files, &origin, &path);
}

/*
 * Copy kallsyms and, without --modules, modules of this machine. A kernel
 * without module support has no /proc/modules.
 */
static gboolean copy_machine(KmtImport *import, KmtCaptureWriter *output,
			     const KmtImportSymbolFiles *files,
			     const char *text, GError **error)
{
	g_autofree char *modules =
		g_build_filename(files->proc, "modules", NULL);

	return kmt_import_set_kallsyms(import, text, error) &&
	       (files->modules || !g_file_test(modules, G_FILE_TEST_EXISTS) ||
		copy_file(output, modules, "modules", error));
}

/*
 * Return a sentence that explains why names are missing and how to add them.
 * The caller frees it.
 */
static char *explain_missing_names(const KmtImport *import)
{
	const KmtImportKernel *kernel = kmt_import_kernel((KmtImport *)import);

	if (!kernel->build_id || !kernel->symbol)
		return g_strdup("the file does not contain the kernel's build "
				"ID, so addresses have no names: " NO_NAMES);
	return g_strdup("this machine does not run the recorded boot, or hides "
			"the kernel's addresses, and the build-id cache has no "
			"usable kallsyms of the recorded kernel, so addresses "
			"have no names: " NO_NAMES);
}

gboolean kmt_import_symbols_copy(KmtImport *import, KmtCaptureWriter *output,
				 const KmtImportSymbolFiles *files, char **note,
				 GError **error)
{
	g_autofree char *path = NULL;
	g_autofree char *text = NULL;
	Origin origin;

	*note = NULL;
	if (!copy_file(output, files->modules, "modules", error))
		return FALSE;
	if (files->kallsyms)
		return copy_file(output, files->kallsyms, "kallsyms", error);
	if (kmt_import_has_kallsyms(import))
		return TRUE;
	text = find_text(import, files, &origin, &path);
	if (!text) {
		*note = explain_missing_names(import);
		return TRUE;
	}
	if (origin == ORIGIN_MACHINE) {
		*note = g_strdup("the names come from this machine, which runs "
				 "the recorded kernel");
		return copy_machine(import, output, files, text, error);
	}
	*note = g_strdup_printf(
		"the names come from %s, relocated to the recorded kernel; "
		"functions of modules have no names",
		path);
	return kmt_import_set_kallsyms(import, text, error);
}
