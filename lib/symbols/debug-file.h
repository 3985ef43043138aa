/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One ELF file with debug information: vmlinux, or a module.
 *
 * Addresses are those at which libdwfl lays the file out: where it was linked
 * for, or for a module (which is not linked) one section after the other.
 * One thread at a time.
 */
#ifndef KMEMTRACE_SYMBOLS_DEBUG_FILE_H
#define KMEMTRACE_SYMBOLS_DEBUG_FILE_H

#include <glib.h>

#define KMT_SYM_DEBUG_FILE_ERROR (kmt_sym_debug_file_error_quark())
GQuark kmt_sym_debug_file_error_quark(void);

typedef enum {
	KMT_SYM_DEBUG_FILE_ERROR_OPEN,	  /* no file, or no ELF file */
	KMT_SYM_DEBUG_FILE_ERROR_NO_INFO, /* no debug information, or a bad one
					   */
} KmtSymDebugFileError;

typedef struct KmtSymDebugFile KmtSymDebugFile;

/*
 * If the file was stripped, its debug information is looked for in
 * debug_dir/.build-id; debug_dir may be NULL.
 */
KmtSymDebugFile *kmt_sym_debug_file_open(const char *path,
					 const char *debug_dir, GError **error);
void kmt_sym_debug_file_free(KmtSymDebugFile *file);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtSymDebugFile, kmt_sym_debug_file_free)

/* Its GNU build id, lower-case hexadecimal; NULL if it has none. */
const char *kmt_sym_debug_file_build_id(const KmtSymDebugFile *file);

/* Its symbols that are places.  name lives as long as the file. */
typedef void (*KmtSymDebugSymbolFunc)(const char *name, guint64 address,
				      guint section, gpointer user);
void kmt_sym_debug_file_foreach_symbol(const KmtSymDebugFile *file,
				       KmtSymDebugSymbolFunc func,
				       gpointer user);

/* Where its section .text begins, and its number; FALSE if it has none. */
gboolean kmt_sym_debug_file_text(const KmtSymDebugFile *file, guint64 *address,
				 guint *section);

/* What an instruction was compiled from. */
typedef struct {
	char *file; /* absolute */
	guint line;
	/* Functions inlined there, innermost first, NULL-terminated. */
	GPtrArray *inlined;
	char *unit_dir; /* where the compiler ran, absolute */
} KmtSymSourceLocation;

void kmt_sym_source_location_clear(KmtSymSourceLocation *place);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(KmtSymSourceLocation,
				 kmt_sym_source_location_clear)

/*
 * The place of the instruction that address lies in.  Strings are the caller's;
 * what is not known is NULL.  FALSE if nothing is known.
 */
gboolean kmt_sym_debug_file_lookup(KmtSymDebugFile *file, guint64 address,
				   KmtSymSourceLocation *place);

/*
 * The file that was compiled to that instruction, NULL if it has no name, and
 * where the compiler ran; absolute, and the caller's.  FALSE: not known.
 */
gboolean kmt_sym_debug_file_unit(const KmtSymDebugFile *file, guint64 address,
				 char **path, char **directory);

/*
 * The root of the kernel's source: where the init/main.c is that was compiled
 * into the file; NULL if there is none.  The caller frees it.
 */
char *kmt_sym_debug_file_source_root(const KmtSymDebugFile *file);

#endif
