// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>

#include <kmemtrace_abi.h>

#include "lib/capture/meta.h"
#include "lib/capture/names.h"
#include "lib/capture/subbufs.h"
#include "kmemtraced/summary.h"

/*
 * Largest number of CPUs whose files are listed by name; a pattern replaces a
 * longer list.
 */
#define NAMED_CPUS_MAX 8

/* The buffers of all CPUs may take 1/MEMORY_PART of the memory. */
#define MEMORY_PART 4

void kmtd_summary_init(KmtdSummary *summary)
{
	*summary = (KmtdSummary){
		.cpus = g_array_new(FALSE, FALSE, sizeof(KmtdCpuSummary)),
		.record_bytes = KMEMTRACE_EVENT_SIZE_V1,
	};
}

void kmtd_summary_clear(KmtdSummary *summary)
{
	g_clear_pointer(&summary->cpus, g_array_unref);
	g_clear_pointer(&summary->directory, g_free);
}

void kmtd_summary_add_frames(KmtdSummary *summary, GKeyFile *meta, guint cpu,
			     const KmtCaptureCpuWriter *writer)
{
	KmtCaptureCpuFrames frames;

	if (!kmt_capture_cpu_writer_frames(writer, &frames))
		return;
	kmt_capture_meta_set_frames(meta, cpu, &frames);
	summary->is_compressed = TRUE;
	summary->frames.file_bytes += frames.file_bytes;
	summary->frames.n_frames += frames.n_frames;
	summary->frames.n_stored += frames.n_stored;
}

static const KmtdCpuSummary *worst_cpu(const KmtdSummary *summary)
{
	const KmtdCpuSummary *worst = NULL;

	for (guint i = 0; i < summary->cpus->len; i++) {
		const KmtdCpuSummary *cpu =
			&g_array_index(summary->cpus, KmtdCpuSummary, i);

		if (!worst || cpu->lost > worst->lost)
			worst = cpu;
	}
	return worst;
}

char *kmtd_summary_line(const KmtdSummary *summary)
{
	GString *line = g_string_new(NULL);

	g_string_printf(line,
			"%" G_GUINT64_FORMAT " events, %" G_GUINT64_FORMAT
			" bytes",
			summary->bytes / summary->record_bytes, summary->bytes);
	if (summary->is_compressed)
		g_string_append_printf(line,
				       " compressed to %" G_GUINT64_FORMAT,
				       summary->frames.file_bytes);
	if (summary->frames.n_stored)
		g_string_append_printf(
			line,
			" (%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
			" frames are not compressed, to keep up with the "
			"events)",
			summary->frames.n_stored, summary->frames.n_frames);
	g_string_append(line, ", ");
	if (!summary->frozen)
		g_string_append_printf(line, "%.1f seconds, ",
				       summary->seconds);
	if (summary->lost_known)
		g_string_append_printf(line,
				       "%" G_GUINT64_FORMAT " events lost",
				       summary->lost);
	else
		g_string_append(line, "events lost unknown");
	return g_string_free(line, FALSE);
}

guint64 kmtd_summary_subbufs(const KmtdSummary *summary, guint64 memory_bytes)
{
	const KmtdCpuSummary *worst = worst_cpu(summary);
	guint64 needed, limit;

	if (!worst || summary->subbuf_bytes == 0)
		return 0;
	/* Relay stores the size of a CPU's buffer in an unsigned int. */
	limit = MIN(memory_bytes / MEMORY_PART / summary->cpus->len,
		    G_MAXUINT) /
		summary->subbuf_bytes;
	needed = kmt_capture_enough_subbufs(summary->n_subbufs,
					    summary->subbuf_bytes,
					    summary->record_bytes, worst->lost);
	return needed <= limit ? needed : 0;
}

static guint64 kilobytes(const KmtdSummary *summary, guint64 subbufs)
{
	return subbufs * summary->subbuf_bytes / 1024;
}

/*
 * Append how the loss could have been prevented or, after a snapshot, how to
 * save the snapshot. @subbufs is the necessary number of sub-buffers; 0: no
 * possible buffer suffices.
 */
static void append_remedy(GString *text, const KmtdSummary *summary,
			  guint64 subbufs)
{
	if (summary->had_snapshots)
		g_string_append(text, "kmemtraced -S saves the last snapshot");
	else if (summary->has_size_option && subbufs)
		g_string_append_printf(
			text,
			"to keep them, give each CPU a buffer of "
			"-b %" G_GUINT64_FORMAT " KB (now %" G_GUINT64_FORMAT
			")",
			kilobytes(summary, subbufs),
			kilobytes(summary, summary->n_subbufs));
	else if (summary->has_size_option)
		g_string_append(
			text,
			"no buffer that fits into the memory would have kept "
			"them: record to a faster file system (-D), fewer "
			"processes (-p), or a shorter time (-w)");
	else if (subbufs)
		g_string_append_printf(
			text,
			"to keep them, boot with "
			"kmemtrace.subbufs=%" G_GUINT64_FORMAT
			" (now %" G_GUINT64_FORMAT "), which takes %.0f MB of "
			"memory for each CPU",
			subbufs, summary->n_subbufs,
			(double)(subbufs * summary->subbuf_bytes) / 1e6);
	else
		g_string_append_printf(
			text,
			"no buffer that fits into the memory would have kept "
			"them: record to a faster file system (-D), and boot "
			"with kmemtrace.subbufs= above %" G_GUINT64_FORMAT,
			summary->n_subbufs);
}

char *kmtd_summary_advice(const KmtdSummary *summary, guint64 memory_bytes)
{
	const KmtdCpuSummary *worst = worst_cpu(summary);
	guint64 events = summary->bytes / summary->record_bytes;
	guint64 subbufs = kmtd_summary_subbufs(summary, memory_bytes);
	GString *text;

	if (!summary->lost_known || summary->lost == 0 || !worst ||
	    summary->is_snapshot)
		return NULL;
	text = g_string_new(NULL);
	if (summary->keeps_newest) {
		g_string_printf(text,
				"%" G_GUINT64_FORMAT
				" events were overwritten by newer ones in the "
				"mode overwrite%s; on the affected CPUs the "
				"capture begins later",
				summary->lost,
				summary->had_snapshots
					? ", or were moved to a snapshot"
					: "");
		return g_string_free(text, FALSE);
	}
	g_string_printf(text,
			"%" G_GUINT64_FORMAT " events were lost (%.3g %% of "
			"all, %" G_GUINT64_FORMAT " of them on CPU %u), ",
			summary->lost,
			100.0 * (double)summary->lost /
				(double)(events + summary->lost),
			worst->lost, worst->cpu);
	if (summary->n_skipped >= summary->lost) {
		g_string_append(text, "because the kernel skipped the programs "
				      "that record them, mostly in interrupts "
				      "of such a program");
		return g_string_free(text, FALSE);
	}
	g_string_append_printf(
		text, "because its buffer was full%s; ",
		summary->had_snapshots ? " or a snapshot took them" : "");
	append_remedy(text, summary, subbufs);
	/* Only compression that was too slow leaves frames uncompressed. */
	if (summary->frames.n_stored)
		g_string_append(text, "; or record with a lower level of "
				      "--compress, or without it");
	return g_string_free(text, FALSE);
}

/* Return @directory, or the file @name in it, as an operand for the shell. */
static char *operand(const char *directory, const char *name)
{
	g_autofree char *path = NULL;

	if (name && g_str_equal(directory, "."))
		path = g_strdup(name);
	else
		path = g_build_filename(directory[0] == '-' ? "./" : directory,
					directory[0] == '-' ? directory : name,
					directory[0] == '-' ? name : NULL,
					NULL);
	/* Quote only if the shell needs it. */
	if (path[strspn(path, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS
			"/._-+,:@%")] == '\0')
		return g_steal_pointer(&path);
	return g_shell_quote(path);
}

char *kmtd_summary_commands(const KmtdSummary *summary, const char *directory)
{
	gboolean is_current = g_str_equal(directory, ".");
	const char *suffix = summary->is_compressed ? KMT_CAPTURE_ZSTD : "";
	g_autofree char *directory_operand =
		is_current ? NULL : operand(directory, NULL);
	GString *text = g_string_new("kmemtrace_check");

	if (summary->cpus->len > NAMED_CPUS_MAX)
		g_string_append_printf(text, " %s%scpu*.out%s",
				       is_current ? "" : directory_operand,
				       is_current ? "" : "/", suffix);
	else
		for (guint i = 0; i < summary->cpus->len; i++) {
			guint cpu =
				g_array_index(summary->cpus, KmtdCpuSummary, i)
					.cpu;
			g_autofree char *name =
				g_strdup_printf("cpu%u.out%s", cpu, suffix);
			g_autofree char *path = operand(directory, name);

			g_string_append_printf(text, " %s", path);
		}
	g_string_append_printf(text, "\nkmemtrace-report%s%s\n",
			       is_current ? "" : " ",
			       is_current ? "" : directory_operand);
	return g_string_free(text, FALSE);
}
