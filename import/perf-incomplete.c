// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "import/perf-command.h"
#include "import/perf-incomplete.h"
#include "import/perf-layout.h"

/* A reason for missing events, and the names of the affected tracepoints. */
typedef struct {
	char *text;
	GString *names;
	guint n_names;
} Reason;

static void reason_clear(gpointer data)
{
	Reason *reason = data;

	g_free(reason->text);
	g_string_free(reason->names, TRUE);
}

/*
 * Add text as a reason why events of the tracepoint name are missing. The
 * function takes ownership of text; NULL adds nothing.
 */
static void add_reason(GArray *reasons, char *text, const char *name)
{
	Reason *reason = NULL;

	if (!text)
		return;
	for (guint i = 0; i < reasons->len && !reason; i++)
		if (g_str_equal(g_array_index(reasons, Reason, i).text, text))
			reason = &g_array_index(reasons, Reason, i);
	if (!reason) {
		Reason added = {g_strdup(text), g_string_new(NULL), 0};

		g_array_append_val(reasons, added);
		reason = &g_array_index(reasons, Reason, reasons->len - 1);
	}
	g_free(text);
	g_string_append_printf(reason->names, "%s%s",
			       reason->n_names++ ? ", " : "", name);
}

/*
 * Describe the sampling that the event attribute requests. Returns NULL if all
 * events were recorded; the caller frees the text.
 */
static char *sampling(const struct perf_event_attr *attr)
{
	guint64 n = attr->sample_period;

	if (attr->freq)
		return g_strdup_printf("events were sampled, about "
				       "%" G_GUINT64_FORMAT " a second of each "
				       "CPU (perf record -F)",
				       n);
	if (n == 0)
		return g_strdup("events were counted and not recorded (:S of "
				"perf record -e)");
	if (n > 1)
		return g_strdup_printf("one of %" G_GUINT64_FORMAT
				       " events was recorded (perf record -c)",
				       n);
	return NULL;
}

static char *missing_cpus(const KmtPerfData *data,
			  const KmtPerfCommand *command, guint n_ids)
{
	guint online = kmt_perf_data_online(data);

	if (n_ids == 0 || n_ids >= online)
		return NULL;
	if (command->cpus)
		return g_strdup_printf("only CPUs %s were recorded (perf "
				       "record -C)",
				       command->cpus);
	return g_strdup_printf("only %u of %u CPUs were recorded", n_ids,
			       online);
}

/* Add reasons for each event separately, because perf has per-event options. */
static void add_events(KmtImport *import, const KmtPerfData *data,
		       const KmtImportDecoder *decoder,
		       const KmtPerfCommand *command, gboolean all_tasks)
{
	const KmtPerfLayouts *layouts = kmt_perf_data_layouts(data);
	g_autoptr(GArray) reasons = g_array_new(FALSE, FALSE, sizeof(Reason));
	guint n = 0;

	g_array_set_clear_func(reasons, reason_clear);
	for (guint i = 0; i < kmt_perf_layouts_count(layouts); i++) {
		const struct perf_event_attr *attr =
			kmt_perf_layouts_attr(layouts, i);
		const char *name =
			attr->type == PERF_TYPE_TRACEPOINT
				? kmt_import_decoder_name(decoder, attr->config)
				: NULL;

		if (!name)
			continue;
		n++;
		add_reason(reasons, sampling(attr), name);
		if (attr->exclude_kernel)
			add_reason(reasons,
				   g_strdup("events of the kernel were left "
					    "out (:u of perf record -e)"),
				   name);
		if (attr->write_backward)
			add_reason(reasons,
				   g_strdup("only the last events of each CPU "
					    "were kept (perf record "
					    "--overwrite)"),
				   name);
		if (all_tasks)
			add_reason(reasons,
				   missing_cpus(
					   data, command,
					   kmt_perf_layouts_n_ids(layouts, i)),
				   name);
	}
	for (guint i = 0; i < reasons->len; i++) {
		const Reason *reason = &g_array_index(reasons, Reason, i);
		g_autofree char *text =
			reason->n_names == n
				? g_strdup(reason->text)
				: g_strconcat(reason->names->str, ": ",
					      reason->text, NULL);

		kmt_import_add_incomplete(import, text);
	}
}

/*
 * Return whether all tasks were recorded. Old versions of perf write no thread
 * map, so the command line must decide.
 */
static gboolean is_of_all_tasks(const KmtPerfData *data,
				const KmtPerfCommand *command, guint64 n_tasks)
{
	const KmtPerfLayouts *layouts = kmt_perf_data_layouts(data);

	if (n_tasks != KMT_PERF_TASKS_UNKNOWN)
		return n_tasks == 0;
	if (command->tasks)
		return FALSE;
	if (command->all_cpus || command->cpus)
		return TRUE;
	/* perf sets enable_on_exec if it starts a command and records only this
	 * command. */
	for (guint i = 0; i < kmt_perf_layouts_count(layouts); i++)
		if (kmt_perf_layouts_attr(layouts, i)->enable_on_exec)
			return FALSE;
	return TRUE;
}

static void add_text(KmtImport *import, const char *before, const char *value,
		     const char *after)
{
	g_autofree char *text = g_strconcat(before, value, after, NULL);

	kmt_import_add_incomplete(import, text);
}

static void add_choices(KmtImport *import, const KmtPerfCommand *command)
{
	if (command->filter)
		add_text(import, "only events that pass '", command->filter,
			 "' were recorded (perf record --filter)");
	if (command->exclude_perf)
		kmt_import_add_incomplete(
			import, "events of perf itself were left out (perf "
				"record --exclude-perf)");
	if (command->cgroups)
		add_text(import, "only tasks of the control group ",
			 command->cgroups, " were recorded (perf record -G)");
	/* Only ranges in the value of -D select times; a single number is a
	 * delay before the start. */
	if (command->delay && command->delay[0] &&
	    strchr(command->delay + 1, '-'))
		add_text(import, "only the times ", command->delay,
			 " ms were recorded (perf record -D)");
	if (command->control)
		kmt_import_add_incomplete(
			import, "events may have been switched off at times "
				"(perf record --control)");
}

void kmt_perf_add_incomplete(KmtImport *import, const KmtPerfData *data,
			     const KmtImportDecoder *decoder, guint64 n_tasks)
{
	KmtPerfCommand command =
		kmt_perf_command_parse(kmt_perf_data_command(data));
	gboolean all_tasks = is_of_all_tasks(data, &command, n_tasks);

	add_events(import, data, decoder, &command, all_tasks);
	if (!all_tasks && command.tasks)
		add_text(import, "only the tasks ", command.tasks,
			 " were recorded (perf record -p, -t or -u)");
	else if (!all_tasks)
		kmt_import_add_incomplete(import,
					  "only the command that perf started, "
					  "and its children, were recorded "
					  "(perf record without -a)");
	add_choices(import, &command);
}
