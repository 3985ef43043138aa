/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copies the kernel's tables of names into the capture, beside the records. */
#ifndef KMEMTRACED_KERNEL_TABLES_H
#define KMEMTRACED_KERNEL_TABLES_H

#include "kmemtraced/capture-output.h"
#include "kmemtraced/event-source.h"

typedef struct {
	KmtdOutput *output;
	const char *proc;      /* mount point of procfs */
	const char *directory; /* tables_path of the KmtdSource; may be NULL */
	KmtdSource *source;    /* source of tables; may be NULL */
	void (*warning)(const char *text);
	char *modules;	/* text of /proc/modules at the last copy */
	char *slabinfo; /* text of /proc/slabinfo; NULL: not read yet */
} KmtdTables;

/*
 * Copy kallsyms and modules. A table that does not exist is skipped. A table
 * that cannot be read causes a warning; a table that cannot be written is an
 * error.
 */
gboolean kmtd_tables_copy(KmtdTables *tables, GError **error);

/*
 * Copy the tables that records refer to since version 2, with the rules of
 * kmtd_tables_copy() for errors. Call as soon as tracing is on, so that even an
 * interrupted recording has these tables.
 */
gboolean kmtd_tables_copy_records(KmtdTables *tables, GError **error);

/*
 * Read /proc/slabinfo, unless an earlier call has read it. Call as soon as
 * tracing is off, because the writes of the recorder change the slabs. A table
 * that does not exist or cannot be read is skipped.
 */
void kmtd_tables_read_slabs(KmtdTables *tables);

/*
 * Write the text that kmtd_tables_read_slabs() has read, if there is any.
 * Return FALSE and set an error if the text cannot be written.
 */
gboolean kmtd_tables_write_slabs(KmtdTables *tables, GError **error);

/*
 * Copy the tables again, at the end when tracing is off: those that records
 * refer to, the text that kmtd_tables_read_slabs() has read, and, if the
 * modules have changed, kallsyms and modules. Modules that were loaded during
 * the recording then have names; modules that were unloaded lose their names.
 */
gboolean kmtd_tables_renew(KmtdTables *tables, GError **error);

/* Free what the copy functions stored in *tables. */
void kmtd_tables_clear(KmtdTables *tables);

#endif
