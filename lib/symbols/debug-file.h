/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One ELF file with debug information: vmlinux or a module.
 *
 * Addresses are those of libdwfl's layout of the file. A vmlinux has the
 * addresses that it was linked for. A module is not linked, so libdwfl places
 * its sections one after the other. Only one thread at a time may use a
 * KmtSymDebugFile.
 */
#ifndef KMEMTRACE_SYMBOLS_DEBUG_FILE_H
#define KMEMTRACE_SYMBOLS_DEBUG_FILE_H

#include <glib.h>

#define KMT_SYM_DEBUG_FILE_ERROR (kmt_sym_debug_file_error_quark())
GQuark kmt_sym_debug_file_error_quark(void);

typedef enum {
	KMT_SYM_DEBUG_FILE_ERROR_OPEN,	  /* file missing or not ELF */
	KMT_SYM_DEBUG_FILE_ERROR_NO_INFO, /* debug information missing or
					   * damaged */
} KmtSymDebugFileError;

typedef struct KmtSymDebugFile KmtSymDebugFile;

/*
 * Open the file at @path. The debug information of a stripped file is searched
 * in debug_dir/.build-id; @debug_dir may be NULL. On error return NULL with a
 * KMT_SYM_DEBUG_FILE_ERROR. The caller frees the result.
 */
KmtSymDebugFile *kmt_sym_debug_file_open(const char *path,
					 const char *debug_dir, GError **error);
void kmt_sym_debug_file_free(KmtSymDebugFile *file);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtSymDebugFile, kmt_sym_debug_file_free)

/*
 * Return the GNU build ID of the file in lower-case hexadecimal, or NULL if the
 * file has none. The file owns the string.
 */
const char *kmt_sym_debug_file_build_id(const KmtSymDebugFile *file);

/*
 * Call @func for each named symbol that is defined in an ELF section of the
 * file, except symbols of the types STT_SECTION and STT_FILE. @section is the
 * index of that ELF section. @name lives as long as the KmtSymDebugFile.
 */
typedef void (*KmtSymDebugSymbolFunc)(const char *name, guint64 address,
				      guint section, gpointer user);
void kmt_sym_debug_file_foreach_symbol(const KmtSymDebugFile *file,
				       KmtSymDebugSymbolFunc func,
				       gpointer user);

/*
 * Return the start address and the section index of the .text section. Return
 * FALSE if the file has no .text section.
 */
gboolean kmt_sym_debug_file_text(const KmtSymDebugFile *file, guint64 *address,
				 guint *section);

/*
 * Source location of one instruction. The strings and the array belong to the
 * struct; kmt_sym_source_location_clear() frees them.
 */
typedef struct {
	char *file; /* absolute path, or NULL */
	guint line;
	/* Names of the functions inlined at the instruction, innermost first,
	 * NULL-terminated. */
	GPtrArray *inlined;
	char *unit_dir; /* absolute directory in which the compiler ran */
} KmtSymSourceLocation;

void kmt_sym_source_location_clear(KmtSymSourceLocation *location);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(KmtSymSourceLocation,
				 kmt_sym_source_location_clear)

/*
 * Find the source location of the instruction that contains @address. Unknown
 * members are NULL, and an unknown line is 0. Return FALSE if no compile unit
 * contains the address. The caller clears *location.
 */
gboolean kmt_sym_debug_file_lookup(KmtSymDebugFile *file, guint64 address,
				   KmtSymSourceLocation *location);

/*
 * Find the main source file of the compile unit that contains @address. *path
 * is NULL if the unit has no name. *directory is the directory in which the
 * compiler ran. Both are absolute, and the caller frees them. Return FALSE if
 * no unit contains the address.
 */
gboolean kmt_sym_debug_file_unit(const KmtSymDebugFile *file, guint64 address,
				 char **path, char **directory);

/*
 * Return the root directory of the kernel source: the path of the init/main.c
 * that was compiled into the file, without "/init/main.c". Return NULL if the
 * file has no such unit. The caller frees the string.
 */
char *kmt_sym_debug_file_source_root(const KmtSymDebugFile *file);

#endif
