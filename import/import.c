// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <errno.h>
#include <string.h>

#include "import/byte-span.h"
#include "import/import.h"
#include "import/import-stacks.h"
#include "lib/tracepoints/learned-names.h"
#include "lib/capture/error.h"

#define META_FORMAT 1

/* So many call sites are at hand before they are put in order. */
#define MIN_SITES 4096

/*
 * So many more records than before have to wait before they are written.  Each
 * pass over the CPUs and their records is then paid for by the records that
 * came since the last pass, whatever the order of the records.
 */
#define MIN_NEWS 1024

/* Records of losses by kmt_import_add_loss_on_all_cpus(), of all CPUs. */
#define MAX_WIDE_HOLES (1U << 20)

/* The largest time there is: all may be written. */
#define END_OF_TIME G_MAXINT64

/* In a record of a loss that waits: since the record before. */
#define NO_SINCE G_MININT64

G_DEFINE_QUARK(kmt - import - error - quark, kmt_import_error)

gboolean kmt_import_fail(GError **error, const char *what)
{
	g_set_error_literal(error, KMT_IMPORT_ERROR, KMT_IMPORT_ERROR_INPUT,
			    what);
	return FALSE;
}

/* A CPU's file, and its records that are not written yet. */
typedef struct {
	KmtCaptureCpuWriter *sink;
	GArray *waiting;    /* of struct kmemtrace_event_v2s */
	gboolean unordered; /* those are not by time */
	gint64 last_ns;	    /* of the last one written */
	guint64 records;    /* written, those of losses among them */
	guint64 lost;	    /* events, by records of losses */
	guint64 total_lost; /* if has_total; or KMT_IMPORT_LOST_UNKNOWN */
	gboolean has_total;
} ImportCpu;

struct KmtImport {
	KmtCaptureWriter *output;
	guint abi_version; /* of the records */
	guint record_bytes;
	GKeyFile *meta;
	GPtrArray *cpus; /* of ImportCpu, NULL where is none */
	KmtTracepointTables *names;
	GArray *call_sites; /* of guint64, the first n_unique sorted */
	guint n_unique;
	guint64 last_site;
	guint64 *points;       /* events of each of kmt_tracepoint_names */
	const char **unusable; /* of each: why it has no record, or NULL */
	guint64 total_lost;
	KmtImportKernel kernel;
	gboolean has_kallsyms;
	const KmtImportSymbolFiles *symbol_files;
	KmtImportStacks *stacks; /* NULL: the records have none */
	gint64 allowed_ns;	 /* all up to here may be written */
	gint64 written_ns;	 /* what allowed_ns was at the last pass */
	gboolean has_files;	 /* the size of a record cannot change */
	guint64 n_waiting;	 /* records, of all CPUs */
	guint64 n_news;		 /* records since the last pass */
	guint n_wide_holes;	 /* see MAX_WIDE_HOLES */
	guint machine_cpus;	 /* that it can have, as the user said, or 0 */
	GPtrArray *gaps;	 /* char *: of this file */
	GPtrArray *reasons;	 /* char *: why only a part was recorded */
	GPtrArray *notes;	 /* char *: to be printed */
	gboolean not_placed;	 /* a loss has no record */
	KmtImportWatch *watch;	 /* or NULL */
	guint32 first_pid;
	gboolean several_pids;
	KmtImportFigures figures;
};

static void cpu_free(gpointer data)
{
	ImportCpu *cpu = data;

	if (!cpu)
		return;
	g_clear_pointer(&cpu->sink, kmt_capture_cpu_writer_free);
	g_array_unref(cpu->waiting);
	g_free(cpu);
}

KmtImport *kmt_import_new(KmtCaptureWriter *output, guint abi_version)
{
	KmtImport *import = g_new0(KmtImport, 1);

	import->output = output;
	import->abi_version = abi_version;
	import->record_bytes = abi_version == 1 ? KMEMTRACE_EVENT_SIZE_V1
						: KMEMTRACE_EVENT_SIZE_V2;
	import->allowed_ns = import->written_ns = G_MININT64;
	import->meta = g_key_file_new();
	import->cpus = g_ptr_array_new_with_free_func(cpu_free);
	import->names = kmt_tracepoint_tables_new();
	import->gaps = g_ptr_array_new_with_free_func(g_free);
	import->reasons = g_ptr_array_new_with_free_func(g_free);
	import->notes = g_ptr_array_new_with_free_func(g_free);
	import->call_sites = g_array_new(FALSE, FALSE, sizeof(guint64));
	import->points = g_new0(guint64, kmt_tracepoint_n_names);
	import->unusable = g_new0(const char *, kmt_tracepoint_n_names);
	return import;
}

void kmt_import_free(KmtImport *import)
{
	if (!import)
		return;
	g_ptr_array_unref(import->cpus);
	g_key_file_unref(import->meta);
	kmt_tracepoint_tables_free(import->names);
	g_clear_pointer(&import->stacks, kmt_import_stacks_free);
	g_array_unref(import->call_sites);
	g_ptr_array_unref(import->gaps);
	g_ptr_array_unref(import->reasons);
	g_ptr_array_unref(import->notes);
	g_free(import->points);
	g_free(import->unusable);
	g_free(import->kernel.build_id);
	g_free(import->kernel.symbol);
	g_free(import);
}

void kmt_import_set_watch(KmtImport *import, KmtImportWatch *watch)
{
	import->watch = watch;
}

void kmt_import_tick(KmtImport *import)
{
	if (import->watch)
		kmt_import_watch_tick(import->watch);
}

void kmt_import_set_cpus(KmtImport *import, guint cpus)
{
	import->machine_cpus = cpus;
}

guint kmt_import_cpus(const KmtImport *import)
{
	return import->machine_cpus;
}

void kmt_import_set_symbol_files(KmtImport *import,
				 const KmtImportSymbolFiles *files)
{
	import->symbol_files = files;
}

const KmtImportSymbolFiles *kmt_import_symbol_files(const KmtImport *import)
{
	return import->symbol_files;
}

void kmt_import_set_stacks(KmtImport *import)
{
	if (import->abi_version == 1 || import->stacks || import->has_files)
		return;
	import->stacks = kmt_import_stacks_new();
	import->record_bytes = KMEMTRACE_EVENT_SIZE_V2S;
}

GKeyFile *kmt_import_meta(KmtImport *import)
{
	return import->meta;
}

/* ---- a CPU's records ---- */

static gboolean set_write_error(const KmtImport *import, guint cpu, int code,
				GError **error)
{
	kmt_capture_set_errno(error, kmt_capture_write_error_code(-code), -code,
			      "cannot write %s/cpu%u.out",
			      kmt_capture_writer_path(import->output), cpu);
	return FALSE;
}

static ImportCpu *get_cpu(KmtImport *import, guint number, GError **error)
{
	ImportCpu *cpu;

	if (number >= KMT_IMPORT_MAX_CPUS) {
		g_set_error(error, KMT_IMPORT_ERROR, KMT_IMPORT_ERROR_INPUT,
			    "it has an event of CPU %u, which no machine has",
			    number);
		return NULL;
	}
	if (number >= import->cpus->len)
		g_ptr_array_set_size(import->cpus, (gint)number + 1);
	if (import->cpus->pdata[number])
		return import->cpus->pdata[number];
	cpu = g_new0(ImportCpu, 1);
	cpu->waiting =
		g_array_new(FALSE, FALSE, sizeof(struct kmemtrace_event_v2s));
	cpu->last_ns = G_MININT64;
	import->cpus->pdata[number] = cpu;
	import->figures.cpus++;
	return cpu;
}

/* The size of a record is settled when the first one is written. */
static gboolean open_file(KmtImport *import, ImportCpu *cpu, guint number,
			  GError **error)
{
	if (!cpu->sink)
		cpu->sink = kmt_capture_writer_small_cpu_file(
			import->output, number, import->record_bytes, error);
	import->has_files = TRUE;
	return cpu->sink != NULL;
}

/* Events of a CPU are lost after the record before. */
static void limit_since(struct kmemtrace_event_lost *lost, const ImportCpu *cpu)
{
	if (cpu->records)
		lost->since = cpu->last_ns;
	else if (lost->since == NO_SINCE || lost->since > lost->timestamp)
		lost->since = lost->timestamp;
}

/* Write a record, with a time that is not before the last one of the CPU. */
static int write_record(KmtImport *import, ImportCpu *cpu,
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
	memcpy(kmt_capture_cpu_writer_room(cpu->sink, &room), record,
	       import->record_bytes);
	return kmt_capture_cpu_writer_add(cpu->sink, import->record_bytes);
}

static gint compare_times(gconstpointer a, gconstpointer b)
{
	gint64 ta = ((const struct kmemtrace_event_v2s *)a)->v2.v1.timestamp;
	gint64 tb = ((const struct kmemtrace_event_v2s *)b)->v2.v1.timestamp;

	return (ta > tb) - (ta < tb);
}

static gboolean advance_cpu(KmtImport *import, guint number, gint64 time,
			    GError **error)
{
	ImportCpu *cpu = import->cpus->pdata[number];
	struct kmemtrace_event_v2s *records;
	guint n;
	int r = 0;

	if (!cpu)
		return TRUE;
	if (!open_file(import, cpu, number, error))
		return FALSE;
	/* It keeps the order of those with the same time. */
	if (cpu->unordered)
		g_array_sort(cpu->waiting, compare_times);
	cpu->unordered = FALSE;
	records = (struct kmemtrace_event_v2s *)cpu->waiting->data;
	for (n = 0; n < cpu->waiting->len && r == 0 &&
		    records[n].v2.v1.timestamp <= time;
	     n++)
		r = write_record(import, cpu, &records[n]);
	if (n)
		g_array_remove_range(cpu->waiting, 0, n);
	import->n_waiting -= n;
	return r == 0 || set_write_error(import, number, r, error);
}

static gboolean write_up_to(KmtImport *import, gint64 time, GError **error)
{
	for (guint i = 0; i < import->cpus->len; i++)
		if (!advance_cpu(import, i, time, error))
			return FALSE;
	import->n_news = 0;
	return TRUE;
}

gboolean kmt_import_advance(KmtImport *import, gint64 time, GError **error)
{
	guint64 n_before = import->n_waiting - import->n_news;

	if (time == END_OF_TIME) {
		import->allowed_ns = import->written_ns = G_MININT64;
		return write_up_to(import, END_OF_TIME, error);
	}
	import->allowed_ns = MAX(import->allowed_ns, time);
	if (import->allowed_ns == import->written_ns ||
	    import->n_news < MIN_NEWS + import->cpus->len + n_before)
		return TRUE;
	import->written_ns = import->allowed_ns;
	return write_up_to(import, import->allowed_ns, error);
}

static void wait_in_line(KmtImport *import, ImportCpu *cpu,
			 const struct kmemtrace_event_v2s *record)
{
	GArray *waiting = cpu->waiting;

	if (waiting->len &&
	    g_array_index(waiting, struct kmemtrace_event_v2s, waiting->len - 1)
			    .v2.v1.timestamp > record->v2.v1.timestamp)
		cpu->unordered = TRUE;
	g_array_append_vals(waiting, record, 1);
	import->n_waiting++;
	import->n_news++;
}

static gint compare_sites(gconstpointer a, gconstpointer b)
{
	guint64 na = *(const guint64 *)a, nb = *(const guint64 *)b;

	return (na > nb) - (na < nb);
}

/* Each of them once. */
static void tidy_call_sites(KmtImport *import)
{
	GArray *sites = import->call_sites;
	guint64 *site = (guint64 *)(gpointer)sites->data;
	guint n = 0;

	g_array_sort(sites, compare_sites);
	for (guint i = 0; i < sites->len; i++)
		if (!n || site[i] != site[n - 1])
			site[n++] = site[i];
	g_array_set_size(sites, n);
	import->n_unique = n;
}

/* Sorting at times bounds the cost, whatever addresses a file has. */
static void see_call_site(KmtImport *import, guint64 site)
{
	if (site == import->last_site || site == 0)
		return;
	import->last_site = site;
	g_array_append_val(import->call_sites, site);
	if (import->call_sites->len >= 2 * MAX(import->n_unique, MIN_SITES))
		tidy_call_sites(import);
}

gboolean kmt_import_add(KmtImport *import, const KmtImportEvent *event,
			GError **error)
{
	struct kmemtrace_event_v2s whole = {
		.v2 = {.v1 = event->record, .pid = event->pid}};
	struct kmemtrace_event_v2 *record = &whole.v2;
	ImportCpu *cpu = get_cpu(import, event->cpu, error);

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
		whole.stack = kmt_import_stacks_add(
			import->stacks, event->stack, event->n_stack);
	kmt_tracepoint_tables_add_task(import->names, event->pid);
	if (!import->figures.records)
		import->first_pid = event->pid;
	import->several_pids |= event->pid != import->first_pid;
	see_call_site(import, record->v1.call_site);
	import->points[event->point]++;
	import->figures.records++;
	wait_in_line(import, cpu, &whole);
	return TRUE;
}

static void wait_with_loss(KmtImport *import, ImportCpu *cpu, guint64 n_events,
			   gint64 since, gint64 time)
{
	struct kmemtrace_event_lost lost = {
		.event_id = KMEMTRACE_EVENT_LOST,
		.node = KMEMTRACE_NODE_NONE,
		.events = n_events,
		.since = since,
		.timestamp = time,
	};
	struct kmemtrace_event_v2s record = {0};

	memcpy(&record, &lost, sizeof(lost));
	cpu->lost = kmt_add_saturating(cpu->lost, n_events);
	wait_in_line(import, cpu, &record);
}

gboolean kmt_import_add_lost(KmtImport *import, guint number, guint64 n_events,
			     gint64 time, GError **error)
{
	ImportCpu *cpu = get_cpu(import, number, error);

	if (!cpu)
		return FALSE;
	if (n_events == 0) {
		import->figures.lost_more = TRUE;
		import->not_placed = TRUE;
		return TRUE;
	}
	import->figures.lost =
		kmt_add_saturating(import->figures.lost, n_events);
	wait_with_loss(import, cpu, n_events, NO_SINCE, time);
	return TRUE;
}

gboolean kmt_import_add_loss(KmtImport *import, guint number, guint64 n_events,
			     gint64 first, gint64 time, GError **error)
{
	ImportCpu *cpu = get_cpu(import, number, error);

	if (!cpu)
		return FALSE;
	wait_with_loss(import, cpu, n_events, first, time);
	return TRUE;
}

void kmt_import_add_loss_on_all_cpus(KmtImport *import, gint64 time)
{
	if (import->n_wide_holes + import->cpus->len > MAX_WIDE_HOLES)
		return;
	import->n_wide_holes += import->cpus->len;
	for (guint i = 0; i < import->cpus->len; i++)
		if (import->cpus->pdata[i])
			wait_with_loss(import, import->cpus->pdata[i], 0,
				       NO_SINCE, time);
}

gboolean kmt_import_set_cpu_lost(KmtImport *import, guint number,
				 guint64 n_events, GError **error)
{
	ImportCpu *cpu = get_cpu(import, number, error);

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

void kmt_import_set_losses_not_reported(KmtImport *import)
{
	import->figures.not_reported = TRUE;
}

void kmt_import_set_damaged(KmtImport *import)
{
	import->figures.damaged = TRUE;
}

void kmt_import_set_lost(KmtImport *import, guint64 n_events)
{
	import->total_lost = n_events;
}

void kmt_import_set_lost_unknown(KmtImport *import)
{
	import->figures.lost_more = TRUE;
}

guint64 kmt_import_seen(const KmtImport *import)
{
	return import->figures.records + import->figures.no_memory;
}

void kmt_import_count_no_memory(KmtImport *import, guint point)
{
	kmt_import_tick(import);
	import->points[point]++;
	import->figures.no_memory++;
}

void kmt_import_count_unusable(KmtImport *import, guint point, const char *why)
{
	import->unusable[point] = why;
	kmt_import_count_other(import);
}

void kmt_import_count_other(KmtImport *import)
{
	kmt_import_tick(import);
	import->figures.other++;
}

/* ---- names ---- */

void kmt_import_name_task(KmtImport *import, guint32 pid, gint64 time,
			  const char *name)
{
	kmt_tracepoint_tables_set_task(import->names, pid, time, name);
}

gboolean kmt_import_only_task(const KmtImport *import, guint32 *pid)
{
	*pid = import->first_pid;
	return import->figures.records && !import->several_pids;
}

GArray *kmt_import_unnamed_tasks(const KmtImport *import)
{
	return kmt_tracepoint_tables_unnamed_tasks(import->names);
}

GArray *kmt_import_call_sites(KmtImport *import)
{
	tidy_call_sites(import);
	return g_array_ref(import->call_sites);
}

static gboolean write_table(KmtImport *import, const char *name, char *text,
			    GError **error)
{
	G_GNUC_UNUSED g_autofree char *owned = text;

	return !text || kmt_capture_writer_write_table(import->output, name,
						       text, error);
}

void kmt_import_add_gap(KmtImport *import, const char *gap)
{
	g_ptr_array_add(import->gaps, g_strdup(gap));
}

void kmt_import_add_incomplete(KmtImport *import, const char *reason)
{
	if (!g_ptr_array_find_with_equal_func(import->reasons, reason,
					      g_str_equal, NULL))
		g_ptr_array_add(import->reasons, g_strdup(reason));
}

void kmt_import_add_note(KmtImport *import, const char *note)
{
	g_ptr_array_add(import->notes, g_strdup(note));
}

KmtImportKernel *kmt_import_kernel(KmtImport *import)
{
	return &import->kernel;
}

gboolean kmt_import_set_kallsyms(KmtImport *import, const char *text,
				 GError **error)
{
	import->has_kallsyms = TRUE;
	return kmt_capture_writer_write_table(import->output, "kallsyms", text,
					      error);
}

gboolean kmt_import_has_kallsyms(const KmtImport *import)
{
	return import->has_kallsyms;
}

/* ---- the end ---- */

static gboolean finish_cpu(KmtImport *import, guint number, GError **error)
{
	ImportCpu *cpu = import->cpus->pdata[number];
	g_autofree char *group = g_strdup_printf("cpu%u", number);
	int r;

	if (!cpu)
		return TRUE;
	r = kmt_capture_cpu_writer_finish(cpu->sink);
	if (r == 0)
		r = kmt_capture_cpu_writer_sync(cpu->sink);
	if (r < 0)
		return set_write_error(import, number, r, error);
	g_key_file_set_integer(import->meta, group, "node", -1);
	g_key_file_set_uint64(import->meta, group, "events", cpu->records);
	g_key_file_set_uint64(import->meta, group, "bytes",
			      kmt_capture_cpu_writer_written(cpu->sink));
	if (!import->figures.lost_more && !import->figures.not_reported)
		g_key_file_set_uint64(import->meta, group, "overruns",
				      cpu->has_total
					      ? MAX(cpu->total_lost, cpu->lost)
					      : cpu->lost);
	return TRUE;
}

/* The gaps of all tracepoints, and those that nobody recorded. */
static void tell_points(KmtImport *import)
{
	g_autoptr(GPtrArray) there = g_ptr_array_new();
	g_autoptr(GPtrArray) not_seen = NULL;
	guint types = 0;

	for (guint i = 0; i < kmt_tracepoint_n_names; i++)
		if (import->points[i])
			types |= 1U << kmt_tracepoint_names[i].type_id;
	not_seen = kmt_tracepoints_not_seen(types);
	for (guint i = 0; import->stacks && i < not_seen->len; i++)
		if (g_str_equal(not_seen->pdata[i],
				KMT_TRACEPOINT_GAP_PAGE_CALLERS)) {
			g_free(not_seen->pdata[i]);
			not_seen->pdata[i] =
				g_strdup(KMT_TRACEPOINT_GAP_PAGE_NODES);
		}
	for (guint i = 0; i < kmt_tracepoint_n_names; i++) {
		const KmtTracepointName *name = &kmt_tracepoint_names[i];

		if (import->points[i])
			g_ptr_array_add(there, (gpointer)name->name);
		else if (import->unusable[i])
			g_ptr_array_add(not_seen,
					g_strdup_printf("%s:%s, %s",
							name->system,
							name->name,
							import->unusable[i]));
		else if (!name->optional)
			g_ptr_array_add(
				not_seen,
				g_strdup_printf("%s:%s, of which the file has "
						"no event",
						name->system, name->name));
	}
	for (guint i = 0; i < import->gaps->len; i++)
		g_ptr_array_add(not_seen, g_strdup(import->gaps->pdata[i]));
	g_key_file_set_string_list(
		import->meta, KMT_IMPORT_GROUP, "tracepoints",
		(const char *const *)there->pdata, there->len);
	g_key_file_set_string_list(import->meta, KMT_IMPORT_GROUP, "not_seen",
				   (const char *const *)not_seen->pdata,
				   not_seen->len);
}

static void set_list(KmtImport *import, const char *key, const GPtrArray *list)
{
	if (list->len)
		g_key_file_set_string_list(import->meta, KMT_IMPORT_GROUP, key,
					   (const char *const *)list->pdata,
					   list->len);
}

/* See "losses" in kmemtrace(5). */
static void set_losses(KmtImport *import)
{
	if (!import->figures.lost_more && !import->figures.not_reported)
		g_key_file_set_uint64(import->meta, KMT_IMPORT_GROUP,
				      "overruns", import->figures.lost);
	else if (!import->figures.lost_more)
		g_key_file_set_string(import->meta, KMT_IMPORT_GROUP, "losses",
				      "not_reported");
	else if (!import->not_placed)
		g_key_file_set_string(import->meta, KMT_IMPORT_GROUP, "losses",
				      "unnumbered");
}

static void fill_meta(KmtImport *import)
{
	GKeyFile *meta = import->meta;
	guint64 bytes = 0, events = 0;

	for (guint i = 0; i < import->cpus->len; i++) {
		const ImportCpu *cpu = import->cpus->pdata[i];

		if (cpu) {
			bytes += kmt_capture_cpu_writer_written(cpu->sink);
			events += cpu->records;
		}
	}
	g_key_file_set_integer(meta, KMT_IMPORT_GROUP, "format", META_FORMAT);
	g_key_file_set_integer(meta, KMT_IMPORT_GROUP, "abi_version",
			       (gint)import->abi_version);
	g_key_file_set_integer(meta, KMT_IMPORT_GROUP, "record_size",
			       (gint)import->record_bytes);
	g_key_file_set_string(meta, KMT_IMPORT_GROUP, "byte_order",
			      G_BYTE_ORDER == G_LITTLE_ENDIAN ? "little"
							      : "big");
	g_key_file_set_string(meta, KMT_IMPORT_GROUP, "source", "import");
	g_key_file_set_string(meta, KMT_IMPORT_GROUP,
			      "kmemtrace_import_version", PACKAGE_VERSION);
	tell_points(import);
	set_list(import, "incomplete", import->reasons);
	g_key_file_set_integer(meta, KMT_IMPORT_GROUP, "cpus",
			       (gint)import->figures.cpus);
	g_key_file_set_uint64(meta, KMT_IMPORT_GROUP, "events", events);
	g_key_file_set_uint64(meta, KMT_IMPORT_GROUP, "bytes", bytes);
	set_losses(import);
	g_key_file_set_uint64(meta, KMT_IMPORT_GROUP, "no_memory",
			      import->figures.no_memory);
	g_key_file_set_uint64(meta, KMT_IMPORT_GROUP, "other_events",
			      import->figures.other);
	g_key_file_set_boolean(meta, KMT_IMPORT_GROUP, "complete",
			       !import->figures.damaged);
}

gboolean kmt_import_finish(KmtImport *import, KmtImportFigures *figures,
			   GError **error)
{
	if (import->figures.records == 0)
		return kmt_import_fail(
			error, "there is no event of memory in it: record "
			       "those of kmem, as in perf record -a -e "
			       "'kmem:*' or trace-cmd record -e kmem");
	import->figures.lost = MAX(import->figures.lost, import->total_lost);
	if (!write_up_to(import, END_OF_TIME, error))
		return FALSE;
	for (guint i = 0; i < import->cpus->len; i++)
		if (!finish_cpu(import, i, error))
			return FALSE;
	if (import->abi_version > 1 &&
	    (!write_table(
		     import, "caches",
		     kmt_tracepoint_tables_caches_text(import->names, TRUE),
		     error) ||
	     !write_table(import, "tasks",
			  kmt_tracepoint_tables_tasks_text(import->names, TRUE),
			  error) ||
	     (import->stacks &&
	      !write_table(import, "stacks",
			   kmt_import_stacks_text(import->stacks), error))))
		return FALSE;
	fill_meta(import);
	g_ptr_array_add(import->reasons, NULL);
	import->figures.incomplete =
		(const char *const *)import->reasons->pdata;
	g_ptr_array_add(import->notes, NULL);
	import->figures.notes = (const char *const *)import->notes->pdata;
	*figures = import->figures;
	return kmt_capture_writer_end_meta(import->output, import->meta,
					   import->figures.cpus, error) &&
	       kmt_capture_writer_sync(import->output, error);
}
