// SPDX-License-Identifier: GPL-2.0-or-later
/* The reader of perf.data. */
#include "config.h"

#include <event-parse.h>

#include "import/decode.h"
#include "import/perfdata.h"

typedef struct {
	KmtImport *import;
	PerfData *data;
	struct tep_handle *formats;
	KmtDecoder *decoder;
	gint64 latest_ns; /* of all samples */
	gint64 round_ns;  /* of those up to the last round */
	guint64 lost_samples;
} Reader;

static void reader_clear(Reader *r)
{
	g_clear_pointer(&r->decoder, kmt_decoder_free);
	g_clear_pointer(&r->formats, tep_free);
	perf_data_free(r->data);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Reader, reader_clear)

/* Those that records are made of; what the others are nobody asks. */
static gboolean add_format(gpointer user, const char *system, const char *name,
			   const char *text, GError **error)
{
	Reader *r = user;

	for (guint i = 0; i < kmt_n_tracepoint_names; i++)
		if (g_str_equal(kmt_tracepoint_names[i].system, system) &&
		    g_str_equal(kmt_tracepoint_names[i].name, name))
			return kmt_formats_add(r->formats, system, name, text,
					       error) != NULL;
	return TRUE;
}

static gboolean read_formats(Reader *r, GError **error)
{
	guint cpus = kmt_import_cpus(r->import);

	r->formats = kmt_formats_new(perf_data_long_bytes(r->data), error);
	if (!r->formats || !perf_data_formats(r->data, add_format, r, error))
		return FALSE;
	r->decoder =
		kmt_decoder_new(r->formats, perf_data_page_bytes(r->data),
				cpus ? cpus : perf_data_cpus(r->data), error);
	return r->decoder != NULL;
}

static void set_text(GKeyFile *meta, const char *key, const char *text)
{
	if (text)
		g_key_file_set_string(meta, KMT_IMPORT_GROUP, key, text);
}

static void describe(const Reader *r)
{
	GKeyFile *meta = kmt_import_meta(r->import);
	const char *version = perf_data_version(r->data);
	const char *clock = perf_data_clock(r->data);
	g_autofree char *recorder =
		version ? g_strconcat("perf ", version, NULL) : NULL;

	set_text(meta, "imported_from", "perf.data");
	set_text(meta, "recorded_by", recorder ? recorder : "perf");
	set_text(meta, "machine", perf_data_machine(r->data));
	set_text(meta, "kernel_release", perf_data_release(r->data));
	set_text(meta, "build_id", perf_data_build_id(r->data));
	/* perf takes that of sched_clock(), unless told otherwise. */
	set_text(meta, "clock", clock ? clock : "perf");
	g_key_file_set_uint64(meta, KMT_IMPORT_GROUP, "page_size",
			      perf_data_page_bytes(r->data));
	g_key_file_set_uint64(meta, KMT_IMPORT_GROUP, "word_size",
			      perf_data_long_bytes(r->data));
	kmt_import_kernel(r->import)->build_id =
		g_strdup(perf_data_build_id(r->data));
}

static void see_kernel(KmtImportKernel *kernel, const PerfEntry *entry)
{
	if (kernel->symbol)
		return;
	kernel->symbol = g_strdup(entry->name);
	kernel->address = entry->number;
}

static gboolean take_entry(Reader *r, const PerfEntry *entry, GError **error)
{
	gint64 before;

	switch (entry->kind) {
	case PERF_ENTRY_SAMPLE:
		r->latest_ns = MAX(r->latest_ns, entry->time);
		return kmt_decoder_take(r->decoder, r->import, entry->cpu,
					entry->time, entry->data,
					entry->n_bytes, error);
	case PERF_ENTRY_OTHER_SAMPLE:
		kmt_import_count_other(r->import);
		return TRUE;
	case PERF_ENTRY_LOST:
		return kmt_import_add_lost(r->import, entry->cpu, entry->number,
					   entry->time, error);
	case PERF_ENTRY_LOST_SAMPLES:
		r->lost_samples += entry->number;
		return TRUE;
	case PERF_ENTRY_COMM:
		kmt_import_name_task(r->import, entry->pid, entry->time,
				     entry->name);
		return TRUE;
	case PERF_ENTRY_KERNEL:
		see_kernel(kmt_import_kernel(r->import), entry);
		return TRUE;
	case PERF_ENTRY_ROUND:
		before = r->round_ns;
		r->round_ns = r->latest_ns;
		return kmt_import_advance(r->import, before, error);
	}
	return TRUE;
}

gboolean kmt_import_perf_data(KmtImport *import, const char *path,
			      GError **error)
{
	g_auto(Reader) r = {.import = import};
	GError *problem = NULL;
	PerfEntry entry;

	r.data = perf_data_open(path, error);
	if (!r.data || !read_formats(&r, error))
		return FALSE;
	describe(&r);
	while (perf_data_next(r.data, &entry, &problem))
		if (!take_entry(&r, &entry, error))
			return FALSE;
	if (problem) {
		g_propagate_error(error, problem);
		return FALSE;
	}
	/* The same ones, told by the kernel and by perf. */
	kmt_import_set_lost(import, r.lost_samples);
	return TRUE;
}
