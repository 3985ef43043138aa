// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "kmemtraced/other-files.h"
#include "kmemtraced/relay-control.h"
#include "lib/capture/error.h"
#include "lib/capture/meta.h"
#include "lib/capture/capture-writer.h"
#include "kmemtraced/snapshot-capture.h"
#include "kmemtraced/kernel-tables.h"

#define GROUP "snapshot"

/* Keys of DEBUGFS/kmemtrace/snapshot/take that are copied to the meta file. */
static const char *const state_keys[] = {"why", "time", "pid", "comm",
					 "caller"};

typedef struct {
	guint cpu;
	int fd;
	guint64 lost;
	KmtCaptureCpuWriter *writer; /* NULL: not created yet */
} SnapshotCpu;

typedef struct {
	const KmtdSessionOptions *options;
	const KmtdSessionUi *ui;
	KmtdControl *control;
	GHashTable *state;	  /* all keys of snapshot/take */
	GArray *cpus;		  /* of SnapshotCpu, ascending */
	KmtdOutput *files;	  /* output for the tables; owns it */
	KmtCaptureWriter *output; /* the directory of files */
	GKeyFile *meta;
	KmtdTables tables;
	guint record_bytes;
} Snapshot;

static void cpu_clear(SnapshotCpu *cpu)
{
	if (cpu->fd >= 0)
		close(cpu->fd);
	g_clear_pointer(&cpu->writer, kmt_capture_cpu_writer_free);
}

/* Parse lines "key: value" into a new table. */
static GHashTable *parse_state(const char *text)
{
	GHashTable *state =
		g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

	for (char **line = lines; *line; line++) {
		char *colon = strstr(*line, ": ");

		if (colon)
			g_hash_table_insert(state,
					    g_strndup(*line, colon - *line),
					    g_strdup(colon + strlen(": ")));
	}
	return state;
}

static GHashTable *read_state(Snapshot *snapshot, GError **error)
{
	g_autofree char *text =
		kmtd_control_read(snapshot->control, "snapshot/take", error);

	if (text)
		return parse_state(text);
	if (error && g_error_matches(*error, KMT_DAEMON_ERROR,
				     KMT_DAEMON_ERROR_CONTROL)) {
		g_clear_error(error);
		g_set_error(error, KMT_DAEMON_ERROR,
			    KMT_DAEMON_ERROR_NO_SNAPSHOTS,
			    "there are no snapshots in this kernel: %s has no "
			    "snapshot/take",
			    kmtd_control_path(snapshot->control));
	}
	return NULL;
}

static const char *state_value(GHashTable *state, const char *key)
{
	const char *value = g_hash_table_lookup(state, key);

	return value ? value : "";
}

static gboolean check_state(Snapshot *snapshot, GError **error)
{
	const char *state = state_value(snapshot->state, "state");

	if (g_str_equal(state, "taken"))
		return TRUE;
	if (g_str_equal(state, "stopped"))
		g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_STOPPED,
			    "there is no snapshot: there were no spare buffers "
			    "when one was to be taken (%s), so tracing was "
			    "stopped",
			    state_value(snapshot->state, "why"));
	else
		g_set_error(error, KMT_DAEMON_ERROR,
			    KMT_DAEMON_ERROR_NO_SNAPSHOT,
			    "no snapshot was taken: the state in "
			    "%s/snapshot/take is '%s'",
			    kmtd_control_path(snapshot->control), state);
	return FALSE;
}

static gboolean set_replaced(GError **error)
{
	g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_REPLACED,
		    "the snapshot was freed or replaced before it was "
		    "completely saved");
	return FALSE;
}

/*
 * Check that the snapshot is still the one whose state was read first. Return
 * FALSE and set an error otherwise.
 */
static gboolean check_same(Snapshot *snapshot, GError **error)
{
	g_autoptr(GHashTable) now = read_state(snapshot, error);

	if (!now)
		return FALSE;
	if (g_str_equal(state_value(now, "state"), "taken") &&
	    g_str_equal(state_value(now, "time"),
			state_value(snapshot->state, "time")))
		return TRUE;
	return set_replaced(error);
}

static int compare_cpus(const void *a, const void *b)
{
	const SnapshotCpu *cpu_a = a, *cpu_b = b;

	return (cpu_a->cpu > cpu_b->cpu) - (cpu_a->cpu < cpu_b->cpu);
}

/*
 * Open the files of all CPUs, and then check that the snapshot is still the
 * same. From then on, read() on a file fails with ESTALE if its snapshot has
 * been replaced or freed.
 */
static gboolean open_cpus(Snapshot *snapshot, GError **error)
{
	g_autoptr(GHashTable) lost = kmtd_control_per_cpu(
		snapshot->control, "snapshot/overruns", error);
	GHashTableIter iter;
	gpointer key, value;

	if (!lost)
		return FALSE;
	g_hash_table_iter_init(&iter, lost);
	while (g_hash_table_iter_next(&iter, &key, &value)) {
		SnapshotCpu cpu = {.cpu = GPOINTER_TO_UINT(key),
				   .lost = *(guint64 *)value};
		g_autofree char *name =
			g_strdup_printf("snapshot/cpu%u", cpu.cpu);

		cpu.fd = openat(kmtd_control_fd(snapshot->control), name,
				O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		if (cpu.fd < 0) {
			kmt_capture_set_errno(
				error, KMT_DAEMON_ERROR_READ, errno,
				"cannot open %s in debugfs", name);
			return FALSE;
		}
		g_array_append_val(snapshot->cpus, cpu);
	}
	g_array_sort(snapshot->cpus, compare_cpus);
	return check_same(snapshot, error);
}

static gboolean make_meta(Snapshot *snapshot, KmtdSummary *summary,
			  GError **error)
{
	/* The snapshot continues a trace, because older records of each CPU may
	 * have been overwritten. */
	KmtCaptureMetaStart start = {.sys = snapshot->options->sys,
				     .proc = snapshot->options->proc,
				     .source = "relay",
				     .continues = TRUE,
				     .was_enabled = TRUE};

	start.abi_version = kmtd_control_abi_version(snapshot->control);
	start.record_bytes = snapshot->record_bytes;
	snapshot->meta = kmt_capture_meta_new(&start);
	if (!kmtd_control_geometry(snapshot->control, &summary->n_subbufs,
				   &summary->subbuf_bytes, error))
		return FALSE;
	g_key_file_set_string(snapshot->meta, "capture", "clock",
			      "sched_clock");
	g_key_file_set_uint64(snapshot->meta, "capture", "subbufs",
			      summary->n_subbufs);
	g_key_file_set_uint64(snapshot->meta, "capture", "subbuf_size",
			      summary->subbuf_bytes);
	if (kmtd_control_has(snapshot->control, "cgroups"))
		g_key_file_set_string(snapshot->meta, "capture", "cgroups",
				      "tracked");
	for (gsize i = 0; i < G_N_ELEMENTS(state_keys); i++)
		if (g_hash_table_contains(snapshot->state, state_keys[i]))
			g_key_file_set_string(
				snapshot->meta, GROUP, state_keys[i],
				state_value(snapshot->state, state_keys[i]));
	for (guint i = 0; i < snapshot->cpus->len; i++)
		kmt_capture_meta_add_cpu(
			snapshot->meta, snapshot->options->sys,
			g_array_index(snapshot->cpus, SnapshotCpu, i).cpu);
	return kmt_capture_writer_write_meta(snapshot->output, snapshot->meta,
					     snapshot->cpus->len, error);
}

static gboolean write_failed(Snapshot *snapshot, const SnapshotCpu *cpu, int r,
			     GError **error)
{
	g_autofree char *name =
		kmt_capture_writer_cpu_name(snapshot->output, cpu->cpu);

	kmt_capture_set_errno(error, kmt_capture_write_error_code(-r), -r,
			      "cannot write %s/%s",
			      kmt_capture_writer_path(snapshot->output), name);
	return FALSE;
}

static gboolean save_cpu(Snapshot *snapshot, SnapshotCpu *cpu, gsize subbuf,
			 GError **error)
{
	int r = 0;

	cpu->writer = kmt_capture_writer_cpu_file(snapshot->output, cpu->cpu,
						  snapshot->record_bytes,
						  subbuf, error);
	if (!cpu->writer)
		return FALSE;
	kmt_capture_cpu_writer_take_time(cpu->writer, true);
	while (r == 0) {
		gsize room;
		void *to = kmt_capture_cpu_writer_room(cpu->writer, &room);
		ssize_t n = read(cpu->fd, to, room);

		if (n == 0)
			break;
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == ESTALE)
			return set_replaced(error);
		if (n < 0) {
			kmt_capture_set_errno(
				error, KMT_DAEMON_ERROR_READ, errno,
				"cannot read snapshot/cpu%u in debugfs",
				cpu->cpu);
			return FALSE;
		}
		r = kmt_capture_cpu_writer_add(cpu->writer, (gsize)n);
	}
	if (r == 0)
		r = kmt_capture_cpu_writer_finish(cpu->writer);
	if (r == 0)
		r = kmt_capture_cpu_writer_sync(cpu->writer);
	return r == 0 || write_failed(snapshot, cpu, r, error);
}

static gboolean save_cpus(Snapshot *snapshot, KmtdSummary *summary,
			  GError **error)
{
	for (guint i = 0; i < snapshot->cpus->len; i++) {
		SnapshotCpu *cpu =
			&g_array_index(snapshot->cpus, SnapshotCpu, i);
		KmtdCpuSummary figures = {.cpu = cpu->cpu, .lost = cpu->lost};

		if (!save_cpu(snapshot, cpu, summary->subbuf_bytes, error))
			return FALSE;
		figures.bytes = kmt_capture_cpu_writer_written(cpu->writer);
		kmt_capture_meta_set_cpu(snapshot->meta, cpu->cpu,
					 figures.bytes, &figures.lost);
		kmtd_summary_add_frames(summary, snapshot->meta, cpu->cpu,
					cpu->writer);
		g_array_append_val(summary->cpus, figures);
		summary->bytes += figures.bytes;
		summary->lost += figures.lost;
	}
	summary->lost_known = TRUE;
	return TRUE;
}

static gboolean save_tables(Snapshot *snapshot, GError **error)
{
	snapshot->tables.output = snapshot->files;
	snapshot->tables.proc = snapshot->options->proc;
	snapshot->tables.directory = kmtd_control_path(snapshot->control);
	snapshot->tables.warning = snapshot->ui->warning;
	kmtd_tables_read_slabs(&snapshot->tables);
	return kmtd_tables_copy(&snapshot->tables, error) &&
	       kmtd_tables_copy_records(&snapshot->tables, error) &&
	       kmtd_tables_write_slabs(&snapshot->tables, error);
}

static gboolean open_snapshot(Snapshot *snapshot, GError **error)
{
	gboolean consumed;

	snapshot->control =
		kmtd_control_open_to_read(snapshot->options->debugfs, error);
	if (!snapshot->control)
		return FALSE;
	snapshot->record_bytes = kmtd_control_record_bytes(snapshot->control);
	snapshot->state = read_state(snapshot, error);
	if (!snapshot->state || !check_state(snapshot, error) ||
	    !open_cpus(snapshot, error) ||
	    !kmtd_control_any_consumed(snapshot->control, "snapshot/consumed",
				       &consumed, error))
		return FALSE;
	if (consumed)
		snapshot->ui->warning("part of this snapshot was read before; "
				      "saving the rest");
	return TRUE;
}

static gboolean save(Snapshot *snapshot, KmtdSummary *summary, GError **error)
{
	const KmtCaptureDirectoryOptions options = {
		.force = snapshot->options->force,
		.warning = snapshot->ui->warning,
	};

	snapshot->output = kmt_capture_writer_open(snapshot->options->directory,
						   &options, error);
	if (!snapshot->output)
		return FALSE;
	snapshot->files = kmtd_output_to_directory(snapshot->output);
	if (snapshot->options->compress_level &&
	    !kmt_capture_writer_compress(
		    snapshot->output, snapshot->options->compress_level, error))
		return FALSE;
	kmtd_other_files_warn(snapshot->options, snapshot->ui);
	if (!make_meta(snapshot, summary, error) ||
	    !save_cpus(snapshot, summary, error) ||
	    !save_tables(snapshot, error) || !check_same(snapshot, error))
		return FALSE;
	kmt_capture_meta_end(snapshot->meta, summary->bytes, &summary->lost,
			     TRUE);
	return kmt_capture_writer_end_meta(snapshot->output, snapshot->meta,
					   snapshot->cpus->len, error) &&
	       kmt_capture_writer_sync(snapshot->output, error) &&
	       kmt_capture_writer_publish(snapshot->output, error);
}

static void note_saving(Snapshot *snapshot)
{
	g_autofree char *text =
		g_strdup_printf("saving the snapshot (%s) into %s",
				state_value(snapshot->state, "why"),
				snapshot->options->directory);

	snapshot->ui->note(text);
}

gboolean kmtd_snapshot_save(const KmtdSessionOptions *options,
			    const KmtdSessionUi *ui, KmtdSummary *summary,
			    GPtrArray *errors)
{
	Snapshot snapshot = {
		.options = options,
		.ui = ui,
		.cpus = g_array_new(FALSE, FALSE, sizeof(SnapshotCpu)),
	};
	GError *error = NULL;
	gboolean ok;

	g_array_set_clear_func(snapshot.cpus, (GDestroyNotify)cpu_clear);
	ok = open_snapshot(&snapshot, &error);
	if (ok) {
		note_saving(&snapshot);
		ok = save(&snapshot, summary, &error);
	}
	summary->frozen = TRUE;
	summary->is_snapshot = TRUE;
	summary->record_bytes = snapshot.record_bytes;
	if (error)
		g_ptr_array_add(errors, error);
	g_array_unref(snapshot.cpus);
	if (!ok && snapshot.output)
		kmt_capture_writer_undo(snapshot.output);
	g_clear_pointer(&snapshot.files, kmtd_output_free);
	g_clear_pointer(&snapshot.meta, g_key_file_unref);
	g_clear_pointer(&snapshot.state, g_hash_table_unref);
	kmtd_tables_clear(&snapshot.tables);
	g_clear_pointer(&snapshot.control, kmtd_control_close);
	return ok;
}
