/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of a trace.dat file. An option consists of a number and data. */
#ifndef KMEMTRACE_IMPORT_DAT_OPTIONS_H
#define KMEMTRACE_IMPORT_DAT_OPTIONS_H

#include "import/dat-file.h"

/* Section offsets and per-buffer values from all options. */
typedef struct {
	KmtDatBuffer *(*add_buffer)(KmtDatFile *dat, const char *name);
	guint64 page_header, formats, kallsyms, tasks; /* offsets of sections in
							* the file; 0: none */
	char *clock;	    /* clock of buffers that name none, or NULL */
	char *stats_buffer; /* name of the buffer to which the next counters
			     * belong; NULL: "" */
	GPtrArray *stats;   /* PendingStats * of dat-options.c, or NULL */
} KmtDatOptions;

/* Free the members of *options, which may be zero-initialised. */
void kmt_dat_options_clear(KmtDatOptions *options);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(KmtDatOptions, kmt_dat_options_clear)

/*
 * Read a list of options from b. next is NULL for version 6; otherwise *next
 * receives the offset of the next list, 0 at the end. Returns FALSE if the list
 * is damaged.
 */
gboolean kmt_dat_options_read(KmtDatOptions *options, KmtDatFile *dat,
			      KmtByteSpan *b, guint64 *next);

/*
 * Copy the clock and the counters to the buffers of dat. Call the function
 * after all options were read.
 */
void kmt_dat_options_apply(const KmtDatOptions *options, KmtDatFile *dat);

#endif
