/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Errors of the functions that read debug information. */
#ifndef KMEMTRACE_SYMBOLS_DWARF_ERROR_H
#define KMEMTRACE_SYMBOLS_DWARF_ERROR_H

#include <glib.h>

#define KMT_SYM_DWARF_ERROR (kmt_sym_dwarf_error_quark())
GQuark kmt_sym_dwarf_error_quark(void);

typedef enum {
	KMT_SYM_DWARF_ERROR_UNSUPPORTED,     /* built without libdw */
	KMT_SYM_DWARF_ERROR_READ,	     /* directory not readable */
	KMT_SYM_DWARF_ERROR_OTHER_KERNEL,    /* build IDs or symbols differ */
	KMT_SYM_DWARF_ERROR_NO_LOAD_ADDRESS, /* load address of the kernel not
						known */
} KmtSymDwarfError;

#endif
