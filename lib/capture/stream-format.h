/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stream that kmemtraced writes with the option --stream.
 *
 * A stream is a KmtStreamHeader and a sequence of frames. A frame is a
 * KmtStreamFrame, a payload of KmtStreamFrame.length bytes, and zero bytes up
 * to the next multiple of KMT_STREAM_ALIGN. All numbers have the byte order of
 * the machine that writes the stream. The reserved fields are 0.
 *
 * Order of the frames
 * -------------------
 * 1. Table and meta frames, which describe the recording that begins.
 * 2. Records frames, and at least every KMT_STREAM_TICK_MS milliseconds, unless
 *    the reader of the stream is too slow, a tick frame. Tables that have
 *    changed, and counters that have changed, precede a tick frame.
 * 3. After the last records frame: the tables and the meta of the complete
 *    recording, counters, a tick whose watermark is KMT_STREAM_WATERMARK_END,
 *    and one end frame.
 *
 * The sequence of a frame is the number of frames before this frame. A stream
 * without an end frame is truncated: kmemtraced was killed, or could not write.
 * A reader reports a stream that ends within a frame, or a gap in the sequence.
 * A reader skips a frame of an unknown type, and bytes of a payload beyond
 * those of the structure that the reader expects: later versions may add both.
 * The version changes only if a reader of the older version would be wrong.
 *
 * Order of the records
 * --------------------
 * The records of one CPU are in the order of the file cpu<n>.out of a capture;
 * concatenating the payloads of the CPU's records frames gives this file. The
 * frames of different CPUs are in any order. When a tick frame arrives, the
 * records of all CPUs whose timestamps are at most the watermark have arrived.
 * A reader can therefore merge them, even if a CPU has been idle since.
 */
#ifndef KMEMTRACE_CAPTURE_STREAM_FORMAT_H
#define KMEMTRACE_CAPTURE_STREAM_FORMAT_H

#include <glib.h>

#define KMT_STREAM_MAGIC      "KMTSTRM" /* with its NUL, 8 bytes */
#define KMT_STREAM_VERSION    1
#define KMT_STREAM_BYTE_ORDER 0x01020304u
#define KMT_STREAM_ALIGN      8

/* Upper bound of KmtStreamFrame.length. */
#define KMT_STREAM_PAYLOAD_MAX (1u << 20)

/* KmtStreamFrame.cpu of a frame that belongs to no CPU. */
#define KMT_STREAM_NO_CPU 0xffffffffu

/* Time from tick to tick. Records are sent at least this often. */
#define KMT_STREAM_TICK_MS 200

/* The beginning of a stream. */
typedef struct {
	char magic[8];	    /* KMT_STREAM_MAGIC */
	guint32 byte_order; /* KMT_STREAM_BYTE_ORDER */
	guint32 version;    /* KMT_STREAM_VERSION */
	/* Bytes of this structure; frames follow after these bytes. */
	guint32 header_bytes;
	guint32 frame_bytes;  /* sizeof(KmtStreamFrame) */
	guint32 abi_version;  /* version of the records, see kmemtrace_abi.h */
	guint32 record_bytes; /* size of a record, a multiple of 8 */
	guint32 n_cpus;	      /* CPUs that the machine can have */
	guint32 payload_max;  /* upper bound of KmtStreamFrame.length */
	gint32 pid;	      /* process that writes the stream */
	guint32 tick_ms;      /* KMT_STREAM_TICK_MS */
	guint32 reserved[4];
} KmtStreamHeader;
G_STATIC_ASSERT(sizeof(KmtStreamHeader) == 64);

typedef enum {
	/* Complete records of one CPU. */
	KMT_STREAM_RECORDS = 1,
	/* A KmtStreamTable, and a part of the text of the table. */
	KMT_STREAM_TABLE = 2,
	/* The complete text of kmemtrace.meta. It replaces the previous one. */
	KMT_STREAM_META = 3,
	/* An array of KmtStreamCounters, one for each CPU. */
	KMT_STREAM_COUNTERS = 4,
	/* A KmtStreamTick. */
	KMT_STREAM_TICK = 5,
	/* A KmtStreamEnd, and the text of the reason (UTF-8, without NUL). */
	KMT_STREAM_END = 6,
} KmtStreamType;

typedef struct {
	guint32 type;	/* KmtStreamType */
	guint32 cpu;	/* records: number of the CPU; KMT_STREAM_NO_CPU */
	guint32 length; /* bytes of the payload, without the zero bytes */
	guint32 reserved;
	guint64 sequence; /* number of frames before this frame */
} KmtStreamFrame;
G_STATIC_ASSERT(sizeof(KmtStreamFrame) == 24);

/*
 * A part of a table. The parts of one version of a table follow each other;
 * only records frames can be between them. The new text of the table is the
 * first n_kept bytes of the text that the reader has, and the bytes of the
 * parts. It is valid when the part with offset + bytes of the part = total has
 * arrived.
 */
typedef struct {
	char name[16];	/* file name in a capture, such as "tasks", with NULs */
	guint64 n_kept; /* 0: the parts are the complete text */
	guint64 offset; /* position of the part in the new text; >= n_kept */
	guint64 total;	/* bytes of the new text */
} KmtStreamTable;
G_STATIC_ASSERT(sizeof(KmtStreamTable) == 40);

/* The counters of one CPU since the recording began. */
typedef struct {
	guint32 cpu;
	guint32 is_lost_known; /* 0: the source cannot determine lost */
	guint64 lost;	       /* events of this CPU that the kernel has lost */
	guint64 records;       /* records in the CPU's records frames so far */
	guint64 unsent; /* bytes that were read, but will never be sent */
} KmtStreamCounters;
G_STATIC_ASSERT(sizeof(KmtStreamCounters) == 32);

/* Watermark before the first record, and after the last one. */
#define KMT_STREAM_WATERMARK_NONE G_MININT64
#define KMT_STREAM_WATERMARK_END  G_MAXINT64

typedef struct {
	guint64 number; /* 1 for the first tick */
	/* Every record with a timestamp of at most this value, in the clock of
	 * the records, precedes the tick. It never decreases. */
	gint64 watermark;
	/* Times at which the tick was made, in nanoseconds: CLOCK_MONOTONIC,
	 * and the time of day since 1970. */
	gint64 monotonic_ns;
	gint64 realtime_ns;
	/* Processor time that kmemtraced has used, in nanoseconds. */
	gint64 cpu_ns;
} KmtStreamTick;
G_STATIC_ASSERT(sizeof(KmtStreamTick) == 40);

typedef enum {
	KMT_STREAM_END_STOPPED = 1,  /* a signal stopped the recording */
	KMT_STREAM_END_TIME = 2,     /* the requested time has passed (-w) */
	KMT_STREAM_END_COMMAND = 3,  /* the command has ended */
	KMT_STREAM_END_SWITCHED = 4, /* another program switched tracing off */
	KMT_STREAM_END_FROZEN = 5,   /* records of an earlier trace only */
	KMT_STREAM_END_FAILED = 6,   /* an error ended the recording */
} KmtStreamEndReason;

typedef struct {
	guint32 reason;	  /* KmtStreamEndReason */
	guint32 complete; /* 1: all records were sent, and no error occurred */
	guint64 records;  /* records of all CPUs */
	guint64 lost;	  /* lost events of all CPUs */
	guint32 is_lost_known;
	guint32 reserved;
} KmtStreamEnd;
G_STATIC_ASSERT(sizeof(KmtStreamEnd) == 32);

#endif
