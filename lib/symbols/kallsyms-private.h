/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of symbols, as kallsyms.c, kallsyms-load.c and kallsyms-sort.c
 * share it. */
#ifndef KMEMTRACE_SYMBOLS_KALLSYMS_PRIVATE_H
#define KMEMTRACE_SYMBOLS_KALLSYMS_PRIVATE_H

#include "lib/symbols/kallsyms-line.h"
#include "lib/symbols/kallsyms.h"
#include "lib/symbols/line-reader.h"

/*
 * Names stay where they are in the file.  They get their end when somebody asks
 * for them: few are asked for, and a page that is written to is copied.
 */
typedef struct {
	guint64 address;
	guint32 name;	/* offset in the text */
	guint16 module; /* number + 1 in modules; 0: the kernel itself */
	guint16 length : 12;
	guint16 code : 1;
	guint16 weak : 1;
} KmtSymTableEntry;

G_STATIC_ASSERT(sizeof(KmtSymTableEntry) == 16);
G_STATIC_ASSERT(KMT_SYM_MAX_NAME < 1 << 12);

typedef struct {
	guint64 start;
	guint64 end; /* the byte after it; 0: unknown */
} KmtSymTableRange;

typedef struct {
	char *name;
	KmtSymTableRange range;
} KmtSymTableModule;

struct KmtSymTable {
	KmtSymTextFile file;
	KmtSymTableEntry *entries; /* by address, the best name of each */
	guint n_entries;
	guint n_allocated;
	GArray *modules;	 /* of KmtSymTableModule */
	guint64 text;		 /* _text */
	KmtSymTableRange kernel; /* _stext to _etext */
	KmtSymTableRange init;	 /* _sinittext to _einittext */
};

/* Sort the entries by address, and equal addresses by place in the file. */
void kmt_sym_table_sort(KmtSymTable *symbols);

#endif
