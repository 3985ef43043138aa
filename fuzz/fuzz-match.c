// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz target: histories of few addresses on few CPUs. Nearly every input has
 * ties and races that the matcher must resolve, and many have losses. After a
 * header, four bytes of the input make one record. All captures are
 * well-formed.
 */
#include "config.h"

#include "fuzz/exercise.h"
#include "fuzz/scratch.h"
#include "fuzz/target.h"

#include <kmemtrace_abi.h>
#include <string.h>

#define MAX_CPUS 4
#define HEADER	 4
#define PER_UNIT 16 /* steps (History.unit) per clock tolerance */

typedef struct {
	gint64 tolerance_ns, stop_ns;
	guint n_cpus;
	gint64 time;   /* current time of the traced machine, in ns */
	gint64 unit;   /* length of a step of time, in ns */
	guint version; /* of the records */
	GByteArray *records[MAX_CPUS];
} History;

static void add_record(History *h, const guint8 *op)
{
	guint cpu = op[0] % h->n_cpus;
	guint type = op[0] >> 3 & 3;
	gint64 skew = (gint64)(op[3] & 7) * h->unit * (op[3] & 8 ? 1 : -1);
	struct kmemtrace_event_v2 record = {0};
	struct kmemtrace_event event = {
		.event_id = op[0] & 4 ? KMEMTRACE_EVENT_FREE
				      : KMEMTRACE_EVENT_ALLOC,
		.type_id = (guint8)(type % 3),
		.event_size = sizeof(event),
		.node = KMEMTRACE_NODE_NONE,
		.call_site =
			G_GUINT64_CONSTANT(0xffffffff81000000) + (op[1] & 0xc0),
		.ptr = 0x1000u * (1u + (op[1] & 0x3f)),
	};

	h->time += (gint64)(op[2] & 0x3f) * h->unit >> (op[2] >> 6) * 2;
	event.timestamp = h->time + skew;
	if (event.event_id == KMEMTRACE_EVENT_ALLOC) {
		event.node = op[0] >> 7 ? 1 : KMEMTRACE_NODE_NONE;
		event.bytes_req = 100 + (op[3] >> 4);
		event.bytes_alloc = 128;
		event.gfp_flags = op[0] >> 5 & 3;
	}
	if (h->version < 3) {
		g_byte_array_append(h->records[cpu], (const guint8 *)&event,
				    sizeof(event));
		return;
	}
	if (event.event_id == KMEMTRACE_EVENT_FREE && op[0] >> 5 & 1 &&
	    event.type_id != KMEMTRACE_TYPE_PAGES)
		event.event_id = KMEMTRACE_EVENT_DEFER;
	event.event_size = sizeof(record);
	record.v1 = event;
	g_byte_array_append(h->records[cpu], (const guint8 *)&record,
			    sizeof(record));
}

static void write_meta(guint how)
{
	static const char *const lines[] = {
		"complete=false\n", "continues=true\n", "overruns=1\n",
		"[cpu7]\nevents=1\n", /* section of a missing file */
	};
	g_autoptr(GString) meta = g_string_new("[capture]\n");
	guint i;

	if (!(how & 1))
		g_string_append(meta, "complete=true\n");
	for (i = 0; i < G_N_ELEMENTS(lines); i++)
		if (how >> i & 1)
			g_string_append(meta, lines[i]);
	kmt_scratch_write("kmemtrace.meta", meta->str, meta->len);
}

static void write_history(const History *h, guint meta)
{
	guint i;

	for (i = 0; i < h->n_cpus; i++) {
		g_autofree char *name = g_strdup_printf("cpu%u.out", i);

		kmt_scratch_write(name, h->records[i]->data,
				  h->records[i]->len);
	}
	if (meta)
		write_meta(meta);
}

static void run(const History *h, gboolean threads)
{
	const char *const operands[] = {kmt_scratch_directory(), NULL};
	const KmtInputOptions capture_options = {
		.layout = KMT_INPUT_LAYOUT_B,
		.random_access = TRUE,
	};
	g_autoptr(GError) error = NULL;
	g_autoptr(KmtInputCapture) capture =
		kmt_input_capture_open(operands, &capture_options, &error);

	g_assert_no_error(error);
	kmt_exercise(capture, h->tolerance_ns, h->stop_ns, threads);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const gint64 tolerances[] = {1600, 0, 16000000, 1000000000};
	History h = {.unit = 100};
	guint i;

	if (size < HEADER)
		return 0;
	kmt_exercise_begin();
	kmt_scratch_directory();
	h.tolerance_ns = tolerances[data[0] % G_N_ELEMENTS(tolerances)];
	if (h.tolerance_ns)
		h.unit = h.tolerance_ns / PER_UNIT;
	h.n_cpus = 1 + (data[0] >> 2) % MAX_CPUS;
	h.stop_ns = data[2] ? data[2] * h.unit : G_MAXINT64;
	h.version = data[0] >> 6 & 1 ? 3 : 1;
	h.time = (gint64)(gint8)data[3] * (G_GINT64_CONSTANT(1) << 40);
	for (i = 0; i < h.n_cpus; i++)
		h.records[i] = g_byte_array_new();
	for (i = HEADER; i + 4 <= size; i += 4)
		add_record(&h, data + i);
	write_history(&h, data[1] & 0xf);
	run(&h, data[1] >> 4 == 0xf);
	for (i = 0; i < h.n_cpus; i++)
		g_byte_array_unref(h.records[i]);
	kmt_scratch_clear();
	return 0;
}
