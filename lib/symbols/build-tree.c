// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lib/base/printable.h"
#include "lib/symbols/build-tree.h"
#include "lib/base/hash.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <gelf.h>
#include <libelf.h>
#include <string.h>
#include <unistd.h>

/* A kernel has less than 20. */
#define MAX_DEPTH 64

/* Where a function of some name was compiled. */
typedef struct Place {
	const char *directory;
	/* What it was compiled for: a module, "" the kernel, NULL not known. */
	const char *module;
	gboolean weak;		  /* gives way to one that is not */
	const struct Place *next; /* of the same name */
} Place;

struct KmtSymBuildTree {
	GHashTable *functions; /* name -> Place, the first of its list */
	GStringChunk *strings;
	GPtrArray *places; /* of Place, to be freed */
	guint n_objects;
};

G_DEFINE_QUARK(kmt_sym_build_tree_error, kmt_sym_build_tree_error)

/* What is built there runs on the build machine, or before the kernel. */
static gboolean is_no_kernel(const char *directory)
{
	static const char *const globs[] = {
		"scripts",
		"tools",
		"usr",
		"Documentation",
		"debian",
		"include",
		".*",
		"arch/*/boot",
		"arch/*/purgatory",
		"arch/*/realmode/rm",
		"arch/*/tools",
		"arch/*/vdso*",
		"arch/*/kernel/vdso*",
		"arch/*/entry/vdso/vdso32",
		"drivers/firmware/efi/libstub",
	};
	guint i;

	for (i = 0; i < G_N_ELEMENTS(globs); i++)
		if (fnmatch(globs[i], directory, FNM_PATHNAME) == 0)
			return TRUE;
	return FALSE;
}

/* Linked of others, where nothing beside it tells so. */
static gboolean is_linked(const char *name)
{
	return *name == '.' || strcmp(name, "vmlinux.o") == 0 ||
	       strcmp(name, "built-in.o") == 0 ||
	       g_str_has_suffix(name, ".mod.o");
}

/* The X of -DKBUILD_MODNAME='"X"', as kbuild quotes it. */
static const char *module_of_command(KmtSymBuildTree *tree, const char *command)
{
	static const char option[] = "-DKBUILD_MODNAME='\"";
	const char *name;

	if (!strstr(command, " -DMODULE "))
		return "";
	name = strstr(command, option);
	if (!name)
		return NULL;
	name += strlen(option);
	return g_string_chunk_insert_len(tree->strings, name,
					 (gssize)strcspn(name, "\"'\n"));
}

/*
 * kbuild leaves beside x.o its command in .x.o.cmd.  One that compiled names
 * its source; one that linked does not, and what it linked is read by itself.
 * FALSE: not to be read.
 */
static gboolean read_command(KmtSymBuildTree *tree, const char *directory,
			     const char *object, const char **module)
{
	g_autofree char *name = g_strdup_printf(".%s.cmd", object);
	g_autofree char *path = g_build_filename(directory, name, NULL);
	g_autofree char *text = NULL;

	*module = NULL;
	if (!g_file_get_contents(path, &text, NULL, NULL))
		return !is_linked(object);
	if (!strstr(text, "\nsource_") && !g_str_has_prefix(text, "source_"))
		return FALSE;
	*module = module_of_command(tree, text);
	return TRUE;
}

static void add_function(KmtSymBuildTree *tree, const char *name, gboolean weak,
			 const char *directory, const char *module)
{
	const Place *first = g_hash_table_lookup(tree->functions, name);
	const Place *other;
	Place *place;

	for (other = first; other; other = other->next)
		if (other->directory == directory && other->weak == weak &&
		    g_strcmp0(other->module, module) == 0)
			return;
	place = g_new(Place, 1);
	place->directory = directory;
	place->module = module;
	place->weak = weak;
	place->next = first;
	g_ptr_array_add(tree->places, place);
	g_hash_table_insert(tree->functions,
			    g_string_chunk_insert_const(tree->strings, name),
			    place);
}

static void read_symbols(KmtSymBuildTree *tree, Elf *elf, Elf_Scn *section,
			 const GElf_Shdr *header, const char *directory,
			 const char *module)
{
	Elf_Data *data = elf_getdata(section, NULL);
	gsize i, n = header->sh_entsize ? header->sh_size / header->sh_entsize
					: 0;

	for (i = 0; data && i < n && i < G_MAXINT; i++) {
		GElf_Sym symbol;
		const char *name;

		if (!gelf_getsym(data, (int)i, &symbol))
			break;
		if (GELF_ST_TYPE(symbol.st_info) != STT_FUNC ||
		    symbol.st_shndx == SHN_UNDEF)
			continue;
		name = elf_strptr(elf, header->sh_link, symbol.st_name);
		if (name && *name)
			add_function(tree, name,
				     GELF_ST_BIND(symbol.st_info) == STB_WEAK,
				     directory, module);
	}
}

static void read_object(KmtSymBuildTree *tree, const char *path,
			const char *directory, const char *module)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf *elf = fd >= 0 ? elf_begin(fd, ELF_C_READ_MMAP, NULL) : NULL;
	Elf_Scn *section = NULL;
	GElf_Ehdr file;

	if (elf && gelf_getehdr(elf, &file) && file.e_type == ET_REL) {
		tree->n_objects++;
		while ((section = elf_nextscn(elf, section))) {
			GElf_Shdr header;

			if (gelf_getshdr(section, &header) &&
			    header.sh_type == SHT_SYMTAB)
				read_symbols(tree, elf, section, &header,
					     directory, module);
		}
	}
	if (elf)
		elf_end(elf);
	if (fd >= 0)
		close(fd);
}

/* relative is "" for the root.  Links to directories are not followed. */
static void walk(KmtSymBuildTree *tree, const char *path, const char *relative,
		 guint depth)
{
	g_autofree char *printable = kmt_printable(*relative ? relative : ".");
	const char *directory =
		g_string_chunk_insert_const(tree->strings, printable);
	GDir *listing = g_dir_open(path, 0, NULL);
	const char *name, *module;

	while (listing && (name = g_dir_read_name(listing))) {
		g_autofree char *child = g_build_filename(path, name, NULL);
		g_autofree char *below =
			*relative ? g_build_filename(relative, name, NULL)
				  : g_strdup(name);

		if (g_str_has_suffix(name, ".o")) {
			if (read_command(tree, path, name, &module))
				read_object(tree, child, directory, module);
		} else if (depth < MAX_DEPTH && !is_no_kernel(below) &&
			   g_file_test(child, G_FILE_TEST_IS_DIR) &&
			   !g_file_test(child, G_FILE_TEST_IS_SYMLINK)) {
			walk(tree, child, below, depth + 1);
		}
	}
	if (listing)
		g_dir_close(listing);
}

static gboolean check_directory(const char *path, GError **error)
{
	g_autoptr(GError) why = NULL;
	GDir *listing = g_dir_open(path, 0, &why);

	if (listing)
		g_dir_close(listing);
	else
		g_set_error(error, KMT_SYM_BUILD_TREE_ERROR,
			    KMT_SYM_BUILD_TREE_ERROR_READ,
			    "cannot read the kernel tree: %s", why->message);
	return listing != NULL;
}

KmtSymBuildTree *kmt_sym_build_tree_open(const char *path, GError **error)
{
	g_autoptr(KmtSymBuildTree) tree = NULL;

	if (!check_directory(path, error))
		return NULL;
	tree = g_new0(KmtSymBuildTree, 1);
	tree->functions = g_hash_table_new(kmt_str_hash, g_str_equal);
	tree->strings = g_string_chunk_new(1 << 16);
	tree->places = g_ptr_array_new_with_free_func(g_free);
	elf_version(EV_CURRENT);
	walk(tree, path, "", 0);
	if (!tree->n_objects) {
		g_set_error(error, KMT_SYM_BUILD_TREE_ERROR,
			    KMT_SYM_BUILD_TREE_ERROR_NOT_BUILT,
			    "no object files in '%s': a kernel tree that was "
			    "built is needed, or its build folder",
			    path);
		return NULL;
	}
	return g_steal_pointer(&tree);
}

void kmt_sym_build_tree_free(KmtSymBuildTree *tree)
{
	if (!tree)
		return;
	g_hash_table_unref(tree->functions);
	g_ptr_array_unref(tree->places);
	g_string_chunk_free(tree->strings);
	g_free(tree);
}

/* The one directory of those that were compiled for the module. */
static const char *choose(const Place *place, const char *module, gboolean weak)
{
	const char *directory = NULL;

	for (; place; place = place->next) {
		if (g_strcmp0(place->module, module) != 0 ||
		    place->weak != weak || place->directory == directory)
			continue;
		if (directory)
			return KMT_SYM_BUILD_TREE_AMBIGUOUS;
		directory = place->directory;
	}
	return directory;
}

/* That of all, if it is the same. */
static const char *choose_any(const Place *place)
{
	const char *directory = place->directory;

	for (; place; place = place->next)
		if (place->directory != directory)
			return KMT_SYM_BUILD_TREE_AMBIGUOUS;
	return directory;
}

const char *kmt_sym_build_tree_directory(const KmtSymBuildTree *tree,
					 const char *function,
					 const char *module)
{
	const Place *places = g_hash_table_lookup(tree->functions, function);
	const char *directory;

	if (!places)
		return NULL;
	directory = choose(places, module ? module : "", FALSE);
	if (!directory)
		directory = choose(places, module ? module : "", TRUE);
	/* Of several modules at once, or no command tells. */
	return directory ? directory : choose_any(places);
}
