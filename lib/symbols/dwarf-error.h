/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Errors of reading debug information. */
#ifndef KMEMTRACE_SYMBOLS_DWARF_ERROR_H
#define KMEMTRACE_SYMBOLS_DWARF_ERROR_H

#include <glib.h>

#define KMT_SYM_DWARF_ERROR (kmt_sym_dwarf_error_quark())
GQuark kmt_sym_dwarf_error_quark(void);

typedef enum {
	KMT_SYM_DWARF_ERROR_UNSUPPORTED,  /* built without libdw */
	KMT_SYM_DWARF_ERROR_READ,	  /* the directory cannot be read */
	KMT_SYM_DWARF_ERROR_OTHER_KERNEL, /* build ids or symbols differ */
	KMT_SYM_DWARF_ERROR_NO_PLACE, /* where the kernel ran is not known */
} KmtSymDwarfError;

#endif
