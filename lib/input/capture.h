/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A capture on disk: the cpu<n>.out files and the files beside them.
 *
 * No function in lib/input or lib/match prints or exits. A file that cannot be
 * read at all is a GError. Readable but invalid data is a defect, which is
 * reported to the caller.
 */
#ifndef KMEMTRACE_INPUT_CAPTURE_H
#define KMEMTRACE_INPUT_CAPTURE_H

#include <glib.h>
#include <kmemtrace_abi.h>

#include "lib/input/layout.h"

#define KMT_INPUT_ERROR (kmt_input_error_quark())
GQuark kmt_input_error_quark(void);

/*
 * A record in a file. The type has no alignment, because record sizes need not
 * be even.
 */
typedef struct kmemtrace_event KmtInputRawEvent __attribute__((aligned(1)));

typedef enum {
	KMT_INPUT_ERROR_OPEN,	  /* a file or directory could not be opened */
	KMT_INPUT_ERROR_READ,	  /* opened, but could not be read or mapped */
	KMT_INPUT_ERROR_NO_FILES, /* a directory without any cpu<n>.out */
	KMT_INPUT_ERROR_FORMAT,	  /* not a cpu file, or files that do not mix */
} KmtInputError;

/* A file that can be read only once; see lib/input/record-stream.h. */
typedef struct KmtInputRecordStream KmtInputRecordStream;
typedef struct KmtInputCapture KmtInputCapture;

/*
 * One cpu file. Callers may only read the fields. A file without records is
 * part of the capture, too.
 *
 * A regular file is mapped completely. Other files are streams, which a
 * KmtInputReader reads once in order. Until the end of a stream, size,
 * n_records, truncated_bytes and defect describe the part that was read.
 *
 * The record size and byte order are detected from event_size of several
 * records, most of which must agree, so that a damaged record does not decide.
 * For a stream these are the first records. A file without a valid event_size
 * has the format of the other files or of kmemtrace.meta; otherwise version 1
 * in the byte order of this host.
 *
 * Access to a mapped file that another process truncates raises SIGBUS.
 */
typedef struct {
	char *path; /* name for messages */
	guint64 device,
		inode; /* identity of the file, whatever its path; or 0 */
	guint cpu;     /* from the file name; otherwise the operand's index */
	/* n_records * record_size + truncated_bytes readable bytes; NULL if
	 * there are none, or with stream */
	const guint8 *map;
	KmtInputRecordStream *stream;
	guint64 size;	       /* size in bytes, decompressed */
	guint record_size;     /* bytes, at least 56 */
	gboolean swapped;      /* map has another byte order than this host */
	guint64 n_records;     /* complete records */
	guint truncated_bytes; /* bytes after the last complete record */
	char *defect;	  /* why the file cannot be read to its end, or NULL */
	guint64 overruns; /* events lost on this CPU, if has_overruns */
	gboolean has_overruns;
	/* Size in bytes that kmemtrace.meta of a complete capture gives. */
	guint64 expected_size;
	gboolean has_expected_size;
	gint node;	/* NUMA node of the CPU; -1: unknown */
	guint position; /* index in capture->files */
	KmtInputCapture *capture;
	gpointer mapping; /* mapping_size bytes to unmap at the end, or NULL */
	gsize mapping_size;
} KmtInputCpuFile;

struct KmtInputCapture {
	/* Path of the directory or tar; NULL for single files. */
	char *directory;
	GPtrArray *files; /* of KmtInputCpuFile, sorted by CPU number */
	GKeyFile *meta;	  /* kmemtrace.meta, or NULL */
	/* FALSE if kmemtrace.meta says so, or does not exist. */
	gboolean complete;
	gboolean continues; /* an earlier reader consumed the first records */
	gboolean shortened; /* a file is shorter than kmemtrace.meta says */
	gboolean damaged;   /* a file cannot be read to its end */
	/* kmemtrace.meta has no number of lost events, but reports a loss, or
	 * records report one. */
	gboolean reports_loss;
	gboolean has_blind_spots; /* the source cannot observe some paths, or
				   * could not at some times */
	/* kmemtrace-import wrote the capture. If it is not complete, the
	 * imported file was damaged, and events are missing where LOST records
	 * say so. */
	gboolean imported;
	/* A LOST record exists for each loss; some have no number. */
	gboolean losses_in_records;
	/* The recorder was configured to record only a part of the events. */
	gboolean incomplete;
	/* A kernel filter dropped allocations but not their frees, so a free
	 * without an allocation is not a finding. */
	gboolean filtered;
	guint64 sample; /* sampling factor; 1: every allocation was recorded */
	guint frees_not_recorded; /* bit i: some frees of type i were not
				   * recorded */
	/* CPUs that kmemtrace.meta lists with records, but whose file was not
	 * opened. */
	guint missing_files;
	KmtInputLayout layout; /* layout of the files; readers convert records
				* to layout B */
	gboolean has_sequence_times; /* timestamps are sequence numbers */
	gboolean swapped;	     /* byte order of all files */
	guint record_size;	     /* record size of all files */
	guint64 n_records;	     /* for streams, the records read so far */
	guint64 overruns; /* total of lost events, if has_overruns; otherwise
			   * unknown */
	gboolean has_overruns;
	GPtrArray *notes; /* of char *: warnings, one line each */
	gpointer tar;	  /* data of lib/input/tar.c, or NULL */
};

typedef struct {
	KmtInputLayout layout; /* UNKNOWN: detect the layout */
	/*
	 * Make all records accessible at any time: streams are first copied to
	 * temporary files.
	 */
	gboolean random_access;
} KmtInputOptions;

/*
 * Open a capture: one directory, one tar, or any number of cpu files of one
 * capture, compressed or not. "-" is standard input. kmemtrace.meta is read
 * from the directory of the files. operands is NULL-terminated; NULL or an
 * empty list means the current directory. options may be NULL, which means {0}.
 *
 * The following are errors, because the files do not belong to one capture: two
 * files of one CPU; files that differ in layout, record size or byte order;
 * files of directories with different kmemtrace.meta; one file with two names.
 *
 * Return NULL and set an error on failure. The caller frees the capture.
 */
KmtInputCapture *kmt_input_capture_open(const char *const *operands,
					const KmtInputOptions *options,
					GError **error);
void kmt_input_capture_free(KmtInputCapture *capture);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtInputCapture, kmt_input_capture_free)

/*
 * Return the warnings about a capture, a line each: its notes, and files that
 * could not be read to their end. Complete after all records were read. The
 * caller frees the array.
 */
GPtrArray *kmt_input_capture_warnings(const KmtInputCapture *capture);

/*
 * Return the name for messages of a path from kmt_input_capture_path(). The
 * caller frees the string.
 */
char *kmt_input_capture_display_path(const KmtInputCapture *capture,
				     const char *path);

/*
 * Return the path of a regular file beside the cpu files; NULL if there is
 * none. The caller frees the string.
 */
char *kmt_input_capture_path(const KmtInputCapture *capture, const char *name);

/* Return what the source cannot observe, a line each; NULL if there is nothing.
 * The caller frees the list. */
GStrv kmt_input_capture_not_seen(const KmtInputCapture *capture);

/*
 * Return why the recorder recorded only a part of the events, a line for each
 * reason: a sampling period, a selection of CPUs or tasks, a filter. NULL: the
 * recorder was configured to record all events. The caller frees the list.
 */
GStrv kmt_input_capture_incomplete(const KmtInputCapture *capture);

/*
 * Return the names of the events that were off at some time; NULL: none. The
 * caller frees the list.
 */
GStrv kmt_input_capture_events_off(const KmtInputCapture *capture);
/*
 * Return the kernel filter, or NULL. *changed is set to whether the filter
 * changed during the recording. The caller frees the string.
 */
char *kmt_input_capture_filter(const KmtInputCapture *capture,
			       gboolean *changed);

/*
 * Read a key of the group [capture] of kmemtrace.meta as a number. Return
 * FALSE, with *value unchanged, if the key is missing or not a number from 0 to
 * G_MAXUINT64.
 */
gboolean kmt_input_capture_meta_number(const KmtInputCapture *capture,
				       const char *key, guint64 *value);

/*
 * Return the reason for which a snapshot was taken, or NULL if the capture is
 * not a snapshot. The text has arbitrary bytes. The caller frees the string.
 */
char *kmt_input_capture_snapshot(const KmtInputCapture *capture);

/*
 * Return whether records may be missing. is_lossy: at any time, because events
 * or parts of files were lost, or because the source cannot observe all paths.
 * has_lost: only the former reason. is_truncated: at the end, according to
 * kmemtrace.meta.
 */
gboolean kmt_input_capture_is_lossy(const KmtInputCapture *capture);
gboolean kmt_input_capture_has_lost(const KmtInputCapture *capture);
gboolean kmt_input_capture_is_truncated(const KmtInputCapture *capture);

/* Return "little" or "big": the byte order of the traced machine. */
const char *kmt_input_capture_byte_order(const KmtInputCapture *capture);

/* Set the fields that a FREE does not define as the kernel would. */
static inline void kmt_input_clear_free_fields(struct kmemtrace_event *event)
{
	event->node = KMEMTRACE_NODE_NONE;
	event->bytes_req = 0;
	event->bytes_alloc = 0;
	event->gfp_flags = 0;
}

/* Reverse the byte order of all fields. */
void kmt_input_swap_event(struct kmemtrace_event *event);

/*
 * Read record index of file, which must not be a stream, into *event in the
 * byte order of this host. Fields beyond version 1 are omitted. Fields that a
 * FREE does not define are set as the kernel would (0, node -1). index must be
 * less than file->n_records.
 */
void kmt_input_cpu_file_get(const KmtInputCpuFile *file, guint64 index,
			    struct kmemtrace_event *event);

/* Let the kernel reclaim the mapped pages of file until the next access. */
void kmt_input_cpu_file_drop_pages(const KmtInputCpuFile *file);

#endif
