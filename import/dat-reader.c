// SPDX-License-Identifier: GPL-2.0-or-later
/* Reader of trace.dat files. */
#include "config.h"

#include <event-parse.h>
#include <stdlib.h>

#include "import/dat-clock.h"
#include "import/dat-file.h"
#include "import/dat-names.h"
#include "import/dat-page-order.h"
#include "import/dat-pages.h"
#include "import/decoder.h"
#include "import/functions.h"
#include "import/import.h"
#include "import/dat-reader.h"

/*
 * Number of events after which the reader lets the import write waiting
 * records.
 */
#define ADVANCE_EVENTS 1024

static void reader_clear(KmtDatReader *r)
{
	g_clear_pointer(&r->decoder, kmt_import_decoder_free);
	g_clear_pointer(&r->callers, kmt_import_callers_free);
	g_clear_pointer(&r->functions, kmt_import_functions_free);
	g_clear_pointer(&r->formats, tep_free);
	g_clear_pointer(&r->surveys, g_array_unref);
	kmt_dat_file_free(r->dat);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(KmtDatReader, reader_clear)

static gboolean read_formats(KmtDatReader *r, GError **error)
{
	guint cpus = kmt_import_cpus(r->import);

	r->formats = kmt_tracepoint_formats_new(r->dat->long_bytes, error);
	if (!r->formats ||
	    !kmt_dat_file_formats(r->dat, kmt_import_decoder_add_format,
				  r->formats, error))
		return FALSE;
	r->decoder =
		kmt_import_decoder_new(r->formats, r->dat->page_bytes,
				       cpus ? cpus : r->dat->n_cpus, error);
	if (!r->decoder)
		return FALSE;
	if (r->dat->kallsyms.left) {
		char *text = g_strndup((const char *)r->dat->kallsyms.next,
				       r->dat->kallsyms.left);

		kmt_import_find_inner_functions(r->import, text);
		r->functions = kmt_import_functions_new(text);
	}
	r->callers = kmt_import_callers_new(
		r->functions ? kmt_import_functions_name : NULL, r->functions);
	kmt_import_decoder_expect_stacks(r->decoder, r->import, r->callers);
	return TRUE;
}

/* ---- first pass: survey ---- */

static KmtDatPages *open_pages(const KmtDatReader *r, const KmtDatCpu *cpu)
{
	return kmt_dat_pages_new(r->dat, r->buffer, cpu,
				 kmt_import_decoder_is_complete, r->decoder);
}

static void survey_clear(gpointer data)
{
	KmtDatSurvey *s = data;

	g_array_unref(s->times);
}

static KmtDatPageTime page_time(const KmtDatReader *r, const KmtDatPage *page)
{
	return (KmtDatPageTime){page->intact,
				kmt_dat_clock_ns(&r->clock, page->time),
				kmt_dat_clock_ns(&r->clock, page->last_time)};
}

/*
 * Set *error to a message about a file that changed while it was read, and
 * return FALSE. The file is mapped and read several times, so another process
 * can modify it between the reads.
 */
static gboolean fail_changed(GError **error)
{
	return kmt_import_fail(error,
			       "it changed while it was read: import it when "
			       "it is complete");
}

/*
 * Set *intact to whether read_times() found page i of the CPU intact. Returns
 * FALSE and sets *error if an intact page has changed since then.
 */
static gboolean check_page(const KmtDatReader *r, const KmtDatSurvey *s,
			   guint i, const KmtDatPage *page, gboolean *intact,
			   GError **error)
{
	KmtDatPageTime now = page_time(r, page);
	const KmtDatPageTime *before;

	if (i >= s->times->len)
		return fail_changed(error);
	before = &g_array_index(s->times, KmtDatPageTime, i);
	*intact = before->intact;
	return !*intact ||
	       (now.intact && now.first == before->first &&
		now.last == before->last) ||
	       fail_changed(error);
}

static void survey_page(KmtDatSurvey *s, const KmtDatPage *page,
			KmtDatPageTime time)
{
	s->events += page->n_events;
	if (page->missed == KMT_DAT_MISSED_UNKNOWN)
		s->unnumbered_losses++;
	else
		s->missed = kmt_add_saturating(s->missed, page->missed);
	s->first_ns = s->has_time ? MIN(s->first_ns, time.first) : time.first;
	s->last_ns = s->has_time ? MAX(s->last_ns, time.last) : time.last;
	s->has_time = TRUE;
}

/*
 * Read the times of all pages of a CPU and mark pages with inconsistent times
 * as damaged. The caller releases the array.
 */
static GArray *read_times(const KmtDatReader *r, const KmtDatCpu *cpu)
{
	GArray *times = g_array_new(FALSE, FALSE, sizeof(KmtDatPageTime));
	g_autoptr(KmtDatPages) pages = open_pages(r, cpu);
	const KmtDatPage *page;

	while ((page = kmt_dat_pages_next(pages))) {
		KmtDatPageTime time = page_time(r, page);

		kmt_import_tick(r->import);
		g_array_append_val(times, time);
	}
	kmt_dat_order_check(times);
	return times;
}

/* Fill in *s for a CPU. The caller releases s->times, even after an error. */
static gboolean survey_cpu(const KmtDatReader *r, const KmtDatCpu *cpu,
			   KmtDatSurvey *s, GError **error)
{
	g_autoptr(KmtDatPages) pages = open_pages(r, cpu);
	const KmtDatStats *stats = kmt_dat_buffer_stats(r->buffer, cpu->cpu);
	gboolean in_gap = FALSE;
	const KmtDatPage *page;
	guint i;

	*s = (KmtDatSurvey){.times = read_times(r, cpu)};
	for (i = 0; (page = kmt_dat_pages_next(pages)); i++) {
		gboolean intact;

		kmt_import_tick(r->import);
		if (!check_page(r, s, i, page, &intact, error))
			return FALSE;
		if (intact)
			survey_page(s, page, page_time(r, page));
		else if (!in_gap)
			s->gaps++;
		in_gap = !intact;
	}
	/* The intact pages contain all events that the kernel counted, so the
	 * pages that look damaged contained no event. */
	if (stats && stats->has_events && stats->events == s->events)
		s->gaps = 0;
	return i == s->times->len || fail_changed(error);
}

static gboolean survey_all(KmtDatReader *r, GError **error)
{
	const GArray *cpus = r->buffer->cpus;

	r->surveys = g_array_new(FALSE, FALSE, sizeof(KmtDatSurvey));
	g_array_set_clear_func(r->surveys, survey_clear);
	for (guint i = 0; i < cpus->len; i++) {
		KmtDatSurvey s;
		gboolean ok = survey_cpu(r, &g_array_index(cpus, KmtDatCpu, i),
					 &s, error);

		if (s.has_time) {
			r->first_ns = r->has_time ? MIN(r->first_ns, s.first_ns)
						  : s.first_ns;
			r->last_ns = r->has_time ? MAX(r->last_ns, s.last_ns)
						 : s.last_ns;
			r->has_time = TRUE;
		}
		g_array_append_val(r->surveys, s);
		if (!ok)
			return FALSE;
	}
	return TRUE;
}

/* ---- losses ---- */

/*
 * Compute the number of events lost at each gap; 0 if the number is unknown.
 *
 * The damaged pages of a CPU contained KmtDatStats.events minus the events in
 * intact pages. This is the number of a gap only if the CPU has one gap.
 * The overruns of a CPU that no page reports with a number are the number of a
 * loss only if exactly one page reports a loss without a number.
 */
static KmtDatLosses count_losses(const KmtDatSurvey *s,
				 const KmtDatStats *stats)
{
	KmtDatLosses losses = {0};

	if (s->gaps == 1 && stats && stats->has_events &&
	    stats->events > s->events)
		losses.per_gap = stats->events - s->events;
	if (s->gaps == 0 && s->unnumbered_losses == 1 && stats &&
	    stats->has_lost && stats->other == 0 && stats->overrun > s->missed)
		losses.per_missed = stats->overrun - s->missed;
	return losses;
}

/*
 * Compute the number of a CPU's events that are missing in the file. Returns
 * FALSE if the number is unknown; *total is then a lower bound.
 */
static gboolean total_lost(const KmtDatSurvey *s, const KmtDatStats *stats,
			   guint64 *total)
{
	gboolean has_lost = stats && stats->has_lost;
	gboolean has_events = stats && stats->has_events;
	guint64 missing = 0;

	*total = s->missed;
	if (has_lost)
		*total = MAX(*total,
			     kmt_add_saturating(stats->overrun, stats->other));
	if (has_events && stats->events > s->events)
		missing = stats->events - s->events;
	*total = kmt_add_saturating(*total, missing);
	return (has_lost || s->unnumbered_losses == 0) &&
	       (s->gaps == 0 || missing > 0);
}

static gboolean set_total(const KmtDatReader *r, guint cpu,
			  const KmtDatSurvey *s, const KmtDatStats *stats,
			  GError **error)
{
	guint64 total;

	if (s->gaps)
		kmt_import_set_damaged(r->import);
	if (!total_lost(s, stats, &total))
		return kmt_import_set_cpu_lost(r->import, cpu,
					       KMT_IMPORT_LOST_UNKNOWN, error);
	return total == 0 ||
	       kmt_import_set_cpu_lost(r->import, cpu, total, error);
}

/* ---- second pass: import ---- */

static gboolean import_page(const KmtDatReader *r, guint cpu,
			    const KmtDatPage *page, const KmtDatLosses *losses,
			    GError **error)
{
	KmtTracepointCursor cursor = page->events;
	const guint8 *data;
	gsize n_bytes;

	if (page->missed &&
	    !kmt_import_add_loss(
		    r->import, cpu,
		    page->missed == KMT_DAT_MISSED_UNKNOWN ? losses->per_missed
							   : page->missed,
		    r->first_ns, kmt_dat_clock_ns(&r->clock, page->time),
		    error))
		return FALSE;
	while ((data = kmt_tracepoint_ring_next_event(&cursor, &n_bytes)))
		if (!kmt_import_decoder_add_event(
			    r->decoder, r->import, cpu,
			    kmt_dat_clock_ns(&r->clock, cursor.time_ns), data,
			    n_bytes, error))
			return FALSE;
	return TRUE;
}

/* Record the loss for a run of damaged pages that ends at time (ns). */
static gboolean end_gap(const KmtDatReader *r, guint cpu,
			const KmtDatLosses *losses, gint64 time, GError **error)
{
	return kmt_import_decoder_flush(r->decoder, error) &&
	       kmt_import_add_loss(r->import, cpu, losses->per_gap, r->first_ns,
				   time, error);
}

/*
 * Return whether the last n events cross a multiple of ADVANCE_EVENTS. events
 * includes the last n events.
 */
static gboolean ends_round(guint64 events, guint64 n)
{
	return events / ADVANCE_EVENTS != (events - n) / ADVANCE_EVENTS;
}

static gboolean import_pages(const KmtDatReader *r, const KmtDatCpu *cpu,
			     const KmtDatSurvey *s, const KmtDatLosses *losses,
			     GError **error)
{
	g_autoptr(KmtDatPages) pages = open_pages(r, cpu);
	gboolean in_gap = FALSE;
	const KmtDatPage *page;
	guint64 events = 0;
	guint i;

	for (i = 0; (page = kmt_dat_pages_next(pages)); i++) {
		gint64 last = kmt_dat_clock_ns(&r->clock, page->last_time);
		gboolean intact;

		if (!check_page(r, s, i, page, &intact, error))
			return FALSE;
		if (!intact) {
			in_gap = s->gaps > 0;
			continue;
		}
		if (in_gap &&
		    !end_gap(r, cpu->cpu, losses,
			     kmt_dat_clock_ns(&r->clock, page->time), error))
			return FALSE;
		in_gap = FALSE;
		if (!import_page(r, cpu->cpu, page, losses, error))
			return FALSE;
		events += page->n_events;
		if (ends_round(events, page->n_events) &&
		    !kmt_import_advance(r->import, last, error))
			return FALSE;
	}
	if (i != s->times->len)
		return fail_changed(error);
	return !in_gap || end_gap(r, cpu->cpu, losses, r->last_ns, error);
}

static gboolean import_cpu(const KmtDatReader *r, const KmtDatCpu *cpu,
			   const KmtDatSurvey *s, GError **error)
{
	const KmtDatStats *stats = kmt_dat_buffer_stats(r->buffer, cpu->cpu);
	KmtDatLosses losses = count_losses(s, stats);

	return set_total(r, cpu->cpu, s, stats, error) &&
	       import_pages(r, cpu, s, &losses, error) &&
	       kmt_import_decoder_flush(r->decoder, error) &&
	       kmt_import_advance(r->import, G_MAXINT64, error);
}

static gboolean read_buffer(KmtDatReader *r, const KmtDatBuffer *buffer,
			    GError **error)
{
	if (buffer->is_text)
		return TRUE;
	if (!kmt_dat_clock_init(&r->clock, r->dat, buffer->clock, error))
		return FALSE;
	r->buffer = buffer;
	r->has_time = FALSE;
	r->first_ns = r->last_ns = 0;
	g_clear_pointer(&r->surveys, g_array_unref);
	if (!survey_all(r, error))
		return FALSE;
	for (guint i = 0; i < buffer->cpus->len; i++)
		if (!import_cpu(r, &g_array_index(buffer->cpus, KmtDatCpu, i),
				&g_array_index(r->surveys, KmtDatSurvey, i),
				error))
			return FALSE;
	return TRUE;
}

/* ---- buffers ---- */

static char *printed_name(const KmtDatBuffer *buffer)
{
	return *buffer->name ? g_strdup_printf("'%s'", buffer->name)
			     : g_strdup("of the whole machine");
}

/*
 * Write the name of the imported buffer to kmemtrace.meta, and add a note that
 * lists the other buffers.
 */
static void name_buffers(const KmtDatReader *r)
{
	g_autoptr(GString) other_buffers = g_string_new(NULL);
	g_autofree char *imported = printed_name(r->buffer);
	g_autofree char *note = NULL;

	for (guint i = 0; i < r->dat->buffers->len; i++) {
		const KmtDatBuffer *buffer = r->dat->buffers->pdata[i];
		g_autofree char *name = printed_name(buffer);

		if (buffer != r->buffer)
			g_string_append_printf(other_buffers, "%s%s",
					       other_buffers->len ? ", " : "",
					       name);
	}
	if (*r->buffer->name)
		g_key_file_set_string(kmt_import_meta(r->import),
				      KMT_IMPORT_GROUP, "buffer",
				      r->buffer->name);
	if (!other_buffers->len)
		return;
	note = g_strdup_printf("imported the buffer %s; the file also has the "
			       "buffer %s, which -B NAME imports",
			       imported, other_buffers->str);
	kmt_import_add_note(r->import, note);
}

/*
 * Import the buffer with this name. A NULL name selects the first buffer with
 * memory events.
 */
static gboolean read_buffers(KmtDatReader *r, const char *name, GError **error)
{
	gboolean found = FALSE;

	for (guint i = 0; i < r->dat->buffers->len; i++) {
		const KmtDatBuffer *buffer = r->dat->buffers->pdata[i];

		if (name ? !g_str_equal(buffer->name, name)
			 : kmt_import_memory_events(r->import) > 0)
			continue;
		found = TRUE;
		if (!read_buffer(r, buffer, error))
			return FALSE;
	}
	if (found || !name)
		return TRUE;
	g_set_error(error, KMT_IMPORT_ERROR, KMT_IMPORT_ERROR_INPUT,
		    "it has no buffer '%s': 'trace-cmd report' lists its "
		    "buffers",
		    name);
	return FALSE;
}

gboolean kmt_import_trace_dat(KmtImport *import, const char *path,
			      const char *buffer, GError **error)
{
	g_auto(KmtDatReader) r = {.import = import};

	r.dat = kmt_dat_file_open(path, error);
	if (!r.dat || !read_formats(&r, error) ||
	    !read_buffers(&r, buffer, error))
		return FALSE;
	if (r.buffer)
		name_buffers(&r);
	if (r.surveys)
		kmt_dat_note_cpus_without_events(&r);
	kmt_dat_describe(&r);
	kmt_dat_guess_task_filter(import);
	kmt_dat_name_tasks(r.dat, import);
	return kmt_dat_name_functions(r.dat, import, error);
}
