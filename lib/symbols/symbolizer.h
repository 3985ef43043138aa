/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names for the addresses and flags of a capture: functions, modules, source
 * lines, inlined functions, directories, gfp flags.
 *
 * What is asked for is looked up then, and kept.  Any thread may ask.  Names
 * may be shown on a terminal, whatever the files say.
 */
#ifndef KMEMTRACE_SYMBOLS_SYMBOLIZER_H
#define KMEMTRACE_SYMBOLS_SYMBOLIZER_H

#include "lib/symbols/dwarf.h"
#include "lib/symbols/gfp-flags.h"
#include "lib/symbols/kallsyms.h"
#include "lib/symbols/build-tree.h"

/* Strings are read during kmt_symbolizer_open() only; NULL: not given. */
typedef struct {
	/* Paths that the user named. */
	const char *kallsyms;	/* instead of the captured one */
	const char *system_map; /* instead of a kallsyms */
	gboolean raw;		/* no names at all */
	const char *vmlinux;	/* with debug information */
	const char *debug_dir;	/* of modules, and of vmlinux if not named */
	const char *source;	/* a built kernel tree */
	/* Facts of the capture. */
	const char *captured_kallsyms; /* path */
	const char *captured_name;     /* of captured_kallsyms in messages */
	const char *captured_modules;  /* path */
	const char *build_id; /* of the kernel, hexadecimal, unchecked */
	const char *release;  /* as uname -r prints it, unchecked */
} KmtSymbolizerOptions;

/* Fields are for reading only. */
typedef struct {
	KmtSymDwarf *dwarf;    /* NULL: there are no source lines */
	KmtSymBuildTree *tree; /* NULL: no built kernel tree */
	const KmtSymGfp *gfp;  /* NULL: flags of that kernel are not known */
	/* private: */
	KmtSymTable *symbols;	   /* NULL: there are no names, */
	char *problem;		   /* and this may say why, */
	char *source;		   /* else their path; valid without loader: */
	KmtSymTableLoader *loader; /* NULL; of the captured ones */
	GMutex lock;		   /* of loader */
} KmtSymbolizer;

/*
 * A file or directory named in the options must be readable, and of the kernel
 * that was traced; errors are those of kmt_sym_table_load(),
 * kmt_sym_dwarf_open() and kmt_sym_build_tree_open().  The captured kallsyms is
 * read when somebody asks, or before by kmt_symbolizer_load_some(): that it is
 * of no use, kmt_symbolizer_check() tells. warnings: of char *, owned by it.
 */
KmtSymbolizer *kmt_symbolizer_open(const KmtSymbolizerOptions *options,
				   GPtrArray *warnings, GError **error);
void kmt_symbolizer_free(KmtSymbolizer *names);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtSymbolizer, kmt_symbolizer_free)

/*
 * Reads some more of the captured kallsyms, for some us.  For a thread that has
 * nothing else to do; any, as often as it likes.  FALSE: there is nothing left,
 * or another thread is at it.
 */
gboolean kmt_symbolizer_load_some(const KmtSymbolizer *names);

/*
 * Adds a warning if the names do not seem to be those of this kernel, or debug
 * files of modules are missing; addresses are the n call sites.
 */
void kmt_symbolizer_check(const KmtSymbolizer *names, const guint64 *addresses,
			  guint n, GPtrArray *warnings);

/* Path of the symbols; NULL: there are none. */
const char *kmt_symbolizer_path(const KmtSymbolizer *names);

/* FALSE if the address, a return address, is in no known function. */
gboolean kmt_symbolizer_symbol(const KmtSymbolizer *names, guint64 address,
			       KmtSymbol *symbol);

/* "function+0x1f [module]"; NULL if the address has no name. */
char *kmt_symbolizer_format(const KmtSymbolizer *names, guint64 address);

/*
 * The same with what the source tells: "inlined <- function+0x1f [module]
 * mm/file.c:123", the innermost function first, and the line is its own.
 */
char *kmt_symbolizer_describe(const KmtSymbolizer *names, guint64 address);

/* FALSE if no debug information tells; the strings are those of names. */
gboolean kmt_symbolizer_source(const KmtSymbolizer *names, guint64 address,
			       KmtSymSourceLine *source);

/*
 * "net/core": the directory of the source that the function was compiled from;
 * KMT_SYM_BUILD_TREE_AMBIGUOUS if it may be one of several, NULL if it is not
 * known.  The string is that of names.
 */
const char *kmt_symbolizer_directory(const KmtSymbolizer *names,
				     guint64 address);

/* "GFP_KERNEL|__GFP_ZERO"; hexadecimal for a kernel whose flags are unknown. */
char *kmt_symbolizer_gfp(const KmtSymbolizer *names, guint64 flags);

#endif
