/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A capture on disk: the cpu<n>.out files and what lies beside them.
 *
 * Nothing in lib/input or lib/match prints or exits.  What cannot be read at
 * all is a GError; what can be read but is wrong is a defect that the caller is
 * told about.
 */
#ifndef KMEMTRACE_INPUT_CAPTURE_H
#define KMEMTRACE_INPUT_CAPTURE_H

#include <glib.h>
#include <kmemtrace_abi.h>

#include "lib/input/layout.h"

#define KMT_INPUT_ERROR (kmt_input_error_quark())
GQuark kmt_input_error_quark(void);

/* A record where it lies: at any address, as record sizes are not all even. */
typedef struct kmemtrace_event KmtInputRawEvent __attribute__((aligned(1)));

typedef enum {
	KMT_INPUT_ERROR_OPEN,	  /* a file or directory could not be opened */
	KMT_INPUT_ERROR_READ,	  /* opened, but could not be read or mapped */
	KMT_INPUT_ERROR_NO_FILES, /* a directory without any cpu<n>.out */
	KMT_INPUT_ERROR_FORMAT,	  /* not a cpu file, or files that do not mix */
} KmtInputError;

/* What can be read but once: see lib/input/record-stream.h. */
typedef struct KmtInputRecordStream KmtInputRecordStream;
typedef struct KmtInputCapture KmtInputCapture;

/*
 * One cpu file.  Fields are for reading only.  Files with no record at all are
 * part of the capture too.
 *
 * A regular file is mapped, and map has all of it.  Of anything else the
 * records are read once, from the first to the last, by a source (see
 * lib/input/record-reader.h); until it is at the end, size, n_records,
 * truncated_bytes and defect tell of what was read so far.
 *
 * record_size and byte order come from event_size of some records (most of
 * them must agree on it, so that one damaged record does not decide), of the
 * first ones if the file is a stream; a file that gives no hint takes what the
 * other files or kmemtrace.meta say, else version 1 in this host's byte order.
 *
 * A file that somebody shortens while it is mapped raises SIGBUS, as with any
 * mapped file.
 */
typedef struct {
	char *path;	       /* what messages call it */
	guint64 device, inode; /* what file it is, whatever its path; or 0 */
	guint cpu; /* from the name; else its place on the command line */
	/* n_records * record_size readable bytes, and truncated_bytes; NULL if
	 * none, or if stream is set. */
	const guint8 *map;
	KmtInputRecordStream *stream;
	guint64 size;	       /* of the file, bytes; when it is unpacked */
	guint record_size;     /* bytes, at least 56 */
	gboolean swapped;      /* map: other byte order than this host's */
	guint64 n_records;     /* whole records */
	guint truncated_bytes; /* after the last whole record */
	char *defect;	  /* why it could not be read to its end, or NULL */
	guint64 overruns; /* events lost on this CPU, if has_overruns */
	gboolean has_overruns;
	/* Bytes that kmemtrace.meta of a complete capture says, if it does. */
	guint64 expected_size;
	gboolean has_expected_size;
	gint node;	/* NUMA node of this CPU, -1 unknown */
	guint position; /* in capture->files */
	KmtInputCapture *capture;
	gpointer mapping; /* mapping_size bytes to unmap in the end, or NULL */
	gsize mapping_size;
} KmtInputCpuFile;

struct KmtInputCapture {
	/* The directory, or the tar; NULL if single files were given. */
	char *directory;
	GPtrArray *files; /* of KmtInputCpuFile, by CPU number */
	GKeyFile *meta;	  /* kmemtrace.meta, or NULL */
	/* FALSE: meta says that it was cut off, or there is no meta. */
	gboolean complete;
	gboolean continues; /* an earlier reader took the first part */
	gboolean shortened; /* a file has less than meta says */
	gboolean damaged;   /* one could not be read to its end */
	/* Where meta does not say how much was lost, it or records say that
	 * some was. */
	gboolean reports_loss;
	gboolean has_blind_spots; /* the source does not see all paths, or not
				     always */
	/* kmemtrace-import wrote it; a capture that is not complete then comes
	 * from a damaged file and lacks events where its records say. */
	gboolean imported;
	/* The records have each loss, some without a number. */
	gboolean losses_in_records;
	/* The recorder was set up to record only a part of the events. */
	gboolean incomplete;
	/* By a filter of the kernel, and frees of what was left out are there:
	 * a free without an allocation is no finding. */
	gboolean filtered;
	guint64 sample; /* one of so many allocations is there; 1: all */
	guint frees_not_recorded; /* bit of a type_id: not all frees were
				     recorded */
	/* CPUs that meta names, with records, whose file was not opened. */
	guint missing_files;
	KmtInputLayout layout; /* of the files; the records become B's */
	gboolean
		has_sequence_times; /* timestamps are but numbers in sequence */
	gboolean swapped;	    /* all files agree on it */
	guint record_size;	    /* likewise */
	guint64 n_records;	    /* of streams, those read so far */
	guint64 overruns; /* total, if has_overruns; else the loss is unknown */
	gboolean has_overruns;
	GPtrArray *notes; /* of char *: what else is odd, one line each */
	gpointer tar;	  /* what lib/input/operands.c keeps of one, or NULL */
};

typedef struct {
	KmtInputLayout layout; /* UNKNOWN: find out */
	/*
	 * Every record can be had at any time: what can be read only once goes
	 * to a temporary file first.
	 */
	gboolean random_access;
} KmtInputOptions;

/*
 * Opens a capture: one directory, one tar, or any number of cpu files of one
 * capture (beside which kmemtrace.meta is looked for), compressed or not; "-"
 * is standard input.  operands is NULL-terminated; NULL or empty means the
 * current directory.  options may be NULL: all as in {0}.
 *
 * Two files of the same CPU, files that differ in layout, record size or byte
 * order, and files of directories whose kmemtrace.meta differ are an error:
 * they are not of one capture.  So is one file by two names.
 */
KmtInputCapture *kmt_input_capture_open(const char *const *operands,
					const KmtInputOptions *options,
					GError **error);
void kmt_input_capture_free(KmtInputCapture *capture);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtInputCapture, kmt_input_capture_free)

/*
 * What is wrong with the capture beyond its records, a line each: its notes,
 * and what could not be read to its end.  Ask when all has been read.
 */
GPtrArray *kmt_input_capture_warnings(const KmtInputCapture *capture);

/*
 * The name of a file beside the cpu files that kmt_input_capture_path() gave,
 * for people.
 */
char *kmt_input_capture_display_path(const KmtInputCapture *capture,
				     const char *path);

/* Path of a regular file beside the cpu files; NULL if there is none. */
char *kmt_input_capture_path(const KmtInputCapture *capture, const char *name);

/* What the source cannot see, a line each; NULL if it sees all.  Owned by the
 * caller. */
GStrv kmt_input_capture_not_seen(const KmtInputCapture *capture);

/*
 * Why the recorder recorded only a part of the events, a line for each reason:
 * a sampling period, a choice of CPUs or tasks, a filter.  NULL: the recorder
 * was set up to record all events.  The caller frees the list.
 */
GStrv kmt_input_capture_incomplete(const KmtInputCapture *capture);

/*
 * Names of the events that were switched off at some time; NULL: none.  Owned
 * by the caller.
 */
GStrv kmt_input_capture_events_off(const KmtInputCapture *capture);
/* The filter of the kernel, and whether it was another at times; or NULL. */
char *kmt_input_capture_filter(const KmtInputCapture *capture,
			       gboolean *changed);

/*
 * Read a key of group [capture] of kmemtrace.meta as a number.  FALSE, with
 * *value unchanged: the key is not there, or no number from 0 to G_MAXUINT64.
 */
gboolean kmt_input_capture_meta_number(const KmtInputCapture *capture,
				       const char *key, guint64 *value);

/*
 * If it is a snapshot of the kernel: why that was taken, any text, owned by the
 * caller.  Else NULL.
 */
char *kmt_input_capture_snapshot(const KmtInputCapture *capture);

/*
 * Where records may be missing: anywhere, since events or parts of files were
 * lost, or since the source does not see all (is_lossy: either, has_lost: the
 * former alone); or at the end, as kmemtrace.meta says.
 */
gboolean kmt_input_capture_is_lossy(const KmtInputCapture *capture);
gboolean kmt_input_capture_has_lost(const KmtInputCapture *capture);
gboolean kmt_input_capture_is_truncated(const KmtInputCapture *capture);

/* "little" or "big": the byte order of the traced machine. */
const char *kmt_input_capture_byte_order(const KmtInputCapture *capture);

/* Sets what a FREE does not define as the kernel would. */
static inline void kmt_input_clear_free_fields(struct kmemtrace_event *event)
{
	event->node = KMEMTRACE_NODE_NONE;
	event->bytes_req = 0;
	event->bytes_alloc = 0;
	event->gfp_flags = 0;
}

/* Changes the byte order of all fields. */
void kmt_input_swap_event(struct kmemtrace_event *event);

/*
 * Reads record index of file, which is no stream, into *event, in the host's
 * byte order.  Bytes beyond version 1 are skipped; the fields that a FREE does
 * not define are set as the kernel would (0, node -1).  index <
 * file->n_records.
 */
void kmt_input_cpu_file_get(const KmtInputCpuFile *file, guint64 index,
			    struct kmemtrace_event *event);

/* Let the kernel reclaim the mapped pages of file until the next access. */
void kmt_input_cpu_file_drop_pages(const KmtInputCpuFile *file);

#endif
