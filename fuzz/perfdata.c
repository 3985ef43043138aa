// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A perf.data of any bytes: its reader never leaves it, tells each record once,
 * and ends.
 */
#include "config.h"

#include "fuzz/scratch.h"
#include "fuzz/target.h"
#include "import/import.h"
#include "import/perfdata.h"

#include <string.h>

/* import.c needs more than the reader does. */
gboolean kmt_import_fail(GError **error, const char *what)
{
	g_set_error_literal(error, KMT_IMPORT_ERROR, KMT_IMPORT_ERROR_INPUT,
			    what);
	return FALSE;
}

G_DEFINE_QUARK(kmt - import - error - quark, kmt_import_error)

typedef struct {
	gsize size;  /* of the file */
	gsize bytes; /* of the formats so far */
	guint sum;   /* so that each byte is read */
} Seen;

static void touch(Seen *seen, const void *data, gsize n_bytes)
{
	const guint8 *p = data;

	for (gsize i = 0; i < n_bytes; i++)
		seen->sum += p[i];
}

static gboolean see_format(gpointer user, const char *system, const char *name,
			   const char *text, GError **error)
{
	Seen *seen = user;

	touch(seen, system, strlen(system));
	touch(seen, name, strlen(name));
	seen->bytes += strlen(text);
	g_assert_cmpuint(seen->bytes, <=, seen->size);
	return TRUE;
}

static void see_entry(Seen *seen, const PerfEntry *entry)
{
	g_assert_cmpint(entry->kind, <=, PERF_ENTRY_ROUND);
	if (entry->kind == PERF_ENTRY_SAMPLE) {
		g_assert_cmpuint(entry->n_bytes, <=, seen->size);
		touch(seen, entry->data, entry->n_bytes);
	}
	if (entry->kind == PERF_ENTRY_COMM || entry->kind == PERF_ENTRY_KERNEL)
		touch(seen, entry->name, strlen(entry->name));
}

static void read_all(PerfData *data, Seen *seen)
{
	g_autoptr(GError) error = NULL;
	PerfEntry entry;
	gsize n = 0;

	if (!perf_data_formats(data, see_format, seen, &error))
		g_assert_nonnull(error);
	g_clear_error(&error);
	/* Each has a header of 8 bytes. */
	for (; perf_data_next(data, &entry, &error); n++) {
		g_assert_no_error(error);
		g_assert_cmpuint(n, <, seen->size / 8);
		see_entry(seen, &entry);
	}
}

static void touch_text(Seen *seen, const char *text)
{
	if (text)
		touch(seen, text, strlen(text));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(PerfData) data = perf_data_open(
		kmt_scratch_write("perf.data", bytes, size), &error);
	Seen seen = {.size = size};

	if (data) {
		g_assert_no_error(error);
		g_assert_cmpuint(perf_data_page_bytes(data), >=, 512);
		perf_data_cpus(data);
		touch_text(&seen, perf_data_release(data));
		touch_text(&seen, perf_data_machine(data));
		touch_text(&seen, perf_data_version(data));
		touch_text(&seen, perf_data_build_id(data));
		read_all(data, &seen);
	} else {
		g_assert_nonnull(error);
	}
	kmt_scratch_clear();
	return 0;
}
