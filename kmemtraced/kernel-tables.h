/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copies of the kernel's own tables beside the records: names of addresses. */
#ifndef KMEMTRACED_KERNEL_TABLES_H
#define KMEMTRACED_KERNEL_TABLES_H

#include "lib/capture/capture-writer.h"
#include "kmemtraced/event-source.h"

typedef struct {
	KmtCaptureWriter *output;
	const char *proc; /* where procfs is mounted */
	const char
		*records;   /* what KmtdSource calls tables_path; may be NULL */
	KmtdSource *source; /* asked for the table tasks, unless NULL */
	void (*warning)(const char *text);
	char *modules; /* text of modules when its copy was made */
} KmtdTables;

/* What cannot be read is warned of; what cannot be written is an error. */
gboolean kmtd_tables_copy(KmtdTables *tables, GError **error);

/*
 * Likewise what the numbers in the records of version 2 mean.  To be called
 * once tracing is on: it is for a capture that will be cut off.
 */
gboolean kmtd_tables_copy_records(KmtdTables *tables, GError **error);

/*
 * When tracing is off: all that changed.  Modules that were loaded while
 * recording have names too.  Those that went away lose theirs.
 */
gboolean kmtd_tables_renew(KmtdTables *tables, GError **error);

void kmtd_tables_clear(KmtdTables *tables);

#endif
