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
} KmtSymDwarfOptions;

typedef struct KmtSymDwarf KmtSymDwarf;

/*
 * symbols are those of the running kernel: they tell how far it was moved, and
 * must outlive the KmtSymDwarf; NULL if there are none, which is an error here.
 * A vmlinux of another kernel is refused.  That debug_dir has none is a text
 * added to warnings (of char *).  Errors: KMT_SYM_DWARF_ERROR,
 * KMT_SYM_DEBUG_FILE_ERROR.
 */
KmtSymDwarf *kmt_sym_dwarf_open(const KmtSymDwarfOptions *options,
				const KmtSymTable *symbols, GPtrArray *warnings,
				GError **error);
void kmt_sym_dwarf_free(KmtSymDwarf *dwarf);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtSymDwarf, kmt_sym_dwarf_free)

/* Strings are of the KmtSymDwarf; NULL where something is not known. */
typedef struct {
	const char *file; /* from the root of the source, if it lies in it */
	guint line;	  /* 0 if file is NULL */
	/* Inlined functions, innermost first, NULL-terminated; never NULL. */
	const char *const *inlined;
} KmtSymSourceLine;

/*
 * Of a return address: what is at the byte before it.  FALSE if nothing is
 * known.  Any thread; the first question for an address takes its time.
 */
gboolean kmt_sym_dwarf_lookup(KmtSymDwarf *dwarf, guint64 address,
			      KmtSymSourceLine *source);

/*
 * The directory of the file that was compiled there, from the root of the
 * source; NULL if it is not known.  Equal ones are the same string, which is
 * the KmtSymDwarf's.  Any thread; faster than the above.
 */
const char *kmt_sym_dwarf_directory(KmtSymDwarf *dwarf, guint64 address);

/*
 * Adds to warnings the modules in which some of the addresses lie and that have
 * no debug file, or one that does not fit.  Nothing without a debug_dir.
 */
void kmt_sym_dwarf_check_modules(KmtSymDwarf *dwarf, const guint64 *addresses,
				 guint n, GPtrArray *warnings);

#endif
