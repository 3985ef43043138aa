// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lib/symbols/debug-directory.h"
#include "lib/base/hash.h"

#include <string.h>

/*
 * Limit of the directory recursion. A tree of modules has fewer than 20 levels.
 */
#define MAX_DEPTH 64

struct KmtSymDebugDir {
	char *path;
	char *release;	     /* release of the traced kernel, or NULL */
	GHashTable *modules; /* module name -> GPtrArray of paths */
};

/*
 * Return the module name of a file: "snd_hda_intel" for
 * "snd-hda-intel.ko.debug". Return NULL if the file is not a module. The caller
 * frees the name.
 */
static char *module_name(const char *file)
{
	static const char *const ends[] = {".ko", ".ko.debug", ".ko.gz",
					   ".ko.xz", ".ko.zst"};
	guint i;

	for (i = 0; i < G_N_ELEMENTS(ends); i++)
		if (g_str_has_suffix(file, ends[i]) &&
		    strlen(file) > strlen(ends[i]))
			return g_strdelimit(
				g_strndup(file, strlen(file) - strlen(ends[i])),
				"-", '_');
	return NULL;
}

static gboolean has_release(const KmtSymDebugDir *dir, const char *path)
{
	g_autofree char *component = NULL;

	if (!dir->release)
		return FALSE;
	component = g_strdup_printf("/%s/", dir->release);
	return strstr(path, component) != NULL;
}

static void add_file(KmtSymDebugDir *dir, const char *name, char *path)
{
	char *module = module_name(name);
	GPtrArray *paths;

	if (!module) {
		g_free(path);
		return;
	}
	paths = g_hash_table_lookup(dir->modules, module);
	if (!paths) {
		paths = g_ptr_array_new_with_free_func(g_free);
		g_hash_table_insert(dir->modules, g_strdup(module), paths);
	}
	g_ptr_array_insert(paths, has_release(dir, path) ? 0 : -1, path);
	g_free(module);
}

static int compare_names(gconstpointer a, gconstpointer b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/*
 * Add all modules below @path, except those in .build-id. Links to directories
 * are not followed, because they may form a cycle.
 */
static void walk(KmtSymDebugDir *dir, const char *path, guint depth)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
	GDir *listing = g_dir_open(path, 0, NULL);
	const char *name;
	guint i;

	if (!listing)
		return;
	while ((name = g_dir_read_name(listing)))
		if (strcmp(name, ".build-id") != 0)
			g_ptr_array_add(names, g_strdup(name));
	g_dir_close(listing);
	/* Sort the names, so that the result does not depend on the order in
	 * which the file system lists a directory. */
	g_ptr_array_sort(names, compare_names);
	for (i = 0; i < names->len; i++) {
		char *child;

		name = g_ptr_array_index(names, i);
		child = g_build_filename(path, name, NULL);
		if (!g_file_test(child, G_FILE_TEST_IS_DIR)) {
			add_file(dir, name, child);
			continue;
		}
		if (depth < MAX_DEPTH &&
		    !g_file_test(child, G_FILE_TEST_IS_SYMLINK))
			walk(dir, child, depth + 1);
		g_free(child);
	}
}

KmtSymDebugDir *kmt_sym_debug_dir_open(const char *path, const char *release,
				       GError **error)
{
	KmtSymDebugDir *dir;
	GDir *listing = g_dir_open(path, 0, error);

	if (!listing)
		return NULL;
	g_dir_close(listing);
	dir = g_new0(KmtSymDebugDir, 1);
	dir->path = g_strdup(path);
	dir->release = g_strdup(release);
	dir->modules = g_hash_table_new_full(kmt_str_hash, g_str_equal, g_free,
					     (GDestroyNotify)g_ptr_array_unref);
	walk(dir, path, 0);
	return dir;
}

void kmt_sym_debug_dir_free(KmtSymDebugDir *dir)
{
	if (!dir)
		return;
	g_free(dir->path);
	g_free(dir->release);
	g_hash_table_unref(dir->modules);
	g_free(dir);
}

static gboolean clear_unless_regular(char **path)
{
	if (g_file_test(*path, G_FILE_TEST_IS_REGULAR))
		return TRUE;
	g_clear_pointer(path, g_free);
	return FALSE;
}

/* Try the path of the build ID, the paths that distributions use for a vmlinux
 * with debug information, and "vmlinux" in the directory itself. */
char *kmt_sym_debug_dir_vmlinux(const KmtSymDebugDir *dir, const char *build_id)
{
	/* The text before the release, and the text after the release. */
	static const char *const patterns[][2] = {
		{"/vmlinux-", ""},
		{"/boot/vmlinux-", ""},
		{"/lib/modules/", "/vmlinux"},
		{"/usr/lib/debug/boot/vmlinux-", ""},
		{"/usr/lib/debug/lib/modules/", "/vmlinux"},
	};
	char *path;
	guint i;

	if (build_id && strlen(build_id) > 2) {
		path = g_strdup_printf("%s/.build-id/%.2s/%s.debug", dir->path,
				       build_id, build_id + 2);
		if (clear_unless_regular(&path))
			return path;
	}
	for (i = 0; dir->release && i < G_N_ELEMENTS(patterns); i++) {
		path = g_strconcat(dir->path, patterns[i][0], dir->release,
				   patterns[i][1], NULL);
		if (clear_unless_regular(&path))
			return path;
	}
	path = g_build_filename(dir->path, "vmlinux", NULL);
	clear_unless_regular(&path);
	return path;
}

const GPtrArray *kmt_sym_debug_dir_module(const KmtSymDebugDir *dir,
					  const char *module)
{
	return g_hash_table_lookup(dir->modules, module);
}
