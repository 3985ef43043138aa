/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Members of a debug file, shared by debug-file.c and debug-file-lookup.c. */
#ifndef KMEMTRACE_SYMBOLS_DEBUG_FILE_PRIVATE_H
#define KMEMTRACE_SYMBOLS_DEBUG_FILE_PRIVATE_H

#include "lib/symbols/debug-file.h"

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

/* One compile unit: the output of one compiler invocation. */
typedef struct {
	Dwarf_Die die;
	GArray *functions; /* Dwarf_Die of each function; NULL until first
			    * needed */
	GArray *ranges;	   /* address ranges of the functions, sorted */
} KmtSymCompileUnit;

struct KmtSymDebugFile {
	Dwfl_Callbacks callbacks;
	Dwfl *dwfl;
	Dwfl_Module *module;
	char *debug_dir;
	char *build_id;
	Dwarf *dwarf;
	Dwarf_Addr bias; /* address in libdwfl's layout minus address in the
			  * debug information */
	GArray *units;	 /* KmtSymCompileUnit elements */
	GArray *ranges;	 /* address ranges of the units, sorted */
};

#endif
