/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of a trace.dat file: a number and data of each. */
#ifndef KMEMTRACE_IMPORT_DATOPTION_H
#define KMEMTRACE_IMPORT_DATOPTION_H

#include "import/datfile.h"

/* Offsets of sections, and values that belong to a buffer, from all options. */
typedef struct {
	DatBuffer *(*add_buffer)(DatFile *dat, const char *name);
	guint64 page_header, formats, kallsyms, tasks; /* offsets, or 0 */
	char *clock;	    /* of the machine's buffer, or NULL */
	char *stats_buffer; /* that further counters belong to; NULL: "" */
	GPtrArray *stats;   /* of PendingStats, of datoption.c, or NULL */
} DatOptions;

void dat_options_clear(DatOptions *options);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(DatOptions, dat_options_clear)

/*
 * Read a list of options.  next is NULL for version 6; else it receives the
 * offset of the next list, 0 at the end.  FALSE: the list is damaged.
 */
gboolean dat_options_read(DatOptions *options, DatFile *dat, KmtByteSpan *b,
			  guint64 *next);

/* Hand clock and counters to the buffers, once all buffers are known. */
void dat_options_apply(const DatOptions *options, DatFile *dat);

#endif
