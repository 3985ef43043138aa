/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Representation of the symbol table, shared by kallsyms.c, kallsyms-load.c and
 * kallsyms-sort.c. */
#ifndef KMEMTRACE_SYMBOLS_KALLSYMS_PRIVATE_H
#define KMEMTRACE_SYMBOLS_KALLSYMS_PRIVATE_H

#include "lib/symbols/kallsyms-line.h"
#include "lib/symbols/kallsyms.h"
#include "lib/symbols/line-reader.h"

/*
 * One symbol. The name stays in the text of the file, and the first use of the
 * name stores a NUL after it. Most names are never used; terminating them would
 * copy pages, because a write to a page of a private mapping copies the page.
 */
typedef struct {
	guint64 address;
	guint32 name;	/* offset in the text, in bytes */
	guint16 module; /* number + 1 of the module; 0: the kernel itself */
	guint16 length : 12; /* length of the name in bytes */
	guint16 code : 1;    /* the symbol is a function */
	guint16 weak : 1;    /* the symbol type is w or W */
} KmtSymTableEntry;

G_STATIC_ASSERT(sizeof(KmtSymTableEntry) == 16);
G_STATIC_ASSERT(KMT_SYM_MAX_NAME < 1 << 12);

typedef struct {
	guint64 start;
	guint64 end; /* exclusive; 0: unknown */
} KmtSymTableRange;

typedef struct {
	char *name;
	KmtSymTableRange range;
} KmtSymTableModule;

struct KmtSymTable {
	KmtSymTextFile file;
	KmtSymTableEntry *entries; /* sorted by address; the best name of each
				    * address */
	guint n_entries;
	guint n_allocated;
	GArray *modules;	 /* KmtSymTableModule elements */
	guint64 text;		 /* address of _text; 0: unknown */
	KmtSymTableRange kernel; /* _stext to _etext */
	KmtSymTableRange init;	 /* _sinittext to _einittext */
};

/*
 * Sort the entries by address. Entries with equal addresses keep the order of
 * the file.
 */
void kmt_sym_table_sort(KmtSymTable *symbols);

#endif
