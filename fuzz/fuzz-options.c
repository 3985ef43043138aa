// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz target: a fixed capture with allocations, frees, losses and marks, a
 * random command line, and boundary values (fuzz/boundary.h). The input sets
 * any number of fields of kmemtrace.meta and of the records, and at most one
 * column of the tables. If the command line is valid, the capture is then
 * reported (fuzz/reports.h) and checked. An input is a list of steps; the first
 * byte of a step selects its kind, see apply_step().
 */
#include "config.h"

#include "fuzz/boundary.h"
#include "fuzz/check-output.h"
#include "fuzz/exercise.h"
#include "fuzz/reports.h"
#include "fuzz/scratch.h"
#include "fuzz/target.h"

#include <stdlib.h>
#include <string.h>

#define N_CPUS	  2
#define N_RECORDS 24 /* records of each CPU */
#define MAX_WORDS 40
#define STEP_NS	  100000

typedef struct kmemtrace_event_v2s Record;

typedef struct {
	const guint8 *at, *end;
} OptionsInput;

typedef struct {
	GKeyFile *meta;
	Record records[N_CPUS][N_RECORDS];
	GPtrArray *words; /* char * elements */
	guint64 table_number;
	guint table_column; /* table column that is replaced by table_number; 0:
			     * none */
} Case;

/* ---- the unmodified capture ---- */

static const char meta_text[] = "[capture]\n"
				"format=1\n"
				"abi_version=2\n"
				"record_size=72\n"
				"byte_order=%s\n"
				"complete=true\n"
				"overruns=0\n"
				"kernel_release=6.1.0\n"
				"machine=x86_64\n"
				"boot_id=b\n"
				"subbufs=8\n"
				"subbuf_size=65536\n"
				"[cpu0]\n"
				"node=0\n"
				"overruns=0\n"
				"[cpu1]\n"
				"node=1\n"
				"overruns=0\n";

static const char kallsyms_text[] = "ffffffff81000000 T _stext\n"
				    "ffffffff81000000 T first\n"
				    "ffffffff81000040 t second\n"
				    "ffffffff81000080 t third\n"
				    "ffffffff81000100 T _etext\n"
				    "ffffffffa0000000 t inside\t[mod]\n";

/* Return the event of a record: allocations and frees, and in each eighth
 * record a loss or a mark in turn. */
static guint8 event_id_of(guint cpu, guint i)
{
	if (i % 8 == 7)
		return (guint8)(KMEMTRACE_EVENT_LOST + (cpu + i / 8) % 2);
	return i % 3 == 2 ? KMEMTRACE_EVENT_FREE : KMEMTRACE_EVENT_ALLOC;
}

static Record make_record(guint cpu, guint i)
{
	guint object = i % 3 == 2 ? i - 2 : i;
	guint owner = i % 6 == 5 ? !cpu : cpu;
	gint64 time = (gint64)(i * N_CPUS + cpu) * STEP_NS;
	Record r = {0};
	struct kmemtrace_event *e = &r.v2.v1;

	e->event_id = event_id_of(cpu, i);
	e->event_size = sizeof(r);
	e->timestamp = time;
	r.v2.pid = 1 + i % 3;
	if (e->event_id == KMEMTRACE_EVENT_LOST) {
		e->bytes_req = 3;
		e->bytes_alloc = (guint64)(time - STEP_NS / 2);
		return r;
	}
	if (e->event_id == KMEMTRACE_EVENT_MARK) {
		struct kmemtrace_event_mark *mark =
			(struct kmemtrace_event_mark *)&r;

		mark->mark = 2;
		mark->payload_size = 8;
		mark->payload[0] = i;
		return r;
	}
	e->type_id = (guint8)(object % 5);
	e->node = e->event_id == KMEMTRACE_EVENT_ALLOC ? (gint32)(i % 3) - 1
						       : KMEMTRACE_NODE_NONE;
	e->call_site = G_GUINT64_CONSTANT(0xffffffff81000010) + i % 4 * 0x40;
	e->ptr = G_GUINT64_CONSTANT(0xffff888000000000) + owner * 0x100000 +
		 (object + 1) * 0x1000;
	e->bytes_req = 100 + i;
	e->bytes_alloc = 128;
	e->gfp_flags = 0xcc0;
	r.v2.cache = e->type_id == KMEMTRACE_TYPE_CACHE ? 1 : 0;
	r.stack = 1 + i % 2;
	return r;
}

static void make_case(Case *c)
{
	g_autofree char *text = NULL;
	guint cpu, i;

	text = g_strdup_printf(meta_text,
			       G_BYTE_ORDER == G_BIG_ENDIAN ? "big" : "little");
	c->meta = g_key_file_new();
	g_key_file_load_from_data(c->meta, text, (gsize)-1, G_KEY_FILE_NONE,
				  NULL);
	for (cpu = 0; cpu < N_CPUS; cpu++)
		for (i = 0; i < N_RECORDS; i++)
			c->records[cpu][i] = make_record(cpu, i);
	c->words = g_ptr_array_new_with_free_func(g_free);
	g_ptr_array_add(c->words, g_strdup("report"));
}

static void clear_case(Case *c)
{
	g_key_file_unref(c->meta);
	g_ptr_array_unref(c->words);
}

/* ---- changes by the input ---- */

static guint read_byte(OptionsInput *in)
{
	return in->at < in->end ? *in->at++ : 0;
}

/* Read a text from the input. The caller frees the string. */
static char *read_text(OptionsInput *in)
{
	gsize length = read_byte(in) % 64;
	char *text;

	length = MIN(length, (gsize)(in->end - in->at));
	text = g_strndup((const char *)in->at, length);
	in->at += length;
	return text;
}

static const char *const meta_groups[] = {"capture", "cpu0", "cpu1", "cpu7",
					  "snapshot"};

static const struct {
	const char *key;
	const char *values[4]; /* values tried in addition to boundaries */
} meta_keys[] = {
	{"sample", {NULL}},
	{"overruns", {NULL}},
	{"bytes", {NULL}},
	{"events", {NULL}},
	{"node", {NULL}},
	{"abi_version", {NULL}},
	{"record_size", {NULL}},
	{"subbufs", {NULL}},
	{"subbuf_size", {NULL}},
	{"format", {NULL}},
	{"cpus", {NULL}},
	{"byte_order", {"little", "big", "middle"}},
	{"complete", {"true", "false"}},
	{"continues", {"true", "false"}},
	{"source", {"relay", "ftrace", "import"}},
	{"mode", {"overwrite", "discard"}},
	{"not_seen", {"a;b;", ";"}},
	{"incomplete", {"a;b;", ";"}},
	{"events_off", {"kfree;page_free;", "vfree;", ";"}},
	{"filter", {"pid=1", "site=f"}},
	{"filter_frees", {"exact", "all"}},
	{"filter_changed", {"true", "false"}},
	{"task_names", {"proc"}},
	{"why", {"oom"}},
	{"kernel_release", {"6.1"}},
	{"start_time", {NULL}},
	{"cgroups", {"tracked", "end"}},
};

static void set_meta(Case *c, OptionsInput *in)
{
	guint group = read_byte(in) % G_N_ELEMENTS(meta_groups);
	guint key = read_byte(in) % G_N_ELEMENTS(meta_keys);
	guint value = read_byte(in), n = 0;
	g_autofree char *text = NULL;

	while (n < G_N_ELEMENTS(meta_keys[key].values) &&
	       meta_keys[key].values[n])
		n++;
	text = value == G_MAXUINT8
		       ? read_text(in)
		       : (value < n ? g_strdup(meta_keys[key].values[value])
				    : kmt_boundary_text(value - n));
	/* A newline would end the line in the key file. */
	g_strdelimit(text, "\n\r", ' ');
	g_key_file_set_value(c->meta, meta_groups[group], meta_keys[key].key,
			     text);
}

static void set_record(Case *c, OptionsInput *in)
{
	guint which = read_byte(in), field = read_byte(in);
	Record *r = &c->records[which % N_CPUS][which / N_CPUS % N_RECORDS];

	kmt_boundary_set(r, field % KMT_BOUNDARY_N_FIELDS,
			 kmt_boundaries[read_byte(in) % kmt_n_boundaries]);
}

/*
 * The options of the report, except those that name files, with typical values
 * that are tried in addition to boundaries.
 */
static const struct {
	const char *name;
	const char *values[8];
	gboolean is_flag;
} report_options[] = {
	{"--json", {NULL}, TRUE},
	{"--csv", {NULL}, TRUE},
	{"--folded", {NULL}, TRUE},
	{"--stacks", {NULL}, TRUE},
	{"--slab", {NULL}, TRUE},
	{"--page", {NULL}, TRUE},
	{"--live", {NULL}, TRUE},
	{"--leaks", {NULL}, TRUE},
	{"--cross-cpu", {NULL}, TRUE},
	{"--marks", {NULL}, TRUE},
	{"--before-trace", {NULL}, TRUE},
	{"--raw-ip", {NULL}, TRUE},
	{"--quiet", {NULL}, TRUE},
	{"--help", {NULL}, TRUE},
	{"--version", {NULL}, TRUE},
	{"--by",
	 {"callsite", "function,size", "kind,cache,cpu,node,gfp",
	  "module,directory", "pid,comm,context", "stack,owner", "mark",
	  "comm,cgroup,mark"},
	 FALSE},
	{"--fields",
	 {"wasted,frag,requested,allocated,allocs,frees,reused",
	  "live,live-objects,live-requested,live-wasted,live-frag",
	  "peak,peak-time,at-peak,cross-cpu,remote-node",
	  "lifetime-median,lifetime-p99", "age-median,churn"},
	 FALSE},
	{"--sort",
	 {"-lifetime-p99,+ptr", "churn,reused", "callsite", "live,peak-time"},
	 FALSE},
	{"--skip", {"f*,*alloc*"}, FALSE},
	{"--lines", {"1"}, FALSE},
	{"--time",
	 {"peak", "0.0001,0.001", ",0.002", "0.001,", "@0.001,@0.002", "phase,",
	  "9223372036.854775807,", ",8999999999"},
	 FALSE},
	{"--windows", {"4", "1", "50"}, FALSE},
	{"--histogram", {"lifetime", "size"}, FALSE},
	{"--churn", {"1us", "18446744073709551615ns"}, FALSE},
	{"--kind", {"kmalloc,pages", "slab,percpu,vmalloc"}, FALSE},
	{"--cpu", {"0", "1", "0-18446744073709551615"}, FALSE},
	{"--node", {"0-1"}, FALSE},
	{"--size", {"8-4k", "16G-", "17179869183G"}, FALSE},
	{"--lifetime", {"1us-", "0ns-18446744073s"}, FALSE},
	{"--callsite", {"*st*", "0x*"}, FALSE},
	{"--module", {"vmlinux,mod"}, FALSE},
	{"--clock-tolerance", {"0", "1000000000"}, FALSE},
	{"--layout", {"A", "B", "C", "D"}, FALSE},
	{"--jobs", {"2"}, FALSE},
	{"--cgroup", {"/", "/*,/a?"}, FALSE},
};

static void add_word(Case *c, char *word)
{
	if (c->words->len < MAX_WORDS)
		g_ptr_array_add(c->words, word);
	else
		g_free(word);
}

static void add_option(Case *c, OptionsInput *in)
{
	guint option = read_byte(in) % G_N_ELEMENTS(report_options), value,
	      n = 0;
	g_autofree char *text = NULL;

	if (report_options[option].is_flag) {
		add_word(c, g_strdup(report_options[option].name));
		return;
	}
	while (n < G_N_ELEMENTS(report_options[option].values) &&
	       report_options[option].values[n])
		n++;
	value = read_byte(in);
	text = value == G_MAXUINT8
		       ? read_text(in)
		       : (value < n ? g_strdup(report_options[option]
						       .values[value])
				    : kmt_boundary_text(value - n));
	add_word(c, g_strconcat(report_options[option].name, "=", text, NULL));
}

static void apply_step(Case *c, OptionsInput *in)
{
	switch (read_byte(in) % 8) {
	case 0:
	case 1:
	case 2:
		add_option(c, in);
		break;
	case 3:
	case 4:
		set_meta(c, in);
		break;
	case 5:
		set_record(c, in);
		break;
	case 6:
		c->table_column = 1 + read_byte(in) % 9;
		c->table_number =
			kmt_boundaries[read_byte(in) % kmt_n_boundaries];
		break;
	case 7:
		add_word(c, read_text(in));
		break;
	}
}

/* ---- the capture on disk ---- */

static void write_text(const char *name, const char *text)
{
	kmt_scratch_write(name, text, strlen(text));
}

/*
 * Return the value of a table column, or the value that the input sets for that
 * column.
 */
static guint64 column_value(const Case *c, guint number, guint64 value)
{
	return c->table_column == number ? c->table_number : value;
}

static void write_tables(const Case *c)
{
	g_autofree char *caches = g_strdup_printf(
		"# kmemtrace: caches\n"
		"# columns: number object_size size created destroyed name\n"
		"1 %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " 0 - one\n"
		"2 8 8 %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " two\n",
		column_value(c, 1, 100), column_value(c, 2, 128),
		column_value(c, 3, 5), column_value(c, 4, 1 << 20));
	g_autofree char *tasks = g_strdup_printf(
		"# kmemtrace: tasks\n# columns: pid until name\n# dropped: "
		"%" G_GUINT64_FORMAT "\n1 - a\n2 %" G_GUINT64_FORMAT
		" b\n2 - c\n",
		column_value(c, 5, 0), column_value(c, 6, 1000));
	g_autofree char *cgroups = g_strdup_printf(
		"# kmemtrace: cgroups\n# columns: pid until path\n1 - /\n"
		"2 %" G_GUINT64_FORMAT " /a\n2 - /a\\040b\n",
		column_value(c, 9, 1000));
	g_autofree char *marks = g_strdup_printf(
		"# kmemtrace: marks\n# columns: number appeared went module "
		"types name format\n1 0 - - s marker %%s\n2 %" G_GUINT64_FORMAT
		" - - q phase %%%" G_GUINT64_FORMAT "lld\n",
		column_value(c, 7, 0), column_value(c, 8, 3));

	write_text("caches", caches);
	write_text("tasks", tasks);
	write_text("cgroups", cgroups);
	write_text("marks", marks);
	write_text("stacks", "# columns: stack addresses\n"
			     "1 ffffffff81000010,ffffffff81000050\n"
			     "2 ffffffff81000090\n");
	write_text("kallsyms", kallsyms_text);
}

static void write_capture(const Case *c)
{
	g_autofree char *meta = g_key_file_to_data(c->meta, NULL, NULL);
	guint cpu;

	for (cpu = 0; cpu < N_CPUS; cpu++) {
		g_autofree char *name = g_strdup_printf("cpu%u.out", cpu);

		kmt_scratch_write(name, c->records[cpu],
				  sizeof(c->records[cpu]));
	}
	write_text("kmemtrace.meta", meta);
	write_tables(c);
}

/* ---- readers of the capture ---- */

static void check_capture(void)
{
	const char *const operands[] = {kmt_scratch_directory(), NULL};
	const KmtInputOptions options = {.random_access = TRUE};
	g_autoptr(KmtInputCapture) capture =
		kmt_input_capture_open(operands, &options, NULL);
	g_autoptr(KmtCheck) check = NULL;

	if (!capture)
		return;
	check = kmt_check_new(capture, TRUE, KMT_MATCH_CLOCK_TOLERANCE_NS, 3);
	kmt_check_output(check);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	g_auto(KmtReports) reports = {0};
	OptionsInput in = {data, data + size};
	Case c = {0};

	kmt_exercise_begin();
	make_case(&c);
	while (in.at < in.end)
		apply_step(&c, &in);
	g_ptr_array_add(c.words, NULL);
	kmt_scratch_directory();
	if (kmt_reports_parse((char **)c.words->pdata, &reports)) {
		write_capture(&c);
		kmt_reports_run(&reports);
		check_capture();
		kmt_scratch_clear();
	}
	clear_case(&c);
	return 0;
}
