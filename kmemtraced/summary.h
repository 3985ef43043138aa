/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The report at the end of kmemtraced: text that is derived from figures alone.
 */
#ifndef KMEMTRACED_SUMMARY_H
#define KMEMTRACED_SUMMARY_H

#include <glib.h>

#include "lib/capture/cpu-file-writer.h"

typedef struct {
	guint cpu;
	guint64 bytes; /* size of the CPU's file */
	guint64 lost;  /* events; valid if lost_known */
} KmtdCpuSummary;

typedef struct {
	GArray *cpus; /* of KmtdCpuSummary, ascending */
	guint64 bytes;
	guint64 lost; /* events, over all CPUs */
	gboolean lost_known;
	double seconds;	      /* duration of the recording by kmemtraced */
	gboolean frozen;      /* the records are from before kmemtraced started;
			       * seconds is not valid */
	gboolean is_snapshot; /* the capture is a snapshot, so no advice is
			       * given to use larger buffers */
	guint record_bytes;
	guint64 n_subbufs;
	guint64 subbuf_bytes;
	gboolean has_size_option;   /* the event source has option -b */
	gboolean keeps_newest;	    /* relay: the mode is overwrite */
	gboolean had_snapshots;	    /* see KmtdSource */
	guint64 n_skipped;	    /* see KmtdSource */
	gboolean is_compressed;	    /* frames is valid */
	KmtCaptureCpuFrames frames; /* sums over all CPUs */
	char *directory; /* the capture; NULL: directory on the command line */
} KmtdSummary;

/* Initialise *summary. Its owner calls kmtd_summary_clear() in the end. */
void kmtd_summary_init(KmtdSummary *summary);

/* Free the list and the path that *summary refers to. */
void kmtd_summary_clear(KmtdSummary *summary);

/*
 * If @writer, which is finished, compressed the records of @cpu, add its
 * figures to *summary and store them in @meta.
 */
void kmtd_summary_add_frames(KmtdSummary *summary, GKeyFile *meta, guint cpu,
			     const KmtCaptureCpuWriter *writer);

/*
 * Return one line with the numbers of events, bytes, seconds (unless frozen)
 * and lost events, newly allocated.
 */
char *kmtd_summary_line(const KmtdSummary *summary);

/*
 * Return advice if events were lost. In the mode overwrite, the text only
 * reports the loss; otherwise it names the CPU that lost most and the remedy,
 * such as a parameter and its value. @memory_bytes is the memory of the
 * machine. The text is newly allocated; NULL: no advice.
 */
char *kmtd_summary_advice(const KmtdSummary *summary, guint64 memory_bytes);

/*
 * Return the number of sub-buffers that would have prevented the loss, or 0 if
 * it is unknown or exceeds a sensible part of @memory_bytes.
 */
guint64 kmtd_summary_subbufs(const KmtdSummary *summary, guint64 memory_bytes);

/*
 * Return the commands to run next, one in each line, for a capture in
 * @directory. The text is newly allocated.
 */
char *kmtd_summary_commands(const KmtdSummary *summary, const char *directory);

#endif
