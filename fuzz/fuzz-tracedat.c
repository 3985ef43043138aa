// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz target: a trace.dat file of arbitrary bytes. The reader must not read
 * outside the file, must end, and must return only complete pages. The same
 * bytes are also read as a CTF metadata file.
 */
#include "config.h"

#include "fuzz/scratch.h"
#include "fuzz/target.h"
#include "import/ctf-metadata.h"
#include "import/dat-clock.h"
#include "import/dat-file.h"
#include "import/dat-page-order.h"
#include "import/dat-pages.h"
#include "import/import.h"

/*
 * Limit of the pages read per CPU. Compressed pages may expand to many more
 * bytes than the input has.
 */
#define MAX_PAGES 64

/* Stub: import.c, which defines this function, needs code beyond the reader. */
gboolean kmt_import_fail(GError **error, const char *what)
{
	g_set_error_literal(error, KMT_IMPORT_ERROR, KMT_IMPORT_ERROR_INPUT,
			    what);
	return FALSE;
}

G_DEFINE_QUARK(kmt - import - error - quark, kmt_import_error)

/* Read each byte, so that AddressSanitizer checks each address. */
static guint read_bytes(const guint8 *data, gsize n)
{
	guint sum = 0;

	for (gsize i = 0; i < n; i++)
		sum += data[i];
	return sum;
}

static gboolean on_format(gpointer user, const char *system, const char *name,
			  const char *text, GError **error)
{
	guint *sum = user;

	*sum += read_bytes((const guint8 *)system, strlen(system)) +
		read_bytes((const guint8 *)name, strlen(name)) +
		read_bytes((const guint8 *)text, strlen(text));
	return TRUE;
}

static gboolean on_event(gconstpointer user, const guint8 *data, gsize n_bytes)
{
	guint *sum = (gpointer)user;

	*sum += read_bytes(data, n_bytes);
	return n_bytes > 0;
}

static void check_page(const KmtDatPage *page, const KmtDatBuffer *buffer,
		       guint *sum)
{
	KmtTracepointCursor cursor = page->events;
	const guint8 *data;
	guint64 n = 0;
	gsize n_bytes;

	while ((data = kmt_tracepoint_ring_next_event(&cursor, &n_bytes))) {
		*sum += read_bytes(data, n_bytes);
		n++;
	}
	g_assert_false(cursor.damaged);
	g_assert_cmpuint(n, ==, page->n_events);
	g_assert_cmpuint(n, <=,
			 buffer->page_bytes / KMT_TRACEPOINT_RING_WORD_BYTES);
	g_assert_cmpuint(cursor.time_ns, ==, page->last_time);
}

static void check_cpu(const KmtDatFile *dat, const KmtDatBuffer *buffer,
		      const KmtDatCpu *cpu, guint *sum)
{
	g_autoptr(KmtDatPages) pages =
		kmt_dat_pages_new(dat, buffer, cpu, on_event, sum);
	g_autoptr(GArray) times =
		g_array_new(FALSE, FALSE, sizeof(KmtDatPageTime));
	const KmtDatPage *page;
	const KmtDatClock clock = {NULL, 1, 0, dat->time_shift};
	gint64 last = G_MININT64;

	while (times->len < MAX_PAGES && (page = kmt_dat_pages_next(pages))) {
		KmtDatPageTime time = {
			page->intact, kmt_dat_clock_ns(&clock, page->time),
			kmt_dat_clock_ns(&clock, page->last_time)};

		if (page->intact)
			check_page(page, buffer, sum);
		g_array_append_val(times, time);
	}
	kmt_dat_order_check(times);
	for (guint i = 0; i < times->len; i++) {
		const KmtDatPageTime *time =
			&g_array_index(times, KmtDatPageTime, i);

		if (!time->intact)
			continue;
		g_assert_true(last <= time->first ||
			      (guint64)last - (guint64)time->first <= 1000000);
		last = time->last;
	}
	kmt_dat_buffer_stats(buffer, cpu->cpu);
}

static void check_buffer(const KmtDatFile *dat, const KmtDatBuffer *buffer,
			 guint *sum)
{
	*sum += read_bytes((const guint8 *)buffer->name, strlen(buffer->name));
	for (guint i = 0; i < MIN(buffer->cpus->len, 4); i++)
		check_cpu(dat, buffer,
			  &g_array_index(buffer->cpus, KmtDatCpu, i), sum);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(KmtDatFile) dat = kmt_dat_file_open(
		kmt_scratch_write("trace.dat", bytes, size), &error);
	static volatile guint result;
	guint sum = 0;

	if (dat) {
		g_assert_no_error(error);
		g_assert_cmpuint(dat->page_bytes, >=, 512);
		if (!kmt_dat_file_formats(dat, on_format, &sum, &error))
			g_assert_nonnull(error);
		sum += read_bytes(dat->kallsyms.next, dat->kallsyms.left) +
		       read_bytes(dat->tasks.next, dat->tasks.left);
		for (guint i = 0; i < MIN(dat->buffers->len, 4); i++)
			check_buffer(dat, dat->buffers->pdata[i], &sum);
	} else {
		g_assert_nonnull(error);
	}
	kmt_ctf_metadata_is_complete(bytes, size);
	result = sum;
	kmt_scratch_clear();
	return 0;
}
