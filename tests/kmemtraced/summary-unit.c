// SPDX-License-Identifier: GPL-2.0-or-later
/* Test the summary that kmemtraced prints when a recording ends. */
#include "config.h"

#include <string.h>

#include "kmemtraced/summary.h"

#define GB (G_GUINT64_CONSTANT(1) << 30)

static void make(KmtdSummary *summary, guint n_cpus, guint64 lost_on_last)
{
	kmtd_summary_init(summary);
	for (guint i = 0; i < n_cpus; i++) {
		KmtdCpuSummary cpu = {.cpu = i, .bytes = 56000};

		if (i == n_cpus - 1)
			cpu.lost = lost_on_last;
		g_array_append_val(summary->cpus, cpu);
		summary->bytes += cpu.bytes;
	}
	summary->lost = lost_on_last;
	summary->lost_known = TRUE;
	summary->seconds = 2.25;
	summary->n_subbufs = 20;
	summary->subbuf_bytes = 8192 * 56;
}

static void test_line(void)
{
	KmtdSummary summary;
	g_autofree char *known = NULL;
	g_autofree char *unknown = NULL;
	g_autofree char *frozen = NULL;
	g_autofree char *compressed = NULL;

	make(&summary, 2, 7);
	known = kmtd_summary_line(&summary);
	g_assert_cmpstr(known, ==,
			"2000 events, 112000 bytes, 2.2 seconds, "
			"7 events lost");
	summary.lost_known = FALSE;
	unknown = kmtd_summary_line(&summary);
	g_assert_cmpstr(unknown, ==,
			"2000 events, 112000 bytes, 2.2 seconds, "
			"events lost unknown");
	summary.frozen = TRUE;
	frozen = kmtd_summary_line(&summary);
	g_assert_cmpstr(frozen, ==,
			"2000 events, 112000 bytes, events lost unknown");
	summary.is_compressed = TRUE;
	summary.frames = (KmtCaptureCpuFrames){
		.file_bytes = 9000, .n_frames = 40, .n_stored = 3};
	compressed = kmtd_summary_line(&summary);
	g_assert_cmpstr(compressed, ==,
			"2000 events, 112000 bytes compressed to 9000 (3 of 40 "
			"frames are not compressed, to keep up with the "
			"events), events lost unknown");
	kmtd_summary_clear(&summary);
}

/*
 * The recommended buffers have room for the losses of the worst CPU, and are at
 * least twice as large as the present ones.
 */
static void test_subbufs(void)
{
	static const struct {
		guint64 lost, subbufs;
	} cases[] = {
		{1, 40},	 {8192 * 19, 40},      {8192 * 20 - 1, 40},
		{8192 * 20, 41}, {8192 * 99 + 1, 120},
	};
	KmtdSummary summary;

	for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
		make(&summary, 2, cases[i].lost);
		g_assert_cmpuint(kmtd_summary_subbufs(&summary, 64 * GB), ==,
				 cases[i].subbufs);
		kmtd_summary_clear(&summary);
	}
}

/*
 * The recommended buffers of all CPUs use at most a quarter of the memory, and
 * those of one CPU at most 4 GB.
 */
static void test_subbufs_beyond_memory(void)
{
	KmtdSummary summary;

	make(&summary, 2, 1);
	/* 40 sub-buffers on 2 CPUs are 35 MB. */
	g_assert_cmpuint(kmtd_summary_subbufs(&summary, 146800640), ==, 40);
	g_assert_cmpuint(kmtd_summary_subbufs(&summary, 146800639), ==, 0);
	summary.cpus->len = 0;
	g_assert_cmpuint(kmtd_summary_subbufs(&summary, GB), ==, 0);
	kmtd_summary_clear(&summary);

	make(&summary, 1, 80 * 1000 * 1000);
	g_assert_cmpuint(kmtd_summary_subbufs(&summary, 1024 * GB), ==, 0);
	kmtd_summary_clear(&summary);
}

static void test_advice(void)
{
	KmtdSummary summary;
	g_autofree char *none = NULL;
	g_autofree char *unknown = NULL;
	g_autofree char *more = NULL;
	g_autofree char *too_much = NULL;
	g_autofree char *skipped = NULL;
	g_autofree char *slow = NULL;

	make(&summary, 2, 0);
	none = kmtd_summary_advice(&summary, 64 * GB);
	g_assert_null(none);
	kmtd_summary_clear(&summary);

	make(&summary, 2, 500);
	more = kmtd_summary_advice(&summary, 64 * GB);
	g_assert_cmpstr(more, ==,
			"500 events were lost (20 % of all, 500 of them on "
			"CPU 1), because its buffer was full; to keep them, "
			"boot with kmemtrace.subbufs=40 (now 20), which takes "
			"18 MB of memory for each CPU");
	too_much = kmtd_summary_advice(&summary, GB / 16);
	g_assert_nonnull(strstr(too_much, "faster file system (-D)"));
	g_assert_nonnull(strstr(too_much, "kmemtrace.subbufs= above 20"));
	summary.frames.n_stored = 1;
	slow = kmtd_summary_advice(&summary, 64 * GB);
	g_assert_nonnull(strstr(slow, "memory for each CPU; or record with a "
				      "lower level of --compress, or without"));
	summary.n_skipped = 500;
	skipped = kmtd_summary_advice(&summary, 64 * GB);
	g_assert_cmpstr(skipped, ==,
			"500 events were lost (20 % of all, 500 of them on "
			"CPU 1), because the kernel skipped the programs that "
			"record them, mostly in interrupts of such a program");
	summary.lost_known = FALSE;
	unknown = kmtd_summary_advice(&summary, 64 * GB);
	g_assert_null(unknown);
	kmtd_summary_clear(&summary);
}

static void test_commands(void)
{
	static const struct {
		guint n_cpus;
		const char *directory, *commands;
	} cases[] = {
		{1, ".", "kmemtrace_check cpu0.out\nkmemtrace-report\n"},
		{2, "a/b",
		 "kmemtrace_check a/b/cpu0.out a/b/cpu1.out\n"
		 "kmemtrace-report a/b\n"},
		{1, "a/", "kmemtrace_check a/cpu0.out\nkmemtrace-report a/\n"},
		{1, "my trace",
		 "kmemtrace_check 'my trace/cpu0.out'\n"
		 "kmemtrace-report 'my trace'\n"},
		{1, "-f",
		 "kmemtrace_check ./-f/cpu0.out\nkmemtrace-report ./-f\n"},
		{9, ".", "kmemtrace_check cpu*.out\nkmemtrace-report\n"},
		{9, "/d", "kmemtrace_check /d/cpu*.out\nkmemtrace-report /d\n"},
		{9, "a b",
		 "kmemtrace_check 'a b'/cpu*.out\n"
		 "kmemtrace-report 'a b'\n"},
	};

	for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *commands = NULL;
		KmtdSummary summary;

		make(&summary, cases[i].n_cpus, 0);
		commands = kmtd_summary_commands(&summary, cases[i].directory);
		g_assert_cmpstr(commands, ==, cases[i].commands);
		kmtd_summary_clear(&summary);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/summary/line", test_line);
	g_test_add_func("/summary/subbufs", test_subbufs);
	g_test_add_func("/summary/subbufs-beyond-memory",
			test_subbufs_beyond_memory);
	g_test_add_func("/summary/advice", test_advice);
	g_test_add_func("/summary/commands", test_commands);
	return g_test_run();
}
