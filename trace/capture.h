/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A capture on disk: the cpu<n>.out files and what lies beside them.
 *
 * Nothing in trace/ prints or exits.  What cannot be read at all is a GError;
 * what can be read but is wrong is a defect that the caller is told about.
 */
#ifndef KMEMTRACE_CAPTURE_H
#define KMEMTRACE_CAPTURE_H

#include <glib.h>
#include <kmemtrace_abi.h>

#define KMT_TRACE_ERROR (kmt_trace_error_quark())
GQuark kmt_trace_error_quark(void);

/* A record where it lies: at any address, as record sizes are not all even. */
typedef struct kmemtrace_event KmtRawEvent __attribute__((aligned(1)));

typedef enum {
	KMT_TRACE_ERROR_OPEN,	  /* a file or directory could not be opened */
	KMT_TRACE_ERROR_READ,	  /* opened, but could not be read or mapped */
	KMT_TRACE_ERROR_NO_FILES, /* a directory without any cpu<n>.out */
	KMT_TRACE_ERROR_FORMAT,	  /* not a cpu file, or files that do not mix */
} KmtTraceError;

/*
 * One cpu file, mapped.  Fields are for reading only.  Files with no record at
 * all are part of the capture too.
 *
 * record_size and byte order come from event_size of some records (most of
 * them must agree on it, so that one damaged record does not decide); a file
 * that gives no hint takes what the other files or kmemtrace.meta say, else
 * version 1 in this host's byte order.
 *
 * A file that somebody shortens while it is mapped raises SIGBUS, as with any
 * mapped file.
 */
typedef struct {
	char *path;
	guint64 device, inode; /* what file it is, whatever its path */
	guint cpu; /* from the name; else its place on the command line */
	/* n_records * record_size readable bytes; NULL if none. */
	const guint8 *map;
	guint64 size;	       /* of the file, bytes */
	guint record_size;     /* bytes, at least 56 */
	gboolean swapped;      /* other byte order than this host's */
	guint64 n_records;     /* whole records */
	guint truncated_bytes; /* after the last whole record */
	guint64 overruns;      /* events lost on this CPU, if has_overruns */
	gboolean has_overruns;
	/* Bytes that kmemtrace.meta of a complete capture says, if it does. */
	guint64 expected_size;
	gboolean has_expected_size;
	gint node;	/* NUMA node of this CPU, -1 unknown */
	guint position; /* in capture->files */
} KmtCpuFile;

typedef struct {
	char *directory;  /* NULL if single files were given */
	GPtrArray *files; /* of KmtCpuFile, by CPU number */
	GKeyFile *meta;	  /* kmemtrace.meta, or NULL */
	/* FALSE: meta says that it was cut off, or there is no meta. */
	gboolean complete;
	gboolean continues; /* an earlier reader took the first part */
	gboolean shortened; /* a file has less than meta says */
	/* CPUs that meta names, with records, whose file was not opened. */
	guint missing_files;
	gboolean swapped;  /* all files agree on it */
	guint record_size; /* likewise */
	guint64 n_records;
	guint64 overruns; /* total, if has_overruns; else the loss is unknown */
	gboolean has_overruns;
} KmtCapture;

/*
 * Opens a capture: one directory, or any number of cpu files of one capture
 * (beside which kmemtrace.meta is looked for when they share a directory).
 * operands is NULL-terminated; NULL or empty means the current directory.
 *
 * Two files of the same CPU, and files that differ in record size or byte order
 * are an error: they are not of one capture.  So is one file by two names.
 */
KmtCapture *kmt_capture_open(const char *const *operands, GError **error);
void kmt_capture_free(KmtCapture *capture);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtCapture, kmt_capture_free)

/* Path of a regular file beside the cpu files; NULL if there is none. */
char *kmt_capture_path(const KmtCapture *capture, const char *name);

/*
 * Where records may be missing: anywhere, since events or parts of files were
 * lost; or at the end, as kmemtrace.meta says.
 */
gboolean kmt_capture_is_lossy(const KmtCapture *capture);
gboolean kmt_capture_is_cut_off(const KmtCapture *capture);

/* "little" or "big": the byte order of the traced machine. */
const char *kmt_capture_byte_order(const KmtCapture *capture);

/* Sets what a FREE does not define as the kernel would. */
static inline void kmt_event_clear_free(struct kmemtrace_event *event)
{
	event->node = KMEMTRACE_NODE_NONE;
	event->bytes_req = 0;
	event->bytes_alloc = 0;
	event->gfp_flags = 0;
}

/* Changes the byte order of all fields. */
void kmt_event_swap(struct kmemtrace_event *event);

/*
 * Reads record index of file into *event, in the host's byte order.  Bytes
 * beyond version 1 are skipped; the fields that a FREE does not define are set
 * as the kernel would (0, node -1).  index < file->n_records.
 */
void kmt_cpu_file_get(const KmtCpuFile *file, guint64 index,
		      struct kmemtrace_event *event);

#endif
