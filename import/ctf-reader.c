// SPDX-License-Identifier: GPL-2.0-or-later
/* Reader of CTF traces, as perf data convert --to-ctf and LTTng write them. */
#include "config.h"

#include "import/import.h"

#ifdef HAVE_BABELTRACE2

#include <babeltrace2/babeltrace.h>
#include <unistd.h>

#include "import/ctf-field.h"
#include "import/ctf-graph.h"
#include "import/ctf-metadata.h"

/*
 * Number of events after which the reader lets the import write pending
 * records.
 */
#define ADVANCE_EVENTS 1024

typedef struct {
	KmtImport *import;
	GPtrArray *traces; /* char *: directories of the traces */
	GHashTable
		*classes; /* bt_event_class to KmtCtfPoint; the KmtCtfPoint is
			   * NULL for classes that are not memory events */
	GHashTable *cpus; /* bt_stream to the number of its CPU, plus 1, so that
			   * 0 means "not found" */
	GError *error;
	guint n_events;
	gboolean has_percpu;
	gboolean no_task;   /* an event has no task ID */
	gboolean described; /* describe_trace() was called */
	KmtCtfGraph graph;
} KmtCtfReader;

static void reader_clear(KmtCtfReader *r)
{
	g_ptr_array_unref(r->traces);
	g_hash_table_unref(r->classes);
	g_hash_table_unref(r->cpus);
	g_clear_error(&r->error);
	kmt_ctf_graph_clear(&r->graph);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(KmtCtfReader, reader_clear)

/*
 * Set *error to the first cause that libbabeltrace2 recorded, which is the most
 * specific cause. Returns FALSE.
 */
static gboolean fail_with_cause(GError **error)
{
	const bt_error *cause = bt_current_thread_take_error();
	const char *message = "the library gives no reason";

	if (cause && bt_error_get_cause_count(cause))
		message = bt_error_cause_get_message(
			bt_error_borrow_cause_by_index(cause, 0));
	g_set_error(error, KMT_IMPORT_ERROR, KMT_IMPORT_ERROR_INPUT,
		    "libbabeltrace2 cannot read it: %s: it is cut off or "
		    "damaged: copy it again, or record again",
		    message);
	if (cause)
		bt_error_release(cause);
	return FALSE;
}

/* ---- events ---- */

/*
 * Find the CPU of an event: in the event's context if it has a cpu_id,
 * otherwise in its packet.
 */
static gboolean find_cpu(KmtCtfReader *r, const bt_event *event, guint *cpu)
{
	const bt_stream *stream = bt_event_borrow_stream_const(event);
	guint64 number;

	if (kmt_ctf_member(bt_event_borrow_common_context_field_const(event),
			   "cpu_id", &number)) {
		*cpu = (guint)MIN(number, G_MAXUINT);
		return TRUE;
	}
	*cpu = GPOINTER_TO_UINT(g_hash_table_lookup(r->cpus, (gpointer)stream));
	if (*cpu == 0)
		return kmt_import_fail(&r->error,
				       "its events have no CPU: the context of "
				       "their packets has no field cpu_id");
	(*cpu)--;
	return TRUE;
}

static void find_task(KmtCtfReader *r, const bt_event *event,
		      KmtImportEvent *to)
{
	const bt_field *payload = bt_event_borrow_payload_field_const(event);
	const bt_field *context =
		bt_event_borrow_common_context_field_const(event);
	const char *name = kmt_ctf_member_text(context, "procname");
	guint64 pid = 0, flags = 0;

	if (!kmt_ctf_member(payload, "common_pid", &pid) &&
	    !kmt_ctf_member(context, "tid", &pid))
		r->no_task = TRUE;
	kmt_ctf_member(payload, "common_flags", &flags);
	to->pid = (guint32)pid;
	to->common_flags = (guint8)flags;
	if (name && pid)
		kmt_import_name_task(r->import, to->pid, to->record.timestamp,
				     name);
}

/*
 * Return the KmtCtfPoint of an event's class. NULL with r->error set is a
 * failure; NULL without an error means that the class is not a memory event.
 */
static KmtCtfPoint *find_point(KmtCtfReader *r, const bt_event *event)
{
	const bt_event_class *class = bt_event_borrow_class_const(event);
	gpointer found;
	KmtCtfPoint *point;

	if (g_hash_table_lookup_extended(r->classes, class, NULL, &found))
		return found;
	point = kmt_ctf_point_new(class, kmt_import_cpus(r->import), &r->error);
	if (!r->error)
		g_hash_table_insert(r->classes, (gpointer) class, point);
	return point;
}

static gboolean import_event(KmtCtfReader *r, const bt_message *message)
{
	const bt_event *event = bt_message_event_borrow_event_const(message);
	const bt_clock_snapshot *clock;
	KmtCtfPoint *point = find_point(r, event);
	KmtImportEvent to = {0};
	gint64 time;

	if (r->error)
		return FALSE;
	if (!point) {
		kmt_import_count_other(r->import);
		return TRUE;
	}
	if (!point->point) {
		kmt_import_count_unusable(r->import, point->index,
					  KMT_IMPORT_WHY_PAGE_FIELD);
		return TRUE;
	}
	if (!bt_stream_class_borrow_default_clock_class_const(
		    bt_stream_borrow_class_const(
			    bt_event_borrow_stream_const(event))))
		return kmt_import_fail(&r->error, "its events have no time");
	clock = bt_message_event_borrow_default_clock_snapshot_const(message);
	if (bt_clock_snapshot_get_ns_from_origin(clock, &time) !=
	    BT_CLOCK_SNAPSHOT_GET_NS_FROM_ORIGIN_STATUS_OK)
		return kmt_import_fail(&r->error,
				       "an event's time is beyond 292 years");
	to.point = point->index;
	r->has_percpu |= point->point->type_id == KMEMTRACE_TYPE_PERCPU;
	if (!kmt_ctf_point_convert(point, event, time, &to.record)) {
		kmt_import_count_no_memory(r->import, point->index);
		return TRUE;
	}
	to.cache = kmt_ctf_member_text(
		bt_event_borrow_payload_field_const(event), "name");
	find_task(r, event, &to);
	return find_cpu(r, event, &to.cpu) &&
	       kmt_import_add(r->import, &to, &r->error) &&
	       (++r->n_events % ADVANCE_EVENTS ||
		kmt_import_advance(r->import, time, &r->error));
}

/*
 * Return a string of the trace's environment, or NULL if the trace does not
 * contain a valid string with this name.
 */
static const char *environment(const bt_trace *trace, const char *name)
{
	const bt_value *value =
		bt_trace_borrow_environment_entry_value_by_name_const(trace,
								      name);
	const char *text = value && bt_value_is_string(value)
				   ? bt_value_string_get(value)
				   : NULL;

	return text && g_utf8_validate(text, -1, NULL) ? text : NULL;
}

static void set_text(KmtCtfReader *r, const char *key, const char *text)
{
	if (text)
		g_key_file_set_string(kmt_import_meta(r->import),
				      KMT_IMPORT_GROUP, key, text);
}

/*
 * Copy the recorder and the machine from the trace's environment to
 * kmemtrace.meta. perf calls the kernel's version "release", LTTng calls it
 * "kernel_release".
 */
static void describe_trace(KmtCtfReader *r, const bt_trace *trace)
{
	const char *release = environment(trace, "release");

	set_text(r, "recorded_by", environment(trace, "tracer_name"));
	set_text(r, "machine", environment(trace, "machine"));
	set_text(r, "kernel_release",
		 release ? release : environment(trace, "kernel_release"));
	r->described = TRUE;
}

static gboolean read_packet_context(KmtCtfReader *r, const bt_message *message)
{
	const bt_packet *packet =
		bt_message_packet_beginning_borrow_packet_const(message);
	const bt_stream *stream = bt_packet_borrow_stream_const(packet);
	const bt_trace *trace = bt_stream_borrow_trace_const(stream);
	guint64 cpu;

	if (!kmt_ctf_member(bt_packet_borrow_context_field_const(packet),
			    "cpu_id", &cpu) ||
	    cpu >= G_MAXUINT)
		return TRUE;
	g_hash_table_insert(r->cpus, (gpointer)stream,
			    GUINT_TO_POINTER((guint)cpu + 1));
	if (r->described)
		return TRUE;
	describe_trace(r, trace);
	/* perf data convert writes 0 discarded events into each packet, even if
	 * perf lost events. */
	if (g_strcmp0(environment(trace, "tracer_name"), "perf") == 0)
		kmt_import_set_losses_not_reported(r->import);
	return TRUE;
}

/*
 * Add a loss record for discarded events. If the CPU, the time, or the number
 * is not known, no record is added, and the number is reported as unknown.
 */
static gboolean import_loss(KmtCtfReader *r, const bt_message *message)
{
	const bt_stream *stream =
		bt_message_discarded_events_borrow_stream_const(message);
	guint cpu = GPOINTER_TO_UINT(
		g_hash_table_lookup(r->cpus, (gpointer)stream));
	guint64 n = 0;
	gint64 time;

	if (bt_message_discarded_events_get_count(message, &n) !=
	    BT_PROPERTY_AVAILABILITY_AVAILABLE)
		n = 0;
	if (!bt_stream_class_discarded_events_have_default_clock_snapshots(
		    bt_stream_borrow_class_const(stream)) ||
	    bt_clock_snapshot_get_ns_from_origin(
		    bt_message_discarded_events_borrow_end_default_clock_snapshot_const(
			    message),
		    &time) != BT_CLOCK_SNAPSHOT_GET_NS_FROM_ORIGIN_STATUS_OK)
		n = time = 0;
	return kmt_import_add_counted_loss(r->import, cpu ? cpu - 1 : 0,
					   cpu ? n : 0, time, &r->error);
}

static gboolean handle_message(KmtCtfReader *r, const bt_message *message)
{
	switch (bt_message_get_type(message)) {
	case BT_MESSAGE_TYPE_EVENT:
		return import_event(r, message);
	case BT_MESSAGE_TYPE_PACKET_BEGINNING:
		return read_packet_context(r, message);
	case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
		return import_loss(r, message);
	case BT_MESSAGE_TYPE_DISCARDED_PACKETS:
		return kmt_import_add_counted_loss(r->import, 0, 0, 0,
						   &r->error);
	default:
		return TRUE;
	}
}

static bt_graph_simple_sink_component_consume_func_status
consume(bt_message_iterator *iterator, void *data)
{
	KmtCtfReader *r = data;
	bt_message_array_const messages;
	gboolean ok = TRUE;
	uint64_t n;

	/* The status types of the iterator and of this function share the same
	 * values. */
	int status = bt_message_iterator_next(iterator, &messages, &n);

	if (status != BT_MESSAGE_ITERATOR_NEXT_STATUS_OK)
		return (bt_graph_simple_sink_component_consume_func_status)
			status;
	for (uint64_t i = 0; i < n; i++) {
		ok = ok && handle_message(r, messages[i]);
		bt_message_put_ref(messages[i]);
	}
	return ok ? BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_OK
		  : BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_ERROR;
}

static void describe(KmtCtfReader *r)
{
	GKeyFile *meta = kmt_import_meta(r->import);

	g_key_file_set_string(meta, KMT_IMPORT_GROUP, "imported_from", "CTF");
	g_key_file_set_string(meta, KMT_IMPORT_GROUP, "clock", "CTF");
	/* CTF does not record the page size of the recorded machine: assume the
	 * page size of the machine that runs the import. */
	g_key_file_set_int64(meta, KMT_IMPORT_GROUP, "page_size",
			     sysconf(_SC_PAGESIZE));
	if (r->has_percpu && !kmt_import_cpus(r->import))
		kmt_import_add_gap(r->import,
				   "the number of possible CPUs: the bytes of "
				   "per-CPU memory are those that the kernel "
				   "accounts for (use --cpus)");
	if (r->no_task)
		kmt_import_add_gap(r->import,
				   "the task of each event (no common_pid, and "
				   "no context tid)");
}

gboolean kmt_import_ctf(KmtImport *import, const char *path, GError **error)
{
	g_auto(KmtCtfReader) r = {
		.import = import,
		.traces = g_ptr_array_new_with_free_func(g_free),
		.classes = g_hash_table_new_full(NULL, NULL, NULL,
						 kmt_ctf_point_free),
		.cpus = g_hash_table_new(NULL, NULL),
	};

	kmt_ctf_find_traces(r.traces, path);
	if (r.traces->len == 0)
		return kmt_import_fail(
			error,
			"the directory contains neither a CTF trace (a file "
			"metadata) nor a recording of perf record --threads (a "
			"file data): copy it again, or record again");
	for (guint i = 0; i < r.traces->len; i++)
		if (!kmt_ctf_check(r.traces->pdata[i], error))
			return FALSE;
	if (!kmt_ctf_graph_load_plugins(&r.graph))
		return kmt_import_fail(
			error, "the plugins ctf and utils of babeltrace2 are "
			       "not installed: install babeltrace2");
	if (!kmt_ctf_graph_build(&r.graph, r.traces, consume, &r) ||
	    bt_graph_run(r.graph.graph) != BT_GRAPH_RUN_STATUS_OK) {
		if (!r.error)
			return fail_with_cause(error);
		bt_current_thread_clear_error();
		g_propagate_error(error, g_steal_pointer(&r.error));
		return FALSE;
	}
	describe(&r);
	return TRUE;
}

#else

gboolean kmt_import_ctf(KmtImport *import, const char *path, GError **error)
{
	g_set_error(error, KMT_IMPORT_ERROR, KMT_IMPORT_ERROR_NO_LIBRARY,
		    "it is a directory, as CTF is, and kmemtrace-import was "
		    "built without libbabeltrace2: install libbabeltrace2-dev "
		    "(libbabeltrace2-devel), configure and build again");
	return FALSE;
}

#endif
