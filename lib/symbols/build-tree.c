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

/* Limit of the directory recursion. A kernel tree has fewer than 20 levels. */
#define MAX_DEPTH 64

/* One compiled definition of a function. */
typedef struct Definition {
	const char *directory;
	/* Module that the function was compiled for: "" for the kernel itself,
	 * NULL if kbuild left no command file, or if the command compiles for
	 * a module without a name.
	 */
	const char *module;
	gboolean weak; /* weak symbol: the linker prefers a strong
			* one */
	/* next definition with the same function name */
	const struct Definition *next;
} Definition;

struct KmtSymBuildTree {
	/* function name -> first Definition of its list */
	GHashTable *functions;
	GStringChunk *strings;
	GPtrArray *definitions; /* owns every Definition */
	guint n_objects;
};

G_DEFINE_QUARK(kmt_sym_build_tree_error, kmt_sym_build_tree_error)

/*
 * Return whether the directory holds objects that are not part of the running
 * kernel: programs of the build machine, boot code, user-space vDSO code.
 * @directory is relative to the root of the tree.
 */
static gboolean is_outside_kernel(const char *directory)
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

/*
 * Return whether to skip an object file because of its name: an object linked
 * from other objects, a temporary object, or the object of a generated .mod.c.
 * Used only for an object without a kbuild command file.
 */
static gboolean is_linked_object(const char *name)
{
	return *name == '.' || strcmp(name, "vmlinux.o") == 0 ||
	       strcmp(name, "built-in.o") == 0 ||
	       g_str_has_suffix(name, ".mod.o");
}

/*
 * Return X from -DKBUILD_MODNAME='"X"', quoted as kbuild quotes it; "" if the
 * command compiles for the kernel itself; NULL if the command compiles for a
 * module but has no such option. The string is valid as long as @tree.
 */
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
 * Read .x.o.cmd, the command file that kbuild leaves beside x.o. The file of a
 * compiled object names its source. The command file of a linked object names
 * no source; such an object is skipped, because the objects that it consists of
 * are read. Return FALSE if the object must be skipped. *module is set as by
 * module_of_command(), and to NULL if there is no command file.
 */
static gboolean read_command(KmtSymBuildTree *tree, const char *directory,
			     const char *object, const char **module)
{
	g_autofree char *name = g_strdup_printf(".%s.cmd", object);
	g_autofree char *path = g_build_filename(directory, name, NULL);
	g_autofree char *text = NULL;

	*module = NULL;
	if (!g_file_get_contents(path, &text, NULL, NULL))
		return !is_linked_object(object);
	if (!strstr(text, "\nsource_") && !g_str_has_prefix(text, "source_"))
		return FALSE;
	*module = module_of_command(tree, text);
	return TRUE;
}

static void add_function(KmtSymBuildTree *tree, const char *name, gboolean weak,
			 const char *directory, const char *module)
{
	const Definition *first = g_hash_table_lookup(tree->functions, name);
	const Definition *listed;
	Definition *definition;

	for (listed = first; listed; listed = listed->next)
		if (listed->directory == directory && listed->weak == weak &&
		    g_strcmp0(listed->module, module) == 0)
			return;
	definition = g_new(Definition, 1);
	definition->directory = directory;
	definition->module = module;
	definition->weak = weak;
	definition->next = first;
	g_ptr_array_add(tree->definitions, definition);
	g_hash_table_insert(tree->functions,
			    g_string_chunk_insert_const(tree->strings, name),
			    definition);
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

/*
 * Read the object files below @path, except those outside the kernel. @relative
 * is the path of @path from the root of the tree, "" for the root. Links to
 * directories are not followed.
 */
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
		g_autofree char *child_relative =
			*relative ? g_build_filename(relative, name, NULL)
				  : g_strdup(name);

		if (g_str_has_suffix(name, ".o")) {
			if (read_command(tree, path, name, &module))
				read_object(tree, child, directory, module);
		} else if (depth < MAX_DEPTH &&
			   !is_outside_kernel(child_relative) &&
			   g_file_test(child, G_FILE_TEST_IS_DIR) &&
			   !g_file_test(child, G_FILE_TEST_IS_SYMLINK)) {
			walk(tree, child, child_relative, depth + 1);
		}
	}
	if (listing)
		g_dir_close(listing);
}

static gboolean check_directory(const char *path, GError **error)
{
	g_autoptr(GError) open_error = NULL;
	GDir *listing = g_dir_open(path, 0, &open_error);

	if (listing)
		g_dir_close(listing);
	else
		g_set_error(error, KMT_SYM_BUILD_TREE_ERROR,
			    KMT_SYM_BUILD_TREE_ERROR_READ,
			    "cannot read the kernel tree: %s",
			    open_error->message);
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
	tree->definitions = g_ptr_array_new_with_free_func(g_free);
	elf_version(EV_CURRENT);
	walk(tree, path, "", 0);
	if (!tree->n_objects) {
		g_set_error(error, KMT_SYM_BUILD_TREE_ERROR,
			    KMT_SYM_BUILD_TREE_ERROR_NOT_BUILT,
			    "no object files in '%s': name a built kernel "
			    "tree or its build folder",
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
	g_ptr_array_unref(tree->definitions);
	g_string_chunk_free(tree->strings);
	g_free(tree);
}

/*
 * Return the directory that holds all definitions with the given module and
 * weakness: NULL if there is no such definition, KMT_SYM_BUILD_TREE_AMBIGUOUS
 * if they are in several directories.
 */
static const char *unique_directory(const Definition *definition,
				    const char *module, gboolean weak)
{
	const char *directory = NULL;

	for (; definition; definition = definition->next) {
		if (g_strcmp0(definition->module, module) != 0 ||
		    definition->weak != weak ||
		    definition->directory == directory)
			continue;
		if (directory)
			return KMT_SYM_BUILD_TREE_AMBIGUOUS;
		directory = definition->directory;
	}
	return directory;
}

/*
 * Return the directory of all definitions in the list, or
 * KMT_SYM_BUILD_TREE_AMBIGUOUS if the directories differ.
 */
static const char *common_directory(const Definition *definition)
{
	const char *directory = definition->directory;

	for (; definition; definition = definition->next)
		if (definition->directory != directory)
			return KMT_SYM_BUILD_TREE_AMBIGUOUS;
	return directory;
}

const char *kmt_sym_build_tree_directory(const KmtSymBuildTree *tree,
					 const char *function,
					 const char *module)
{
	const Definition *definitions =
		g_hash_table_lookup(tree->functions, function);
	const char *directory;

	if (!definitions)
		return NULL;
	directory = unique_directory(definitions, module ? module : "", FALSE);
	if (!directory)
		directory = unique_directory(definitions, module ? module : "",
					     TRUE);
	/* Without a definition for this module, use all definitions: kbuild
	 * compiles an object that is linked into several modules only once, and
	 * an object may have no command file. */
	return directory ? directory : common_directory(definitions);
}
