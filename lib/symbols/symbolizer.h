/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names for the addresses and flags of a capture: functions, modules, source
 * lines, inlined functions, directories, gfp flags.
 *
 * Results are computed on request; those of the debug information are cached.
 * Any thread may call the lookup functions. All names are safe to print on a
 * terminal, whatever the input files contain.
 */
#ifndef KMEMTRACE_SYMBOLS_SYMBOLIZER_H
#define KMEMTRACE_SYMBOLS_SYMBOLIZER_H

#include "lib/symbols/call-site-tags.h"
#include "lib/symbols/dwarf.h"
#include "lib/symbols/gfp-flags.h"
#include "lib/symbols/kallsyms.h"
#include "lib/symbols/build-tree.h"

/*
 * Options of kmt_symbolizer_open(). The strings and the tags are used only
 * during that call; NULL means that an option is not given.
 */
typedef struct {
	/* Paths given by the user. */
	const char *kallsyms;	/* use this file instead of the captured
				 * kallsyms */
	const char *system_map; /* use this file instead of the captured
				 * kallsyms; ignored if kallsyms is given */
	gboolean raw;		/* do not load any names */
	const char *vmlinux;	/* file with debug information */
	const char *debug_dir;	/* debug files of modules and of vmlinux */
	const char *source;	/* built kernel tree */
	/* Properties of the capture. */
	const char *captured_kallsyms; /* path of the captured kallsyms */
	const char *captured_name; /* name of captured_kallsyms in messages */
	const char *captured_modules; /* path of the captured /proc/modules */
	const char *build_id;  /* build ID of the kernel, hexadecimal, not yet
				* validated */
	const char *release;   /* release as printed by uname -r, not yet
				* validated */
	const KmtSymTag *tags; /* call sites with tags, sorted by address and
				* went */
	guint n_tags;
} KmtSymbolizerOptions;

/*
 * Other source files may read the fields before the private ones. They must not
 * write any field.
 */
typedef struct {
	KmtSymDwarf *dwarf;    /* NULL: no debug information */
	KmtSymBuildTree *tree; /* NULL: no built kernel tree given, or
				* options->raw was set */
	const KmtSymGfp *gfp;  /* NULL: flags of this kernel unknown */
	KmtSymTags *tags;      /* NULL: the capture has no tags, or
				* options->raw was set */
	/* Private fields: */
	KmtSymTable *symbols; /* NULL: none, or not loaded yet */
	char *source; /* path or captured_name of the symbols; NULL: none, or
		       * not loadable */
	/* Paths of the captured tables; both are NULL once the load of
	 * captured_kallsyms has succeeded or failed. */
	char *captured_kallsyms, *captured_modules;
	char *load_error; /* why captured_kallsyms could not be loaded; NULL: no
			   * error so far */
	GMutex lock;	  /* held while captured_kallsyms is loaded */
} KmtSymbolizer;

/*
 * Open the sources of names given in @options. Files and directories given by
 * the user must be readable, and a vmlinux must belong to the traced kernel.
 * Errors are those of kmt_sym_table_load(), kmt_sym_dwarf_open() and
 * kmt_sym_build_tree_open(). If options->raw is set, no source is opened.
 *
 * The captured kallsyms is loaded when it is first needed. If it is missing,
 * this function adds a warning; if its load fails, kmt_symbolizer_check() adds
 * one. @warnings has char * elements and owns them. The caller frees the
 * result.
 */
KmtSymbolizer *kmt_symbolizer_open(const KmtSymbolizerOptions *options,
				   GPtrArray *warnings, GError **error);
void kmt_symbolizer_free(KmtSymbolizer *symbolizer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtSymbolizer, kmt_symbolizer_free)

/*
 * Add a warning if the captured kallsyms cannot be loaded, if the symbols do
 * not seem to belong to this kernel, or if debug files of modules are missing
 * or belong to another build. @addresses are the n call sites of the capture.
 */
void kmt_symbolizer_check(const KmtSymbolizer *symbolizer,
			  const guint64 *addresses, guint n,
			  GPtrArray *warnings);

/*
 * Return the name of the file that the symbols come from: its path, or
 * captured_name. Return NULL if there are no symbols. The symbolizer owns the
 * string.
 */
const char *kmt_symbolizer_path(const KmtSymbolizer *symbolizer);

/*
 * A call site: a return address, or the address of an allocation tag. Only the
 * call site of an allocation has a tag, since the address of a free may be in
 * another module than that of an earlier allocation.
 */
typedef struct {
	guint64 address;
	const KmtSymTag *tag; /* NULL: none; owned by the symbolizer */
} KmtSymSite;

/* Return the call site of an allocation at @time, in ns, with its tag. */
KmtSymSite kmt_symbolizer_alloc_site(const KmtSymbolizer *symbolizer,
				     guint64 address, gint64 time);

/*
 * Find the function that contains the return address of a call site, or that
 * its allocation tag names. Return FALSE if no function is known. The
 * symbolizer owns the strings.
 */
gboolean kmt_symbolizer_symbol(const KmtSymbolizer *symbolizer,
			       const KmtSymSite *site, KmtSymbol *symbol);

/* Return the address of _stext in the symbols of the capture; 0 if unknown. */
guint64 kmt_symbolizer_stext(const KmtSymbolizer *symbolizer);

/*
 * Format a return address as "function+0x1f [module]", and an allocation tag as
 * "function [module]". Return NULL if the call site has no name. The caller
 * frees the string.
 */
char *kmt_symbolizer_format(const KmtSymbolizer *symbolizer,
			    const KmtSymSite *site);

/*
 * Format a return address with its source line: "inlined <- function+0x1f
 * [module] mm/file.c:123". Inlined functions come first, the innermost at the
 * start; the source line is the line of the innermost function. The result is
 * "(caller not recorded)" for address 0, and NULL for any other address without
 * a name. The caller frees the string.
 */
char *kmt_symbolizer_describe(const KmtSymbolizer *symbolizer,
			      const KmtSymSite *site);

/*
 * Append the text that kmt_symbolizer_describe() returns. @symbol is the result
 * of kmt_symbolizer_symbol(), and @source that of kmt_symbolizer_source(), or
 * NULL if that function returned FALSE.
 */
void kmt_symbolizer_append(GString *text, const KmtSymbol *symbol,
			   const KmtSymSourceLine *source);

/*
 * Find the source location of a call site, in its tag or else in the debug
 * information. A location from the tags is that of the call of the
 * allocator, so it has no inlined functions. Return FALSE if neither has the
 * address. The symbolizer owns the strings.
 */
gboolean kmt_symbolizer_source(const KmtSymbolizer *symbolizer,
			       const KmtSymSite *site,
			       KmtSymSourceLine *source);

/*
 * Return the source directory of the allocation tag of a call site, or else of
 * the function that contains its return address: "net/core". The result is
 * KMT_SYM_BUILD_TREE_AMBIGUOUS if several directories are possible, and NULL if
 * the directory is unknown. The symbolizer owns the string.
 */
const char *kmt_symbolizer_directory(const KmtSymbolizer *symbolizer,
				     const KmtSymSite *site);

/*
 * Format gfp flags as kmt_sym_gfp_format() does, with the flag names of the
 * traced kernel. The caller frees the string.
 */
char *kmt_symbolizer_gfp(const KmtSymbolizer *symbolizer, guint64 flags);

#endif
