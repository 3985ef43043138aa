/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * State of the name tables, shared by name-tables.c, tag-table.c and
 * name-table-lines.c.
 */
#ifndef KMEMTRACE_INPUT_NAME_TABLES_PRIVATE_H
#define KMEMTRACE_INPUT_NAME_TABLES_PRIVATE_H

#include "lib/input/name-tables.h"

/*
 * A name that a task had up to and including the time until, in ns, or the path
 * of the cgroup that the task was in.
 */
typedef struct {
	gint64 until;
	guint32 pid;
	guint32 name; /* offset of the name in the text of the table, in bytes
		       */
} KmtInputTaskName;

typedef struct {
	guint32 number; /* number of the stack in the records */
	guint32 n;	/* number of addresses */
	guint64 first;	/* index in KmtInputTables.addresses of the first of the
			 * n addresses */
} KmtInputStack;

/* A table file and the defects found in the file. */
typedef struct {
	char *text; /* content of the file; the strings in the parsed rows point
		     * into this text */
	gboolean is_present;
	guint64 n_bad;	   /* number of invalid lines and duplicate rows */
	guint64 first_bad; /* line number of the first invalid line, from 1 */
} KmtInputNameTable;

/* A table with the names or the cgroups of tasks. */
typedef struct {
	KmtInputNameTable table;
	GArray *names; /* array of KmtInputTaskName, sorted by pid and until */
	guint64 dropped; /* number of names that the recorder dropped */
	/* If dropped is not 0, names up to this time in ns are uncertain; at
	 * most G_MAXINT64. */
	guint64 exact_after;
} KmtInputTaskTable;

struct KmtInputTables {
	KmtInputNameTable caches_table;
	KmtInputTaskTable tasks;
	KmtInputTaskTable cgroups;
	KmtInputNameTable marks_table;
	GPtrArray *marks; /* array of KmtInputMarkKind, sorted by number */
	guint64 unnumbered_marks; /* number of annotations to which the kernel
				   * gave no number */
	KmtInputNameTable stacks_table;
	KmtInputNameTable tags_table; /* only in a KmtInputTagTable */
	GArray *tags;		      /* array of KmtInputTag */
	KmtInputCache **caches;	  /* G_MAXUINT16 + 1 pointers, indexed by cache
				   * number; an unused number has NULL */
	guint n_duplicate_caches; /* count of rows with the cache number of an
				   * earlier row */
	GArray *stacks;		  /* array of KmtInputStack, sorted by number */
	GArray *addresses; /* array of guint64: the addresses of all stacks */
	guint64 dropped;   /* only in a KmtInputTagTable: number of allocations
			    * without a source line */
	gboolean is_from_ftrace; /* the records come from tracepoints, so task
				  * names may be missing */
	guint64 unnumbered;	 /* number of caches to which the kernel gave no
				  * number */
	guint64 n_without_stack; /* number of records without a stack */
	GPtrArray *warnings;
};

/*
 * The format of a table file. add() parses one line, which it may modify, and
 * adds the row to tables. The line has n_newer more columns than n_columns.
 * add() returns FALSE for an invalid line.
 */
typedef struct {
	const char *name; /* name of the file in the capture */
	guint n_columns;  /* number of columns in the current version of the
			   * format */
	guint max_bytes;  /* maximum size of the file; a larger file is not
			   * read */
	gboolean (*add)(KmtInputTables *tables, char *line, guint n_newer);
} KmtInputTableFormat;

extern const KmtInputTableFormat kmt_input_caches_format,
	kmt_input_tasks_format, kmt_input_cgroups_format,
	kmt_input_marks_format, kmt_input_stacks_format, kmt_input_tags_format;

/* Append a warning, formatted as by printf(), to tables->warnings. */
void kmt_input_tables_warn(KmtInputTables *tables, const char *format, ...)
	G_GNUC_PRINTF(2, 3);

/*
 * Read a table of the capture, if the file exists, and add the rows to tables.
 * Invalid lines are counted in table, and one warning reports them.
 */
void kmt_input_table_read(KmtInputTables *tables,
			  const KmtInputCapture *capture,
			  KmtInputNameTable *table,
			  const KmtInputTableFormat *kind);

#endif
