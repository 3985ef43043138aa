// SPDX-License-Identifier: GPL-2.0-or-later
/* Sort the records of each CPU by time and write them to cpu<n>.out. */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "import/byte-span.h"
#include "import/import-private.h"
#include "import/import-stacks.h"
#include "import/import-symbols.h"
#include "lib/capture/error.h"
#include "lib/tracepoints/learned-names.h"

/*
 * kmt_import_advance() writes records only if the number of new records is at
 * least this number plus the number of CPUs and of older waiting records. The
 * cost of one pass over the CPUs and the waiting records is then proportional
 * to the number of new records, whatever the order of the records.
 */
#define MIN_NEW_RECORDS 1024

/*
 * Upper bound for the loss records that kmt_import_add_loss_on_all_cpus() adds,
 * summed over all CPUs.
 */
#define MAX_LOSSES_ON_ALL_CPUS (1U << 20)

/*
 * In a waiting loss record, this value of "since" stands for the time of the
 * CPU's previous record. limit_since() replaces the value.
 */
#define SINCE_PREVIOUS_RECORD G_MININT64

gboolean kmt_import_set_write_error(const KmtImport *import, guint cpu,
				    int code, GError **error)
{
	g_autofree char *name =
		kmt_capture_writer_cpu_name(import->output, cpu);

	kmt_capture_set_errno(error, kmt_capture_write_error_code(-code), -code,
			      "cannot write %s/%s",
			      kmt_capture_writer_path(import->output), name);
	return FALSE;
}

static KmtImportCpu *get_cpu(KmtImport *import, guint number, GError **error)
{
	KmtImportCpu *cpu;

	if (number >= KMT_IMPORT_MAX_CPUS) {
		g_set_error(error, KMT_IMPORT_ERROR, KMT_IMPORT_ERROR_INPUT,
			    "it has an event of CPU %u, which is not a valid "
			    "CPU number",
			    number);
		return NULL;
	}
	if (number >= import->cpus->len)
		g_ptr_array_set_size(import->cpus, (gint)number + 1);
	if (import->cpus->pdata[number])
		return import->cpus->pdata[number];
	cpu = g_new0(KmtImportCpu, 1);
	cpu->waiting =
		g_array_new(FALSE, FALSE, sizeof(struct kmemtrace_event_v2s));
	cpu->last_ns = G_MININT64;
	kmt_tracepoint_pairs_init(&cpu->pairs, &import->inner);
	import->cpus->pdata[number] = cpu;
	import->figures.cpus++;
	return cpu;
}

/*
 * Open the output file of a CPU if it is not open yet. The first open fixes the
 * size of all records.
 */
static gboolean open_file(KmtImport *import, KmtImportCpu *cpu, guint number,
			  GError **error)
{
	if (!cpu->writer)
		cpu->writer = kmt_capture_writer_small_cpu_file(
			import->output, number, import->record_bytes, error);
	import->has_files = TRUE;
	return cpu->writer != NULL;
}

/*
 * Set "since", the start of the loss, in a loss record to the time of the CPU's
 * previous record, because the event of that record was not lost. Without a
 * previous record, reduce "since" to at most the time of the loss record
 * itself.
 */
static void limit_since(struct kmemtrace_event_lost *lost,
			const KmtImportCpu *cpu)
{
	if (cpu->records)
		lost->since = cpu->last_ns;
	else if (lost->since == SINCE_PREVIOUS_RECORD ||
		 lost->since > lost->timestamp)
		lost->since = lost->timestamp;
}

/*
 * Append a record to the CPU's file. A time before the CPU's last record is
 * raised to the last record's time. In version 1, a loss record is dropped.
 * Returns 0 or a negative errno value.
 */
static int write_record(KmtImport *import, KmtImportCpu *cpu,
			struct kmemtrace_event_v2s *record)
{
	struct kmemtrace_event *event = &record->v2.v1;
	gboolean is_lost = event->event_id == KMEMTRACE_EVENT_LOST;
	gsize room;

	if (is_lost && import->abi_version == 1)
		return 0;
	if (event->timestamp < cpu->last_ns) {
		event->timestamp = cpu->last_ns;
		import->figures.backwards++;
	}
	if (is_lost)
		limit_since((struct kmemtrace_event_lost *)record, cpu);
	cpu->last_ns = event->timestamp;
	cpu->records++;
	event->event_size = (guint16)import->record_bytes;
	memcpy(kmt_capture_cpu_writer_room(cpu->writer, &room), record,
	       import->record_bytes);
	return kmt_capture_cpu_writer_add(cpu->writer, import->record_bytes);
}

static gint compare_times(gconstpointer a, gconstpointer b)
{
	gint64 ta = ((const struct kmemtrace_event_v2s *)a)->v2.v1.timestamp;
	gint64 tb = ((const struct kmemtrace_event_v2s *)b)->v2.v1.timestamp;

	return (ta > tb) - (ta < tb);
}

/*
 * Read the addresses of the kernel functions that report one allocation twice,
 * unless the symbols in the input contained the addresses. Only the first call
 * reads symbol files, because reading takes about a tenth of a second. The
 * caller therefore calls the function only for a record that needs the
 * addresses.
 */
static void find_inner_functions(KmtImport *import)
{
	g_autofree char *text = NULL;

	if (import->inner_was_read)
		return;
	import->inner_was_read = TRUE;
	if (import->symbol_files)
		text = kmt_import_symbols_text(import, import->symbol_files);
	if (text)
		kmt_tracepoint_inner_read(&import->inner, text);
}

/*
 * Write a record, unless it is the first of two records that report one
 * allocation. A record that may be such a first record waits in cpu->pairs
 * until later records show whether a second record exists. Returns 0 or a
 * negative errno value.
 */
static int write_unless_pair(KmtImport *import, KmtImportCpu *cpu,
			     struct kmemtrace_event_v2s *record)
{
	int r = 0;

	if (kmt_tracepoint_pairs_passes(&cpu->pairs, &record->v2.v1))
		return write_record(import, cpu, record);
	find_inner_functions(import);
	kmt_tracepoint_pairs_add(&cpu->pairs, &record->v2, sizeof(*record));
	while (r == 0 && (record = kmt_tracepoint_pairs_next(&cpu->pairs)))
		r = write_record(import, cpu, record);
	return r;
}

/*
 * Write the records that wait in cpu->pairs, because no later record follows.
 */
static int write_held(KmtImport *import, KmtImportCpu *cpu)
{
	struct kmemtrace_event_v2s *record;
	int r = 0;

	kmt_tracepoint_pairs_cut(&cpu->pairs);
	while (r == 0 && (record = kmt_tracepoint_pairs_next(&cpu->pairs)))
		r = write_record(import, cpu, record);
	return r;
}

static gboolean advance_cpu(KmtImport *import, guint number, gint64 time,
			    GError **error)
{
	KmtImportCpu *cpu = import->cpus->pdata[number];
	struct kmemtrace_event_v2s *records;
	guint n;
	int r = 0;

	if (!cpu)
		return TRUE;
	if (!open_file(import, cpu, number, error))
		return FALSE;
	/* g_array_sort() is stable, so records with equal times keep their
	 * order. */
	if (cpu->unordered)
		g_array_sort(cpu->waiting, compare_times);
	cpu->unordered = FALSE;
	records = (struct kmemtrace_event_v2s *)cpu->waiting->data;
	for (n = 0; n < cpu->waiting->len && r == 0 &&
		    records[n].v2.v1.timestamp <= time;
	     n++)
		r = write_unless_pair(import, cpu, &records[n]);
	if (r == 0 && time == END_OF_TIME)
		r = write_held(import, cpu);
	if (n)
		g_array_remove_range(cpu->waiting, 0, n);
	import->n_waiting -= n;
	return r == 0 || kmt_import_set_write_error(import, number, r, error);
}

gboolean kmt_import_write_up_to(KmtImport *import, gint64 time, GError **error)
{
	for (guint i = 0; i < import->cpus->len; i++)
		if (!advance_cpu(import, i, time, error))
			return FALSE;
	import->n_new = 0;
	return TRUE;
}

gboolean kmt_import_advance(KmtImport *import, gint64 time, GError **error)
{
	guint64 n_before = import->n_waiting - import->n_new;

	if (time == END_OF_TIME) {
		import->allowed_ns = import->written_ns = G_MININT64;
		return kmt_import_write_up_to(import, END_OF_TIME, error);
	}
	import->allowed_ns = MAX(import->allowed_ns, time);
	if (import->allowed_ns == import->written_ns ||
	    import->n_new < MIN_NEW_RECORDS + import->cpus->len + n_before)
		return TRUE;
	import->written_ns = import->allowed_ns;
	return kmt_import_write_up_to(import, import->allowed_ns, error);
}

static void queue_record(KmtImport *import, KmtImportCpu *cpu,
			 const struct kmemtrace_event_v2s *record)
{
	GArray *waiting = cpu->waiting;

	if (waiting->len &&
	    g_array_index(waiting, struct kmemtrace_event_v2s, waiting->len - 1)
			    .v2.v1.timestamp > record->v2.v1.timestamp)
		cpu->unordered = TRUE;
	g_array_append_vals(waiting, record, 1);
	import->n_waiting++;
	import->n_new++;
}

gboolean kmt_import_add(KmtImport *import, const KmtImportEvent *event,
			GError **error)
{
	struct kmemtrace_event_v2s with_stack = {
		.v2 = {.v1 = event->record, .pid = event->pid}};
	struct kmemtrace_event_v2 *record = &with_stack.v2;
	KmtImportCpu *cpu = get_cpu(import, event->cpu, error);

	kmt_import_tick(import);
	if (!cpu)
		return FALSE;
	if (event->common_flags &
	    (KMT_TRACEPOINT_COMMON_HARDIRQ | KMT_TRACEPOINT_COMMON_NMI))
		record->flags |= KMEMTRACE_FLAG_HARDIRQ;
	else if (event->common_flags & KMT_TRACEPOINT_COMMON_SOFTIRQ)
		record->flags |= KMEMTRACE_FLAG_SOFTIRQ;
	if (event->cache && record->v1.type_id == KMEMTRACE_TYPE_CACHE)
		record->cache = kmt_tracepoint_tables_cache(
			import->names, event->cache, record->v1.bytes_req,
			record->v1.bytes_alloc);
	if (import->stacks)
		with_stack.stack = kmt_import_stacks_add(
			import->stacks, event->stack, event->n_stack);
	kmt_tracepoint_tables_add_task(import->names, event->pid);
	if (!import->figures.records)
		import->first_pid = event->pid;
	import->several_pids |= event->pid != import->first_pid;
	import->point_events[event->point]++;
	import->figures.records++;
	queue_record(import, cpu, &with_stack);
	return TRUE;
}

static void queue_loss(KmtImport *import, KmtImportCpu *cpu, guint64 n_events,
		       gint64 since, gint64 time)
{
	struct kmemtrace_event_lost lost = {.event_id = KMEMTRACE_EVENT_LOST,
					    .node = KMEMTRACE_NODE_NONE,
					    .events = n_events,
					    .since = since,
					    .timestamp = time};
	struct kmemtrace_event_v2s record = {0};

	memcpy(&record, &lost, sizeof(lost));
	cpu->lost = kmt_add_saturating(cpu->lost, n_events);
	queue_record(import, cpu, &record);
}

gboolean kmt_import_add_counted_loss(KmtImport *import, guint number,
				     guint64 n_events, gint64 time,
				     GError **error)
{
	KmtImportCpu *cpu = get_cpu(import, number, error);

	if (!cpu)
		return FALSE;
	if (n_events == 0) {
		import->figures.lost_more = TRUE;
		import->has_unplaced_loss = TRUE;
		return TRUE;
	}
	import->figures.lost =
		kmt_add_saturating(import->figures.lost, n_events);
	queue_loss(import, cpu, n_events, SINCE_PREVIOUS_RECORD, time);
	return TRUE;
}

gboolean kmt_import_add_loss(KmtImport *import, guint number, guint64 n_events,
			     gint64 first, gint64 time, GError **error)
{
	KmtImportCpu *cpu = get_cpu(import, number, error);

	if (!cpu)
		return FALSE;
	queue_loss(import, cpu, n_events, first, time);
	return TRUE;
}

void kmt_import_add_loss_on_all_cpus(KmtImport *import, gint64 time)
{
	if (import->n_losses_on_all_cpus + import->cpus->len >
	    MAX_LOSSES_ON_ALL_CPUS)
		return;
	import->n_losses_on_all_cpus += import->cpus->len;
	for (guint i = 0; i < import->cpus->len; i++)
		if (import->cpus->pdata[i])
			queue_loss(import, import->cpus->pdata[i], 0,
				   SINCE_PREVIOUS_RECORD, time);
}

gboolean kmt_import_set_cpu_lost(KmtImport *import, guint number,
				 guint64 n_events, GError **error)
{
	KmtImportCpu *cpu = get_cpu(import, number, error);

	if (!cpu)
		return FALSE;
	cpu->has_total = TRUE;
	cpu->total_lost = n_events;
	if (n_events == KMT_IMPORT_LOST_UNKNOWN)
		import->figures.lost_more = TRUE;
	else
		import->figures.lost =
			kmt_add_saturating(import->figures.lost, n_events);
	return TRUE;
}
