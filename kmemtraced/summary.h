/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What kmemtraced says at the end: in words, from figures alone. */
#ifndef KMEMTRACED_SUMMARY_H
#define KMEMTRACED_SUMMARY_H

#include <glib.h>

typedef struct {
	guint cpu;
	guint64 bytes; /* in its file */
	guint64 lost;  /* events, if lost_known */
} KmtdCpuSummary;

typedef struct {
	GArray *cpus; /* of KmtdCpuSummary, ascending */
	guint64 bytes;
	guint64 lost; /* events, over all CPUs */
	gboolean lost_known;
	double seconds;	      /* with tracing on and kmemtraced there */
	gboolean frozen;      /* recorded before; seconds says nothing */
	gboolean is_snapshot; /* no larger buffers would have kept more */
	guint record_bytes;
	guint64 n_subbufs;
	guint64 subbuf_bytes;
	gboolean has_option;	/* the buffer's size is an option, -b */
	gboolean keeps_newest;	/* a full buffer loses what is oldest */
	gboolean had_snapshots; /* which took some of what was lost */
	char *directory;	/* where the capture is; NULL: as asked for */
} KmtdSummary;

void kmtd_summary_init(KmtdSummary *summary);
void kmtd_summary_clear(KmtdSummary *summary);

/* One line: events, bytes, seconds, events lost.  Owned by the caller. */
char *kmtd_summary_line(const KmtdSummary *summary);

/*
 * If events were lost: where, and which parameter to raise to what, given
 * memory_bytes of memory in the machine.  Else NULL.
 */
char *kmtd_summary_advice(const KmtdSummary *summary, guint64 memory_bytes);

/*
 * The number of sub-buffers that would have kept what was lost, 0 if that is
 * more than is sensible.
 */
guint64 kmtd_summary_subbufs(const KmtdSummary *summary, guint64 memory_bytes);

/* The commands to type next, one in a line, for a capture in directory. */
char *kmtd_summary_commands(const KmtdSummary *summary, const char *directory);

#endif
