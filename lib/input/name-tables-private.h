/* SPDX-License-Identifier: GPL-2.0-or-later */
/* State of the name tables that name-tables.c and name-table-lines.c share. */
#ifndef KMEMTRACE_INPUT_NAME_TABLES_PRIVATE_H
#define KMEMTRACE_INPUT_NAME_TABLES_PRIVATE_H

#include "lib/input/name-tables.h"

/*
 * A name of a task, valid until a time. The entries of a task are sorted by
 * until.
 */
typedef struct {
	gint64 until;
	guint32 pid;
	guint32 name; /* offset in the text of the table */
} KmtInputTaskName;

typedef struct {
	guint32 number;
	guint32 n;
	guint64 first; /* index of the first address in the array of all
			* addresses */
} KmtInputStack;

/* A table, and the defects found while reading it. */
typedef struct {
	char *text; /* content of the file; names point into it */
	gboolean is_present;
	guint64 n_bad;
	guint64 first_bad; /* line number of the first invalid line, from 1 */
} KmtInputNameTable;

struct KmtInputTables {
	KmtInputNameTable caches_table;
	KmtInputNameTable tasks_table;
	KmtInputNameTable marks_table;
	GPtrArray *marks; /* of KmtInputMarkKind, sorted by number */
	guint64 unnumbered_marks;
	KmtInputNameTable stacks_table;
	KmtInputCache **caches;	  /* G_MAXUINT16 + 1 entries, indexed by number,
				     or NULL */
	guint n_duplicate_caches; /* caches with the number of another cache */
	GArray *tasks;	   /* of KmtInputTaskName, sorted by pid and until */
	GArray *stacks;	   /* of KmtInputStack, sorted by number */
	GArray *addresses; /* of guint64, of all stacks */
	guint64 dropped;
	gboolean is_from_ftrace; /* tasks come from tracepoints and may be
				  * incomplete */
	guint64 unnumbered;
	guint64 n_without_stack;
	gint64 exact_after;
	GPtrArray *warnings;
};

/* The format of a table. */
typedef struct {
	const char *name;
	guint n_columns; /* number of columns in this version */
	gboolean (*add)(KmtInputTables *tables, char *line, guint n_newer);
} KmtInputTableFormat;

extern const KmtInputTableFormat kmt_input_caches_format,
	kmt_input_tasks_format, kmt_input_marks_format, kmt_input_stacks_format;

/* Add a warning about the tables. */
void kmt_input_tables_warn(KmtInputTables *tables, const char *format, ...)
	G_GNUC_PRINTF(2, 3);

/*
 * Read a table of the capture, if it exists, and add its rows to tables. Warn
 * about invalid lines.
 */
void kmt_input_table_read(KmtInputTables *tables,
			  const KmtInputCapture *capture,
			  KmtInputNameTable *table,
			  const KmtInputTableFormat *kind);

#endif
