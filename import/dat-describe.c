// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Describes the recorded machine, and guesses the options of the recording,
 * from a trace.dat.
 */
#include "config.h"

#include "import/dat-reader.h"

/*
 * Minimum number of memory events for a guess about the options of the
 * recording. Fewer events may all come from one task or a few CPUs even if
 * trace-cmd recorded all tasks and CPUs.
 */
#define MIN_EVENTS_OF_A_MACHINE 500

/* Parse the output of uname such as "Linux host 6.1.0 x86_64". */
static void describe_machine(GKeyFile *meta, const char *uname)
{
	g_auto(GStrv) words = g_strsplit(uname, " ", -1);
	guint n = g_strv_length(words);

	if (n < 4 || !g_utf8_validate(uname, -1, NULL))
		return;
	g_key_file_set_string(meta, KMT_IMPORT_GROUP, "kernel_release",
			      words[n - 2]);
	g_key_file_set_string(meta, KMT_IMPORT_GROUP, "machine", words[n - 1]);
}

void kmt_dat_describe(const KmtDatReader *r)
{
	GKeyFile *meta = kmt_import_meta(r->import);
	const char *version = r->dat->recorder;
	g_autofree char *recorder =
		version && g_utf8_validate(version, -1, NULL)
			? g_strconcat("trace-cmd ", version, NULL)
			: g_strdup("trace-cmd");

	g_key_file_set_string(meta, KMT_IMPORT_GROUP, "imported_from",
			      "trace.dat");
	g_key_file_set_string(meta, KMT_IMPORT_GROUP, "recorded_by",
			      g_strchomp(recorder));
	g_key_file_set_string(meta, KMT_IMPORT_GROUP, "clock", "trace-cmd");
	if (r->clock.name)
		g_key_file_set_string(meta, KMT_IMPORT_GROUP, "trace_clock",
				      r->clock.name);
	g_key_file_set_uint64(meta, KMT_IMPORT_GROUP, "page_size",
			      r->dat->page_bytes);
	g_key_file_set_uint64(meta, KMT_IMPORT_GROUP, "word_size",
			      r->dat->long_bytes);
	if (r->dat->uname)
		describe_machine(meta, r->dat->uname);
}

/*
 * A trace.dat does not store the options of trace-cmd record. The function
 * guesses that -F or -P was given if all events are of one task: at least
 * MIN_EVENTS_OF_A_MACHINE events of all tasks would include events of the idle
 * task or of a kernel thread.
 */
void kmt_dat_guess_task_filter(KmtImport *import)
{
	g_autofree char *reason = NULL;
	guint32 pid;

	if (kmt_import_memory_events(import) < MIN_EVENTS_OF_A_MACHINE ||
	    !kmt_import_only_task(import, &pid))
		return;
	reason = g_strdup_printf(
		"probably a recording of one task, as by trace-cmd record -F "
		"or -P (a guess, since trace.dat does not store the options): "
		"all %" G_GUINT64_FORMAT " events are of task %u, and what "
		"other tasks free is missing",
		kmt_import_memory_events(import), pid);
	kmt_import_add_incomplete(import, reason);
}

/*
 * A CPU without an event was idle, or excluded by trace-cmd record -M. An idle
 * CPU is far more likely, so the function adds only a note for the user and
 * does not mark the capture as incomplete.
 */
void kmt_dat_note_cpus_without_events(const KmtDatReader *r)
{
	g_autofree char *note = NULL;
	guint empty = 0;

	for (guint i = 0; i < r->surveys->len; i++)
		empty += !g_array_index(r->surveys, KmtDatSurvey, i).has_time;
	if (!empty || empty == r->surveys->len ||
	    kmt_import_memory_events(r->import) < MIN_EVENTS_OF_A_MACHINE)
		return;
	note = g_strdup_printf(
		"%u of %u CPUs have no event: they were idle, or trace-cmd "
		"record -M excluded them (trace.dat does not store this); in "
		"the second case, what these CPUs freed is missing",
		empty, r->surveys->len);
	kmt_import_add_note(r->import, note);
}
