/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The container of a trace.dat file, of versions 6 and 7: its header, sections,
 * and options.  No value of the file is trusted.  The file is mapped: a file
 * that another process shortens raises SIGBUS.
 */
#ifndef KMEMTRACE_IMPORT_DATFILE_H
#define KMEMTRACE_IMPORT_DATFILE_H

#include <glib.h>

#include "import/byte-span.h"

/* The kernel's counters of one CPU's buffer when recording ended. */
typedef struct {
	guint cpu;
	gboolean has_events;
	guint64 events; /* that the kernel handed over, all tracepoints */
	gboolean has_lost;
	guint64 overrun; /* overwritten before they were read */
	guint64 other;	 /* lost in other ways */
} DatStats;

/* The pages of one CPU. */
typedef struct {
	guint cpu;
	guint64 offset, size; /* in the file */
} DatCpu;

/* A buffer: that of the machine, or of an instance. */
typedef struct {
	char *name;	   /* "" for that of the machine */
	char *clock;	   /* NULL: the file does not name it */
	guint page_bytes;  /* a page of the ring buffer with its header */
	guint64 section;   /* offset of the header, or of the table */
	gboolean packed;   /* the pages are compressed */
	gboolean is_text;  /* a latency tracer's output without events */
	GArray *cpus;	   /* of DatCpu */
	GHashTable *stats; /* guint cpu -> DatStats */
} DatBuffer;

/* The header of a page of the ring buffer. */
typedef struct {
	guint commit_offset, commit_bytes, data_offset;
} DatPageHeader;

typedef struct {
	GMappedFile *file;
	const guint8 *bytes;
	gsize size;
	guint version;
	guint long_bytes; /* of the machine's user space */
	guint page_bytes; /* of the machine's memory */
	guint n_cpus;	  /* of the machine; 0: the file does not say */
	/* Version 6: in the tables of all buffers. */
	guint64 n_table_entries;
	char *packing; /* compression of version 7, "none" without */
	DatPageHeader page_header;
	KmtByteSpan formats; /* see dat_file_formats() */
	KmtByteSpan kallsyms, tasks;
	char *uname;		     /* as uname -srm prints it, or NULL */
	char *recorder;		     /* version of trace-cmd, or NULL */
	guint64 tsc_mult, tsc_shift; /* cycles to ns; mult 0: not known */
	gint64 time_shift;	     /* ns that the user had added to times */
	GPtrArray *buffers;	     /* of DatBuffer, the machine's first */
	GPtrArray *unpacked;	     /* memory of unpacked sections */
} DatFile;

/* NULL and an error: the file cannot be used at all. */
DatFile *dat_file_open(const char *path, GError **error);
void dat_file_free(DatFile *dat);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DatFile, dat_file_free)

/* Call func for the format file of each tracepoint. */
typedef gboolean (*DatFormatFunc)(gpointer user, const char *system,
				  const char *name, const char *text,
				  GError **error);
gboolean dat_file_formats(const DatFile *dat, DatFormatFunc func, gpointer user,
			  GError **error);

/* The counters of a CPU, or NULL. */
static inline const DatStats *dat_buffer_stats(const DatBuffer *buffer,
					       guint cpu)
{
	return g_hash_table_lookup(buffer->stats, GUINT_TO_POINTER(cpu));
}

#endif
