// SPDX-License-Identifier: GPL-2.0-or-later
/* Turns what perf recorded of the kmem events into the files of a capture. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/perfdata.h"
#include "bench/sink.h"
#include "cli/cli.h"

#define PROGRAM	 "perf2cpu"
#define MAX_CPUS 4096

/* perf tells a page by its number; the records, by its address. */
#define LINEAR_BASE G_GUINT64_CONSTANT(0xffff888000000000)
#define PAGE_SHIFT  12
#define NO_PFN	    G_MAXUINT64

/*
 * An interrupt between the moments when an event gets its time and its place
 * puts its own events before it; no more than these.
 */
#define WINDOW 256

enum {
	KMALLOC,
	KFREE,
	CACHE_ALLOC,
	CACHE_FREE,
	PAGE_ALLOC,
	PAGE_FREE,
	N_KINDS
};

static const struct {
	const char *event;
	guint8 event_id;
	guint8 type_id;
} kinds[N_KINDS] = {
	[KMALLOC] = {"kmalloc", KMEMTRACE_EVENT_ALLOC, KMEMTRACE_TYPE_KMALLOC},
	[KFREE] = {"kfree", KMEMTRACE_EVENT_FREE, KMEMTRACE_TYPE_KMALLOC},
	[CACHE_ALLOC] = {"kmem_cache_alloc", KMEMTRACE_EVENT_ALLOC,
			 KMEMTRACE_TYPE_CACHE},
	[CACHE_FREE] = {"kmem_cache_free", KMEMTRACE_EVENT_FREE,
			KMEMTRACE_TYPE_CACHE},
	[PAGE_ALLOC] = {"mm_page_alloc", KMEMTRACE_EVENT_ALLOC,
			KMEMTRACE_TYPE_PAGES},
	[PAGE_FREE] = {"mm_page_free", KMEMTRACE_EVENT_FREE,
		       KMEMTRACE_TYPE_PAGES},
};

/* A tracepoint of the file. */
typedef struct {
	gint id;
	PerfField call_site, ptr, bytes_req, bytes_alloc, gfp_flags, node;
	PerfField pfn, order;
} Source;

/* The last records of a CPU, by time. */
typedef struct {
	struct kmemtrace_event records[WINDOW];
	guint n;
} Window;

typedef struct {
	PerfData *data;
	Source sources[N_KINDS];
	BenchSink *sink;
	Window *windows[MAX_CPUS];
	guint64 records;
	guint64 other;	   /* samples of other events */
	guint64 nothing;   /* of no memory: failed, or kfree(NULL) */
	guint64 unordered; /* that no window could put in order */
	gint64 last[MAX_CPUS];
} Converter;

static gboolean find_sources(Converter *c, GError **error)
{
	guint i, found = 0;

	for (i = 0; i < N_KINDS; i++) {
		const char *event = kinds[i].event;
		Source *s = &c->sources[i];

		s->id = perf_data_event_id(c->data, event);
		found += s->id >= 0;
		s->call_site = perf_data_field(c->data, event, "call_site");
		s->ptr = perf_data_field(c->data, event, "ptr");
		s->bytes_req = perf_data_field(c->data, event, "bytes_req");
		s->bytes_alloc = perf_data_field(c->data, event, "bytes_alloc");
		s->gfp_flags = perf_data_field(c->data, event, "gfp_flags");
		s->node = perf_data_field(c->data, event, "node");
		s->pfn = perf_data_field(c->data, event, "pfn");
		s->order = perf_data_field(c->data, event, "order");
	}
	if (found)
		return TRUE;
	g_set_error(
		error, BENCH_ERROR, 0,
		"no event of kmem is in it: use perf record -a -e 'kmem:*'");
	return FALSE;
}

static guint kind_of(const Converter *c, guint id)
{
	guint i;

	for (i = 0; i < N_KINDS; i++)
		if (c->sources[i].id == (gint)id)
			break;
	return i;
}

/* FALSE: it is of no memory. */
static gboolean convert(const PerfSample *sample, const Source *s, guint kind,
			struct kmemtrace_event *e)
{
	*e = (struct kmemtrace_event){
		.event_id = kinds[kind].event_id,
		.type_id = kinds[kind].type_id,
		.event_size = KMEMTRACE_EVENT_SIZE_V1,
		.node = KMEMTRACE_NODE_NONE,
		.call_site = perf_sample_field(sample, s->call_site),
		.ptr = perf_sample_field(sample, s->ptr),
		.bytes_req = perf_sample_field(sample, s->bytes_req),
		.bytes_alloc = perf_sample_field(sample, s->bytes_alloc),
		.gfp_flags = perf_sample_field(sample, s->gfp_flags),
		.timestamp = sample->time,
	};
	if (s->node.size && e->event_id == KMEMTRACE_EVENT_ALLOC)
		e->node = (gint32)perf_sample_field(sample, s->node);
	if (e->type_id == KMEMTRACE_TYPE_PAGES) {
		guint64 pfn = perf_sample_field(sample, s->pfn);
		guint64 order = perf_sample_field(sample, s->order);

		e->call_site = sample->ip;
		e->ptr = pfn == NO_PFN ? 0 : LINEAR_BASE + (pfn << PAGE_SHIFT);
		if (kind == PAGE_ALLOC)
			e->bytes_req = e->bytes_alloc = G_GUINT64_CONSTANT(1)
							<< (PAGE_SHIFT + order);
	}
	return e->ptr != 0;
}

static void write_record(Converter *c, guint cpu,
			 const struct kmemtrace_event *e)
{
	c->unordered += e->timestamp < c->last[cpu];
	c->last[cpu] = e->timestamp;
	c->records++;
	*bench_sink_next(c->sink, cpu) = *e;
}

static void add_record(Converter *c, guint cpu, const struct kmemtrace_event *e)
{
	Window *w = c->windows[cpu];
	guint i;

	if (w->n == WINDOW) {
		for (i = 0; i < WINDOW / 2; i++)
			write_record(c, cpu, &w->records[i]);
		memmove(w->records, w->records + WINDOW / 2,
			WINDOW / 2 * sizeof(*e));
		w->n = WINDOW / 2;
	}
	for (i = w->n; i && w->records[i - 1].timestamp > e->timestamp; i--)
		w->records[i] = w->records[i - 1];
	w->records[i] = *e;
	w->n++;
}

static gboolean convert_all(Converter *c, GError **error)
{
	struct kmemtrace_event e;
	PerfSample sample;
	guint cpu, i;

	while (perf_data_next(c->data, &sample, error)) {
		guint kind = kind_of(c, sample.id);

		if (kind == N_KINDS) {
			c->other++;
		} else if (!convert(&sample, &c->sources[kind], kind, &e)) {
			c->nothing++;
		} else if (sample.cpu >= c->sink->cpus) {
			g_set_error(error, BENCH_ERROR, 0,
				    "a sample is of CPU %u, but there are %u: "
				    "name their number as the third operand",
				    sample.cpu, c->sink->cpus);
			return FALSE;
		} else {
			add_record(c, sample.cpu, &e);
		}
	}
	if (error && *error)
		return FALSE;
	for (cpu = 0; cpu < c->sink->cpus; cpu++)
		for (i = 0; i < c->windows[cpu]->n; i++)
			write_record(c, cpu, &c->windows[cpu]->records[i]);
	return TRUE;
}

static gboolean write_meta(const Converter *c, const char *directory,
			   GError **error)
{
	g_autofree char *path =
		g_build_filename(directory, "kmemtrace.meta", NULL);
	g_autofree char *text = g_strdup_printf(
		"[capture]\nformat=1\nabi_version=%d\nrecord_size=%d\n"
		"byte_order=%s\nsource=perf\ncomplete=true\ncpus=%u\n"
		"events=%" G_GUINT64_FORMAT "\noverruns=%" G_GUINT64_FORMAT
		"\n",
		KMEMTRACE_ABI_VERSION, KMEMTRACE_EVENT_SIZE_V1,
		G_BYTE_ORDER == G_LITTLE_ENDIAN ? "little" : "big",
		c->sink->cpus, c->records, perf_data_lost(c->data));

	return g_file_set_contents(path, text, -1, error);
}

static void converter_clear(Converter *c)
{
	guint i;

	for (i = 0; i < MAX_CPUS; i++)
		g_free(c->windows[i]);
	perf_data_free(c->data);
	bench_sink_free(c->sink);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Converter, converter_clear)

static gboolean run(const char *input, const char *directory, guint cpus,
		    GError **error)
{
	g_auto(Converter) c = {0};
	guint i;

	c.data = perf_data_open(input, error);
	if (!c.data || !find_sources(&c, error))
		return FALSE;
	c.sink = bench_sink_new(directory, cpus, error);
	if (!c.sink)
		return FALSE;
	for (i = 0; i < cpus; i++) {
		c.windows[i] = g_new(Window, 1);
		c.windows[i]->n = 0;
		c.last[i] = G_MININT64;
	}
	if (!convert_all(&c, error) || !bench_sink_close(c.sink, error) ||
	    !write_meta(&c, directory, error))
		return FALSE;
	printf("{\"records\": %" G_GUINT64_FORMAT
	       ", \"other_events\": %" G_GUINT64_FORMAT
	       ", \"of_no_memory\": %" G_GUINT64_FORMAT
	       ", \"unordered\": %" G_GUINT64_FORMAT
	       ", \"lost\": %" G_GUINT64_FORMAT "}\n",
	       c.records, c.other, c.nothing, c.unordered,
	       perf_data_lost(c.data));
	return TRUE;
}

int main(int argc, char **argv)
{
	g_autoptr(GError) error = NULL;
	guint64 cpus = g_get_num_processors();

	if (argc < 3 || argc > 4 || argv[1][0] == '-') {
		fputs("Usage: " PROGRAM " PERF.DATA FOLDER [CPUS]\n"
		      "Writes the events of kmem as a capture into a new "
		      "folder, and to stdout as JSON\nhow many there were.  "
		      "CPUS: the number of the highest CPU, plus 1.\n",
		      stderr);
		return EXIT_FAILURE;
	}
	if (!kmt_cli_parse_number(argc > 3 ? argv[3] : NULL, MAX_CPUS, "CPUS",
				  &cpus, &error) ||
	    !run(argv[1], argv[2], (guint)cpus, &error))
		return kmt_cli_fail(PROGRAM, error->message);
	return EXIT_SUCCESS;
}
