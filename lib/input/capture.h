/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A capture: the cpu<n>.out files and the files in the same directory or tar
 * (kmemtrace.meta, tables).
 *
 * No function in lib/input or lib/match prints or exits, except by g_error() if
 * a limit of lib/match is exceeded. A cpu file that cannot be read at all, and
 * an invalid kmemtrace.meta, set a GError. Other invalid data is a defect, and
 * the functions report defects to the caller.
 */
#ifndef KMEMTRACE_INPUT_CAPTURE_H
#define KMEMTRACE_INPUT_CAPTURE_H

#include <glib.h>
#include <kmemtrace_abi.h>

#include "lib/input/layout.h"

#define KMT_INPUT_ERROR (kmt_input_error_quark())
/* Return the error domain of this library; the codes are KmtInputError. */
GQuark kmt_input_error_quark(void);

/*
 * The fields of version 1 of a record in the mapping of a file or in a buffer.
 * The alignment is 1, because record sizes may be odd.
 */
typedef struct kmemtrace_event KmtInputRawEvent __attribute__((aligned(1)));

/* Records with the owner fields, and with the owner fields and a stack, at any
 * address. */
typedef struct kmemtrace_event_v2 KmtInputRawOwnerEvent
	__attribute__((aligned(1)));
typedef struct kmemtrace_event_v2s KmtInputRawStackEvent
	__attribute__((aligned(1)));

typedef enum {
	KMT_INPUT_ERROR_OPEN,	  /* a file or directory could not be opened */
	KMT_INPUT_ERROR_READ,	  /* an open file could not be read or mapped,
				   * or a temporary file could not be written */
	KMT_INPUT_ERROR_NO_FILES, /* a directory or tar contains no
				   * cpu<n>.out */
	KMT_INPUT_ERROR_FORMAT,	  /* any other reason, such as invalid or
				   * unsupported content, operands that do not
				   * belong to one capture, or no libarchive */
} KmtInputError;

/*
 * Reader of records that can be read only once, such as those of a pipe; see
 * lib/input/record-stream.h.
 */
typedef struct KmtInputRecordStream KmtInputRecordStream;
/* Content of a compressed file; see lib/input/frames.h. */
typedef struct KmtInputFrames KmtInputFrames;
/* Frames of all files that are in memory; see lib/input/frame-pool.h. */
typedef struct KmtInputFramePool KmtInputFramePool;
/* An open capture, declared below. */
typedef struct KmtInputCapture KmtInputCapture;

/*
 * One cpu file. The capture owns the file; callers may only read the fields. A
 * capture also lists the files that contain no records.
 *
 * A regular file of layout B that is not compressed is mapped completely,
 * unless the file is standard input with a file offset other than 0. A regular
 * file of layout B that consists of zstd frames, as kmemtraced writes it, is
 * decompressed in parts when its records are read. Any other file is a stream,
 * which a KmtInputReader reads once and in order, unless
 * kmt_input_capture_open() copied the content to a temporary file, which is
 * then mapped. Until the end of a stream, the fields size, n_records,
 * truncated_bytes and defect describe only the part that was read so far.
 *
 * lib/input detects record size and byte order of layout B by a vote over the
 * event_size fields of up to 16 records. For a stream, these records are in the
 * first 64 KiB. If one of them has the format of kmemtrace.meta, that format
 * wins. If fewer than half of the examined records agree, the file gets the
 * format of the other files or else of kmemtrace.meta. Without either, the file
 * gets the format that most of the examined records have, or else version 1 in
 * the byte order of this host.
 *
 * If another process truncates a mapped file, an access beyond the new end
 * raises SIGBUS.
 */
typedef struct {
	char *path; /* path of the file, for messages; <tar>:<member> for a tar
		     * member, <path>[cpu<n>] for a part of a file of layout D
		     */
	guint64 device,
		inode; /* device and inode number identify the file
			* independently of its path; both are 0 if unknown */
	guint cpu; /* CPU number from the file name or, in layout D, from the
		    * records; without either, a number that no other
		    * operand has */
	/* Mapped content: n_records * record_size + truncated_bytes readable
	 * bytes. NULL for an empty file, a file of frames, and a stream. */
	const guint8 *map;
	/* Compressed content that consists of frames, owned; NULL for any other
	 * file. */
	KmtInputFrames *frames;
	/* Source of the records of a stream, owned; NULL for any other file. */
	KmtInputRecordStream *stream;
	guint64 size;	       /* size of the content in bytes, after
				* decompression; in layouts A and C before the
				* conversion */
	guint record_size;     /* size of a record in bytes, at least 56 */
	gboolean swapped;      /* the byte order of the records in map or stream
				* differs from this host; FALSE for layouts A, C
				* and D, whose records are converted */
	guint64 n_records;     /* number of complete records */
	guint truncated_bytes; /* bytes after the last complete record */
	char *defect;	  /* reason why the end of the file cannot be read, or
			   * why frames are missing; NULL if neither */
	guint64 overruns; /* number of events lost on this CPU; valid if
			   * has_overruns */
	gboolean has_overruns;
	/* Size in bytes according to the kmemtrace.meta of a complete capture;
	 * valid if has_expected_size. */
	guint64 expected_size;
	gboolean has_expected_size;
	/* kmemtrace.meta of a complete capture does not list the CPU of this
	 * file, which therefore belongs to another capture. */
	gboolean is_unlisted;
	gint node;		  /* NUMA node of the CPU; -1 if unknown */
	guint position;		  /* index of this file in capture->files */
	KmtInputCapture *capture; /* owner of this file */
	gpointer mapping; /* start of a mapping of mapping_size bytes, which the
			   * file owns; NULL if none */
	gsize mapping_size;
	int fd; /* descriptor of the file of the mapping, which the file owns;
		 * 0 if none */
} KmtInputCpuFile;

struct KmtInputCapture {
	/* Path of the directory or tar of the capture; NULL if the operands
	 * were single files. */
	char *directory;
	GPtrArray *files; /* array of KmtInputCpuFile, sorted by CPU number */
	GKeyFile *meta;	  /* content of kmemtrace.meta; NULL unless every
			   * directory of the files has one */
	/* kmemtrace.meta states that the capture is complete. FALSE without
	 * kmemtrace.meta. */
	gboolean complete;
	gboolean continues; /* another process had already read the first
			     * records from the kernel's buffers when this
			     * recording began */
	gboolean shortened; /* a file is shorter than kmemtrace.meta states */
	gboolean damaged;   /* the end of a file cannot be read */
	/*
	 * kmemtrace.meta, or a LOST record of a mapped file, reports lost
	 * events, but kmemtrace.meta does not contain their number.
	 */
	gboolean reports_loss;
	/*
	 * The source of the events cannot observe some code paths, or events
	 * were disabled or the filter changed during the recording.
	 */
	gboolean has_blind_spots;
	/* kmemtrace-import wrote the capture. If the capture is also not
	 * complete, then the imported file was damaged, and LOST records mark
	 * the gaps. */
	gboolean imported;
	/* Every loss has a LOST record, but some LOST records contain no number
	 * of events. */
	gboolean losses_in_records;
	/* The recorder was configured to record only some of the events. */
	gboolean incomplete;
	/* A kernel filter dropped allocations but not the matching frees. A
	 * free without an allocation is therefore not an error. */
	gboolean filtered;
	guint64 sample; /* sampling factor: one of this many allocations was
			 * recorded; 1 if all were recorded, or if the factor is
			 * unknown or changed */
	/* Version of the records; 0 if unknown, because there is no
	 * kmemtrace.meta or it has no valid abi_version. */
	guint abi_version;
	/*
	 * The records may include DEFER records: their size is at least
	 * KMEMTRACE_EVENT_SIZE_V2, and their version is at least 3 or unknown.
	 */
	gboolean may_defer;
	/*
	 * kfree() of the traced kernel frees objects of any cache, as since
	 * Linux 6.4; FALSE if unknown. If TRUE, the type of a FREE or DEFER
	 * record does not distinguish objects of kmalloc() and of caches.
	 */
	gboolean kfree_of_caches;
	guint frees_not_recorded; /* bit mask by type id: if bit i is set, some
				   * frees of type i may not have been recorded
				   */
	/*
	 * Number of CPUs in kmemtrace.meta that have no open file, without
	 * those that have no events according to kmemtrace.meta.
	 */
	guint missing_files;
	guint unlisted_files;  /* number of files with is_unlisted */
	KmtInputLayout layout; /* record layout of the files; readers convert
				* all records to layout B */
	gboolean has_sequence_times; /* the timestamps are sequence numbers
				      * instead of nanoseconds */
	gboolean swapped;	     /* the byte order of all files differs from
				      * this host */
	guint record_size;	     /* record size of all files in bytes */
	guint64 n_records;	     /* number of records of all files; for
				      * streams, the records read so far */
	guint64 overruns; /* total number of lost events; valid if has_overruns,
			   * otherwise unknown */
	gboolean has_overruns;
	GPtrArray *notes; /* array of char *: warnings about the capture, one
			   * line each */
	gpointer tar;	  /* state of lib/input/tar.c that the capture owns;
			   * NULL if the capture is not a tar */
	KmtInputFramePool *frame_pool; /* owned; NULL if no file has frames */
};

typedef struct {
	KmtInputLayout layout; /* layout of the records; UNKNOWN means that the
				* layout is detected */
	/*
	 * Copy each stream to a temporary file first, so that the caller can
	 * access all records in any order.
	 */
	gboolean random_access;
} KmtInputOptions;

/*
 * Open a capture: one directory, one tar, or any number of cpu files of one
 * capture. A tar, and a cpu file whose name does not end with .out, may be
 * compressed; "-" is standard input. The function also reads kmemtrace.meta, in
 * the tar or in each directory of the files. operands is NULL-terminated; NULL
 * or an empty array means the current directory. options may be NULL, which
 * means {0}.
 *
 * The function also fails if the files do not belong to one capture: two files
 * have the same CPU; files differ in layout, record size or byte order; the
 * kmemtrace.meta of two directories contradict each other; the cpu files of a
 * tar are in several directories; two paths refer to the same file.
 *
 * On failure return NULL and set *error. The caller frees the capture with
 * kmt_input_capture_free(), which also closes its files. Do not use a reader
 * of these files afterwards.
 */
KmtInputCapture *kmt_input_capture_open(const char *const *operands,
					const KmtInputOptions *options,
					GError **error);
void kmt_input_capture_free(KmtInputCapture *capture);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtInputCapture, kmt_input_capture_free)

/*
 * Return the warnings about a capture, one line each: the notes of the capture,
 * and a line for each file whose end cannot be read. The list is complete only
 * after all records were read. The caller frees the array.
 */
GPtrArray *kmt_input_capture_warnings(const KmtInputCapture *capture);

/*
 * Convert a path from kmt_input_capture_path() to a name for messages. A file
 * from a tar has a temporary path; its name for messages contains the tar and
 * the member. The caller frees the string.
 */
char *kmt_input_capture_display_path(const KmtInputCapture *capture,
				     const char *path);

/*
 * Return the path of the regular file called name in the directory or tar of
 * the capture. A tar provides only kmemtrace.meta and the tables. Return NULL
 * if no such file exists, or if the files of the capture are in several
 * directories. The caller frees the string.
 */
char *kmt_input_capture_path(const KmtInputCapture *capture, const char *name);

/* Return descriptions of the allocations and frees that the source of the
 * events cannot observe, one line each. Return NULL if there are none. The
 * caller frees the array. */
GStrv kmt_input_capture_not_seen(const KmtInputCapture *capture);

/*
 * Return the reasons why the recorder recorded only some of the events, one
 * line each: a sampling period, a selection of CPUs or tasks, a filter. Return
 * NULL if kmemtrace.meta is missing or lists none. The caller frees the array.
 */
GStrv kmt_input_capture_incomplete(const KmtInputCapture *capture);

/*
 * Return the names of the events that were disabled at any time during the
 * recording. Return NULL if there are none. The caller frees the array.
 */
GStrv kmt_input_capture_events_off(const KmtInputCapture *capture);
/*
 * Return the text of the kernel filter that was active during the recording, or
 * NULL if there was none. Set *changed to whether the filter changed during the
 * recording. The caller frees the string.
 */
char *kmt_input_capture_filter(const KmtInputCapture *capture,
			       gboolean *changed);

/*
 * Read a key of the group [capture] of kmemtrace.meta as a number. If the key
 * is missing or is not a number from 0 to G_MAXUINT64, return FALSE and leave
 * *value unchanged.
 */
gboolean kmt_input_capture_meta_number(const KmtInputCapture *capture,
				       const char *key, guint64 *value);

/*
 * Return the reason that triggered the snapshot, or NULL if the capture is not
 * a snapshot or the reason is not valid UTF-8. The text may contain control
 * characters. The caller frees the string.
 */
char *kmt_input_capture_snapshot(const KmtInputCapture *capture);

/*
 * Return whether records may be missing from the capture.
 *
 * - kmt_input_capture_is_lossy(): records may be missing at any position,
 *   because kmt_input_capture_has_lost() or has_blind_spots is TRUE, or records
 *   may be those of another capture, because unlisted_files is not 0.
 * - kmt_input_capture_has_lost(): only because events, files or parts of files
 *   were lost, or because the recorder recorded only some of the events.
 * - kmt_input_capture_is_truncated(): the end of the recording may be missing,
 *   according to kmemtrace.meta.
 */
gboolean kmt_input_capture_is_lossy(const KmtInputCapture *capture);
gboolean kmt_input_capture_has_lost(const KmtInputCapture *capture);
gboolean kmt_input_capture_is_truncated(const KmtInputCapture *capture);

/* Return the byte order of the traced machine, "little" or "big". */
const char *kmt_input_capture_byte_order(const KmtInputCapture *capture);

/*
 * Set the fields that are undefined in a FREE or DEFER record to the values
 * that the kernel writes.
 */
static inline void kmt_input_clear_free_fields(struct kmemtrace_event *event)
{
	event->node = KMEMTRACE_NODE_NONE;
	event->bytes_req = 0;
	event->bytes_alloc = 0;
	event->gfp_flags = 0;
}

/* Return whether a record is a DEFER record. */
static inline gboolean kmt_input_is_defer(const KmtInputRawEvent *event,
					  const KmtInputCapture *capture)
{
	return event->event_id == KMEMTRACE_EVENT_DEFER && capture->may_defer;
}

/* Return whether a DEFER record can have this type. */
static inline gboolean kmt_input_is_defer_type(guint type)
{
	return type == KMEMTRACE_TYPE_KMALLOC || type == KMEMTRACE_TYPE_CACHE ||
	       type == KMEMTRACE_TYPE_VMALLOC;
}

/* Return whether a record is a DEFER record that the matcher can use. */
static inline gboolean kmt_input_is_usable_defer(const KmtInputRawEvent *event,
						 const KmtInputCpuFile *file)
{
	return kmt_input_is_defer(event, file->capture) &&
	       kmt_input_is_defer_type(event->type_id) &&
	       event->event_size == file->record_size && event->ptr != 0;
}

/* Reverse the byte order of each field of a record of version 1. */
void kmt_input_swap_event(struct kmemtrace_event *event);

/*
 * Copy the record with the given index into *event and convert the copy to the
 * byte order of this host. The file must not be a stream, and index must be
 * less than file->n_records. Fields beyond version 1 are not copied. In a FREE
 * or DEFER record, fields without a meaning get the values that the kernel
 * writes: 0, and -1 for the node.
 */
void kmt_input_cpu_file_get(const KmtInputCpuFile *file, guint64 index,
			    struct kmemtrace_event *event);

/*
 * Copy n bytes from byte at of the content, in the byte order of the file. The
 * file must not be a stream, and at + n must not exceed file->size.
 */
void kmt_input_cpu_file_copy(const KmtInputCpuFile *file, guint64 at, gsize n,
			     guint8 *to);

/*
 * Unmap the resident pages of the mapping that the file owns, if any, so that
 * the kernel can reuse the memory. A later access maps the pages again.
 */
void kmt_input_cpu_file_drop_pages(const KmtInputCpuFile *file);

#endif
