// SPDX-License-Identifier: GPL-2.0-or-later
/* The reader of trace.dat. */
#include "config.h"

#include "import/import.h"

#ifdef HAVE_TRACECMD

#include <errno.h>
#include <trace-cmd.h>

#include "import/bytes.h"
#include "import/decode.h"

typedef struct tracecmd_input Input;

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Input, tracecmd_close)

/* The library counts from there when it does not know. */
#define UNKNOWN_LOSS (-1)

/* What begins the file; the library does not tell the size of a page. */
#define MAGIC	   "\027\010\104tracing"
#define HEAD_BYTES 64

/* Behind the version, a text, are the byte order and the bytes of a long. */
static gboolean read_page_bytes(const char *path, guint *page_bytes,
				GError **error)
{
	guint8 head[HEAD_BYTES];
	FILE *file = fopen(path, "re");
	KmtBytes b = {head, 0};

	if (file) {
		b.left = fread(head, 1, sizeof(head), file);
		fclose(file);
	}
	kmt_bytes_take(&b, strlen(MAGIC));
	kmt_bytes_string(&b);
	kmt_bytes_take(&b, 2);
	*page_bytes = kmt_bytes_32(&b);
	if (!kmt_bytes_ok(&b))
		return kmt_import_fail(error,
				       "it is cut off within its header: copy "
				       "it again, or record again");
	/* All bytes of pages are multiples of it. */
	return (*page_bytes && !(*page_bytes & 511)) ||
	       kmt_import_fail(error, "its header tells no size of pages: "
				      "record again");
}

static gboolean take_record(KmtImport *import, KmtDecoder *decoder,
			    const struct tep_record *record, guint cpu,
			    GError **error)
{
	gint64 time = (gint64)record->ts;
	long long missed = record->missed_events;

	if (missed && !kmt_import_add_lost(import, cpu,
					   missed == UNKNOWN_LOSS || missed < 0
						   ? 0
						   : (guint64)missed,
					   time, error))
		return FALSE;
	return kmt_decoder_take(decoder, import, cpu, time, record->data,
				(gsize)MAX(record->size, 0), error);
}

/* Each CPU's events are in their order. */
static gboolean read_cpu(KmtImport *import, Input *input, KmtDecoder *decoder,
			 guint cpu, GError **error)
{
	struct tep_record *record;
	gboolean ok = TRUE;
	guint n = 0;

	while (ok && (record = tracecmd_read_data(input, (int)cpu))) {
		gint64 time = (gint64)record->ts;

		ok = take_record(import, decoder, record, cpu, error);
		tracecmd_free_record(record);
		if (ok && ++n % 1024 == 0)
			ok = kmt_import_advance(import, time, error);
	}
	return ok && kmt_import_advance(import, G_MAXINT64, error);
}

static gboolean read_buffer(KmtImport *import, Input *input, guint page_bytes,
			    GError **error)
{
	struct tep_handle *tep = tracecmd_get_tep(input);
	guint cpus = kmt_import_cpus(import);
	g_autoptr(KmtDecoder) decoder = kmt_decoder_new(
		tep, page_bytes, cpus ? cpus : (guint)tep_get_cpus(tep), error);

	if (!decoder)
		return FALSE;
	for (int cpu = 0; cpu < tep_get_cpus(tep); cpu++)
		if (!read_cpu(import, input, decoder, (guint)cpu, error))
			return FALSE;
	return TRUE;
}

/* The buffer by that name; NULL: the first that has events of memory. */
static gboolean read_instances(KmtImport *import, Input *input,
			       const char *buffer, guint page_bytes,
			       GError **error)
{
	int n = tracecmd_buffer_instances(input);
	gboolean found = FALSE;

	for (int i = 0; i < n && (buffer || !kmt_import_seen(import)); i++) {
		const char *name = tracecmd_buffer_instance_name(input, i);
		g_autoptr(Input) instance = NULL;

		if (buffer && g_strcmp0(name, buffer) != 0)
			continue;
		found = TRUE;
		instance = tracecmd_buffer_instance_handle(input, i);
		if (!instance)
			return kmt_import_fail(
				error, "a buffer in it cannot be read: it is "
				       "damaged: record again");
		if (!read_buffer(import, instance, page_bytes, error))
			return FALSE;
	}
	if (found || !buffer)
		return TRUE;
	g_set_error(error, KMT_IMPORT_ERROR, KMT_IMPORT_ERROR_INPUT,
		    "it has no buffer '%s': 'trace-cmd report' lists its "
		    "buffers",
		    buffer);
	return FALSE;
}

static void name_tasks(KmtImport *import, struct tep_handle *tep)
{
	g_autoptr(GArray) pids = kmt_import_unnamed_tasks(import);

	for (guint i = 0; i < pids->len; i++) {
		guint32 pid = g_array_index(pids, guint32, i);

		if (tep_is_pid_registered(tep, (int)pid))
			kmt_import_name_task(
				import, pid, 0,
				tep_data_comm_from_pid(tep, (int)pid));
	}
}

/* The library tells the function of an address, and no list of them. */
static gboolean name_functions(KmtImport *import, struct tep_handle *tep,
			       GError **error)
{
	g_autoptr(GArray) sites = kmt_import_call_sites(import);
	g_autoptr(GString) text = g_string_new(NULL);
	guint64 last = 0;

	for (guint i = 0; i < sites->len; i++) {
		/* A call at the end of a function returns behind it. */
		guint64 site = g_array_index(sites, guint64, i) - 1;
		const char *name = tep_find_function(tep, site);
		guint64 address = tep_find_function_address(tep, site);

		if (!name || address == last)
			continue;
		last = address;
		g_string_append_printf(text,
				       "%016" G_GINT64_MODIFIER "x t %s\n",
				       address, name);
	}
	return text->len == 0 ||
	       kmt_import_set_kallsyms(import, text->str, error);
}

static void describe(KmtImport *import, struct tep_handle *tep,
		     guint page_bytes)
{
	GKeyFile *meta = kmt_import_meta(import);

	g_key_file_set_string(meta, KMT_IMPORT_GROUP, "imported_from",
			      "trace.dat");
	g_key_file_set_string(meta, KMT_IMPORT_GROUP, "recorded_by",
			      "trace-cmd");
	g_key_file_set_string(meta, KMT_IMPORT_GROUP, "clock", "trace-cmd");
	g_key_file_set_uint64(meta, KMT_IMPORT_GROUP, "page_size", page_bytes);
	g_key_file_set_integer(meta, KMT_IMPORT_GROUP, "word_size",
			       tep_get_long_size(tep));
}

gboolean kmt_import_trace_dat(KmtImport *import, const char *path,
			      const char *buffer, GError **error)
{
	g_autoptr(Input) input = NULL;
	struct tep_handle *tep;
	guint page_bytes;

	if (!read_page_bytes(path, &page_bytes, error))
		return FALSE;
	tracecmd_set_loglevel(TEP_LOG_NONE);
	tep_set_loglevel(TEP_LOG_NONE);
	input = tracecmd_open(path, TRACECMD_FL_LOAD_NO_PLUGINS);
	if (!input)
		return kmt_import_fail(
			error, "libtracecmd cannot read it: it is cut off or "
			       "damaged, or newer than the library: copy it "
			       "again, or record again");
	tep = tracecmd_get_tep(input);
	if (tep_is_file_bigendian(tep) != (G_BYTE_ORDER == G_BIG_ENDIAN))
		return kmt_import_fail(error,
				       "it is of a machine with the other "
				       "byte order: import it on such a "
				       "machine");
	if ((!buffer && !read_buffer(import, input, page_bytes, error)) ||
	    !read_instances(import, input, buffer, page_bytes, error))
		return FALSE;
	name_tasks(import, tep);
	describe(import, tep, page_bytes);
	return name_functions(import, tep, error);
}

#else

gboolean kmt_import_trace_dat(KmtImport *import, const char *path,
			      const char *buffer, GError **error)
{
	g_set_error(error, KMT_IMPORT_ERROR, KMT_IMPORT_ERROR_NO_LIBRARY,
		    "it is a trace.dat, and kmemtrace-import was built without "
		    "libtracecmd: install libtracecmd-dev and libtracefs-dev "
		    "(libtracecmd-devel), configure and build again");
	return FALSE;
}

#endif
