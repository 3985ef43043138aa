/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Source lines, inlined functions and directories of the addresses of a
 * capture, from the debug information of its kernel and modules.
 */
#ifndef KMEMTRACE_SYMBOLS_DWARF_H
#define KMEMTRACE_SYMBOLS_DWARF_H

#include "lib/symbols/kallsyms.h"
#include "lib/symbols/dwarf-error.h"

typedef struct {
	const char *vmlinux;   /* NULL: looked for in debug_dir */
	const char *debug_dir; /* of modules and by build id; or NULL */
	const char *build_id;  /* of the traced kernel, hex; NULL: not known */
	const char *release;   /* likewise, as uname -r */
} KmtDwarfOptions;

typedef struct KmtDwarf KmtDwarf;

/*
 * symbols are those of the running kernel: they tell how far it was moved, and
 * must outlive the KmtDwarf; NULL if there are none, which is an error here.  A
 * vmlinux of another kernel is refused.  That debug_dir has none is a text
 * added to warnings (of char *).  Errors: KMT_DWARF_ERROR,
 * KMT_DEBUG_FILE_ERROR.
 */
KmtDwarf *kmt_dwarf_open(const KmtDwarfOptions *options,
			 const KmtSymbols *symbols, GPtrArray *warnings,
			 GError **error);
void kmt_dwarf_free(KmtDwarf *dwarf);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtDwarf, kmt_dwarf_free)

/* Strings are of the KmtDwarf; NULL where something is not known. */
typedef struct {
	const char *file; /* from the root of the source, if it lies in it */
	guint line;	  /* 0 if file is NULL */
	/* Inlined functions, innermost first, NULL-terminated; never NULL. */
	const char *const *inlined;
} KmtSourceLine;

/*
 * Of a return address: what is at the byte before it.  FALSE if nothing is
 * known.  Any thread; the first question for an address takes its time.
 */
gboolean kmt_dwarf_lookup(KmtDwarf *dwarf, guint64 address,
			  KmtSourceLine *source);

/*
 * The directory of the file that was compiled there, from the root of the
 * source; NULL if it is not known.  Equal ones are the same string, which is
 * the KmtDwarf's.  Any thread; faster than the above.
 */
const char *kmt_dwarf_directory(KmtDwarf *dwarf, guint64 address);

/*
 * Adds to warnings the modules in which some of the addresses lie and that have
 * no debug file, or one that does not fit.  Nothing without a debug_dir.
 */
void kmt_dwarf_check_modules(KmtDwarf *dwarf, const guint64 *addresses, guint n,
			     GPtrArray *warnings);

#endif
