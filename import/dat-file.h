/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parser of the trace.dat container, versions up to 7: header, sections, and
 * options. Every offset and length is checked before its use. The file is
 * mapped, so a process that truncates the file during the import causes SIGBUS.
 */
#ifndef KMEMTRACE_IMPORT_DAT_FILE_H
#define KMEMTRACE_IMPORT_DAT_FILE_H

#include <glib.h>

#include "import/format-section.h"

/*
 * The kernel's counters of one CPU's ring buffer at the end of the recording.
 */
typedef struct {
	guint cpu;
	gboolean has_events; /* the value of events is known */
	/* Number of events, of all tracepoints, that were read from the buffer
	 * or are still in the buffer. */
	guint64 events;
	gboolean has_lost; /* the values of overrun and other are known */
	guint64 overrun;   /* events overwritten before they were read */
	guint64 other;	   /* events lost for other reasons */
} KmtDatStats;

/* The range of the file that contains the ring buffer pages of one CPU. */
typedef struct {
	guint cpu;
	guint64 offset, size; /* in bytes, from the start of the file */
} KmtDatCpu;

/* The ring buffer of the top-level tracefs instance or of a named instance. */
typedef struct {
	char *name;	   /* "" for the top-level instance */
	char *clock;	   /* NULL: the file does not name the clock */
	guint page_bytes;  /* size of a ring buffer page with its header */
	guint64 section;   /* offset in the file: of the section's header in
			    * version 7, of the table of CPUs in version 6 */
	gboolean packed;   /* the pages are compressed */
	gboolean is_text;  /* text output of a latency tracer, without events */
	GArray *cpus;	   /* KmtDatCpu */
	GHashTable *stats; /* guint cpu -> KmtDatStats */
} KmtDatBuffer;

/* Layout of the header of a ring buffer page; offsets and sizes in bytes. */
typedef struct {
	guint commit_offset, commit_bytes, data_offset;
} KmtDatPageHeader;

/*
 * An opened trace.dat file. The spans point into the mapping or into unpacked.
 */
typedef struct {
	GMappedFile *file;
	const guint8 *bytes;
	gsize size;
	guint version;	  /* 6 or 7; older versions are read as 6 */
	guint long_bytes; /* size of long in the recorded user space */
	guint page_bytes; /* page size of the recorded machine */
	guint n_cpus;	  /* CPUs of the recorded machine; 0: unknown */
	/* Version 6: number of entries in the CPU tables of all buffers. */
	guint64 n_table_entries;
	char *packing; /* name of the compression in a file of version 7, "none"
			* if uncompressed; NULL in version 6 */
	KmtDatPageHeader page_header;
	KmtByteSpan formats; /* see kmt_dat_file_formats() */
	KmtByteSpan kallsyms, tasks;
	char *uname;		     /* as uname -srm prints it, or NULL */
	char *recorder;		     /* version of trace-cmd, or NULL */
	guint64 tsc_mult, tsc_shift; /* cycles to ns; mult 0: unknown */
	gint64 time_shift;   /* ns to add to all timestamps (trace-cmd record
			      * --date, --ts-offset) */
	GPtrArray *buffers;  /* KmtDatBuffer *, in file order; in version 6,
			      * the top-level buffer is first */
	GPtrArray *unpacked; /* memory of decompressed sections */
} KmtDatFile;

/*
 * Map and parse the file at path; free the result with kmt_dat_file_free().
 * Returns NULL and sets *error if the file cannot be used at all.
 */
KmtDatFile *kmt_dat_file_open(const char *path, GError **error);
void kmt_dat_file_free(KmtDatFile *dat);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtDatFile, kmt_dat_file_free)

/*
 * Call func for the format file of each tracepoint. Returns FALSE with *error
 * set if func fails or the formats are cut off.
 */
gboolean kmt_dat_file_formats(const KmtDatFile *dat, KmtImportFormatFunc func,
			      gpointer user, GError **error);

/*
 * Return the counters of a CPU, or NULL if the file has none. buffer owns them.
 */
static inline const KmtDatStats *
kmt_dat_buffer_stats(const KmtDatBuffer *buffer, guint cpu)
{
	return g_hash_table_lookup(buffer->stats, GUINT_TO_POINTER(cpu));
}

#endif
