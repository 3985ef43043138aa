/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Look up source lines, inlined functions and directories of a capture's
 * addresses in the debug information of its kernel and modules.
 */
#ifndef KMEMTRACE_SYMBOLS_DWARF_H
#define KMEMTRACE_SYMBOLS_DWARF_H

#include "lib/symbols/kallsyms.h"
#include "lib/symbols/dwarf-error.h"

typedef struct {
	const char *vmlinux;   /* NULL: search in debug_dir */
	const char *debug_dir; /* directory with debug files of modules, and a
				* .build-id subdirectory; or NULL */
	const char *build_id;  /* of the traced kernel, hexadecimal; NULL:
				* unknown */
	const char *release;   /* of the traced kernel, as uname -r prints;
				* NULL: unknown */
} KmtSymDwarfOptions;

typedef struct KmtSymDwarf KmtSymDwarf;

/*
 * Open the debug information named in @options.
 *
 * @symbols is the symbol table of the traced kernel, which shows how far KASLR
 * moved the kernel. The table must outlive the result; NULL is an error. A
 * vmlinux of another kernel is an error. If @options has no vmlinux and
 * debug_dir contains none, a text is added to @warnings (elements are char *).
 * Errors are KMT_SYM_DWARF_ERROR and KMT_SYM_DEBUG_FILE_ERROR. The caller frees
 * the result.
 */
KmtSymDwarf *kmt_sym_dwarf_open(const KmtSymDwarfOptions *options,
				const KmtSymTable *symbols, GPtrArray *warnings,
				GError **error);
void kmt_sym_dwarf_free(KmtSymDwarf *dwarf);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtSymDwarf, kmt_sym_dwarf_free)

/*
 * Source location of a return address. The KmtSymDwarf owns the strings, or the
 * KmtSymTags if the location comes from an allocation tag.
 */
typedef struct {
	const char *file; /* relative to the root of the source if inside it,
			   * else to the directory in which the compiler ran if
			   * inside that, else absolute; NULL: unknown */
	guint line;	  /* 0 if file is NULL */
	/* Names of the inlined functions, innermost first, NULL-terminated;
	 * never NULL after a successful lookup. */
	const char *const *inlined;
} KmtSymSourceLine;

/*
 * Find the source location of a return address, that is, of the byte before
 * @address. Return FALSE if nothing is known. Any thread may call this
 * function. Results are cached; the first lookup of an address is slow.
 */
gboolean kmt_sym_dwarf_lookup(KmtSymDwarf *dwarf, guint64 address,
			      KmtSymSourceLine *source);

/*
 * Return the directory of the main source file of the compile unit that
 * contains the return address, in the form of KmtSymSourceLine.file; NULL if
 * unknown. Equal directories are the same string, owned by @dwarf. Any thread
 * may call this function. The lookup is faster than kmt_sym_dwarf_lookup().
 */
const char *kmt_sym_dwarf_directory(KmtSymDwarf *dwarf, guint64 address);

/*
 * Add to @warnings the modules that contain some of the n @addresses and have
 * no usable debug file, or only debug files of other builds. Modules whose code
 * the kernel generates are omitted. Without a debug_dir no warning is added.
 */
void kmt_sym_dwarf_check_modules(KmtSymDwarf *dwarf, const guint64 *addresses,
				 guint n, GPtrArray *warnings);

#endif
