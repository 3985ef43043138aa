// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "import/dat-options.h"
#include "import/import.h"

/* Option numbers from trace-cmd.dat(5). */
enum {
	OPTION_DONE = 0,
	OPTION_DATE = 1,
	OPTION_CPUSTAT = 2,
	OPTION_BUFFER = 3,
	OPTION_TRACECLOCK = 4,
	OPTION_UNAME = 5,
	OPTION_OFFSET = 7,
	OPTION_CPUCOUNT = 8,
	OPTION_VERSION = 9,
	OPTION_TSC2NSEC = 14,
	OPTION_HEADER_INFO = 16,
	OPTION_EVENT_FORMATS = 18,
	OPTION_KALLSYMS = 19,
	OPTION_CMDLINES = 21,
};

#define NS_PER_US 1000

/*
 * An OPTION_CPUSTAT that begins with this text contains the name of the
 * instance to which the counters in the following options belong.
 */
#define STATS_OF_BUFFER "\nBuffer: "

typedef struct {
	char *buffer;
	KmtDatStats stats;
} PendingStats;

static void pending_free(gpointer data)
{
	PendingStats *pending = data;

	g_free(pending->buffer);
	g_free(pending);
}

void kmt_dat_options_clear(KmtDatOptions *options)
{
	g_free(options->clock);
	g_free(options->stats_buffer);
	if (options->stats)
		g_ptr_array_unref(options->stats);
}

/*
 * Find the line of text that begins with label, and read the number that
 * follows label. Returns FALSE if there is no such line or no number.
 */
static gboolean find_number(const char *text, const char *label, guint64 *value)
{
	gsize n = strlen(label);

	for (const char *line = text; *line;) {
		const char *end = strchr(line, '\n');

		if (strncmp(line, label, n) == 0)
			return sscanf(line + n, ": %" G_GINT64_MODIFIER "u",
				      value) == 1;
		if (!end)
			break;
		line = end + 1;
	}
	return FALSE;
}

/*
 * Parse the text of a per_cpu/cpuN/stats file, or the name of the instance that
 * the next stats belong to.
 */
static void read_stats(KmtDatOptions *options, const char *text)
{
	KmtDatStats stats = {0};
	guint64 cpu, unread, read, overrun, commit, dropped = 0;
	PendingStats *pending;

	if (g_str_has_prefix(text, STATS_OF_BUFFER)) {
		const char *name = text + strlen(STATS_OF_BUFFER);

		g_free(options->stats_buffer);
		options->stats_buffer = g_strndup(name, strcspn(name, "\n"));
		return;
	}
	if (!find_number(text, "CPU", &cpu) || cpu >= KMT_IMPORT_MAX_CPUS)
		return;
	stats.cpu = (guint)cpu;
	/* trace-cmd stored both counters at the end of the recording, before
	 * trace-cmd read the last pages. The events in these pages count in
	 * "entries". */
	stats.has_events = find_number(text, "entries", &unread) &&
			   find_number(text, "read events", &read);
	if (stats.has_events)
		stats.events = kmt_add_saturating(unread, read);
	stats.has_lost = find_number(text, "overrun", &overrun) &&
			 find_number(text, "commit overrun", &commit);
	if (stats.has_lost) {
		find_number(text, "dropped events", &dropped);
		stats.overrun = overrun;
		stats.other = kmt_add_saturating(commit, dropped);
	}
	if (!options->stats)
		options->stats = g_ptr_array_new_with_free_func(pending_free);
	pending = g_new0(PendingStats, 1);
	pending->buffer =
		g_strdup(options->stats_buffer ? options->stats_buffer : "");
	pending->stats = stats;
	g_ptr_array_add(options->stats, pending);
}

/*
 * Return the selected clock of a trace_clock file such as "[local] global". The
 * caller frees the string.
 */
static char *selected_clock(const char *text)
{
	const char *begin = strchr(text, '['), *end;

	end = begin ? strchr(begin, ']') : NULL;
	return end ? g_strndup(begin + 1, (gsize)(end - begin - 1)) : NULL;
}

/*
 * Read the option of a buffer. Returns FALSE if the option is damaged or the
 * file has too many buffers.
 */
static gboolean read_buffer(KmtDatOptions *options, KmtDatFile *dat,
			    KmtByteSpan b)
{
	guint64 section = kmt_byte_span_64(&b);
	const char *name = kmt_byte_span_string(&b);
	KmtDatBuffer *buffer;
	guint32 n;

	if (!name)
		return FALSE;
	buffer = options->add_buffer(dat, name);
	if (!buffer)
		return FALSE;
	buffer->section = section;
	if (dat->version < 7)
		return TRUE;
	buffer->clock = g_strdup(kmt_byte_span_string(&b));
	buffer->page_bytes = kmt_byte_span_32(&b);
	n = kmt_byte_span_32(&b);
	while (n-- && kmt_byte_span_ok(&b)) {
		KmtDatCpu cpu;

		cpu.cpu = kmt_byte_span_32(&b);
		cpu.offset = kmt_byte_span_64(&b);
		cpu.size = kmt_byte_span_64(&b);
		if (!kmt_byte_span_ok(&b) || cpu.cpu >= KMT_IMPORT_MAX_CPUS)
			return FALSE;
		g_array_append_val(buffer->cpus, cpu);
	}
	return kmt_byte_span_ok(&b) && buffer->page_bytes >= 512 &&
	       buffer->page_bytes <= 1U << 20;
}

static void set_text(char **to, const char *text)
{
	g_free(*to);
	*to = g_strdup(text);
}

/*
 * Add the value of a time option, in units of unit_ns, to the shift of all
 * timestamps. The sum saturates.
 */
static void add_time_shift(KmtDatFile *dat, const char *text, gint64 unit_ns)
{
	gint64 ns, value = g_ascii_strtoll(text, NULL, 0);

	if (__builtin_mul_overflow(value, unit_ns, &ns))
		ns = value < 0 ? G_MININT64 : G_MAXINT64;
	if (__builtin_add_overflow(dat->time_shift, ns, &dat->time_shift))
		dat->time_shift = ns < 0 ? G_MININT64 : G_MAXINT64;
}

static void read_text_option(KmtDatOptions *options, KmtDatFile *dat, guint id,
			     const char *text)
{
	switch (id) {
	case OPTION_DATE:
		add_time_shift(dat, text, NS_PER_US);
		break;
	case OPTION_OFFSET:
		add_time_shift(dat, text, 1);
		break;
	case OPTION_CPUSTAT:
		read_stats(options, text);
		break;
	case OPTION_TRACECLOCK:
		g_free(options->clock);
		options->clock = selected_clock(text);
		break;
	case OPTION_UNAME:
		set_text(&dat->uname, text);
		break;
	case OPTION_VERSION:
		set_text(&dat->recorder, text);
		break;
	default:
		break;
	}
}

static gboolean read_option(KmtDatOptions *options, KmtDatFile *dat, guint id,
			    KmtByteSpan b)
{
	g_autofree char *text = NULL;

	switch (id) {
	case OPTION_BUFFER:
		return read_buffer(options, dat, b);
	case OPTION_CPUCOUNT:
		dat->n_cpus = kmt_byte_span_32(&b);
		break;
	case OPTION_TSC2NSEC:
		dat->tsc_mult = kmt_byte_span_32(&b);
		dat->tsc_shift = kmt_byte_span_32(&b);
		break;
	case OPTION_HEADER_INFO:
		options->page_header = kmt_byte_span_64(&b);
		break;
	case OPTION_EVENT_FORMATS:
		options->formats = kmt_byte_span_64(&b);
		break;
	case OPTION_KALLSYMS:
		options->kallsyms = kmt_byte_span_64(&b);
		break;
	case OPTION_CMDLINES:
		options->tasks = kmt_byte_span_64(&b);
		break;
	default:
		text = g_strndup((const char *)b.next, b.left);
		read_text_option(options, dat, id, text);
		break;
	}
	return kmt_byte_span_ok(&b);
}

static guint16 read_id(KmtByteSpan *b)
{
	const guint8 *p = kmt_byte_span_consume(b, sizeof(guint16));
	guint16 id = OPTION_DONE;

	if (p)
		memcpy(&id, p, sizeof(id));
	return id;
}

gboolean kmt_dat_options_read(KmtDatOptions *options, KmtDatFile *dat,
			      KmtByteSpan *b, guint64 *next)
{
	while (kmt_byte_span_ok(b)) {
		guint16 id = read_id(b);
		guint32 n;
		KmtByteSpan data;

		if (id == OPTION_DONE && !next)
			return kmt_byte_span_ok(b);
		n = kmt_byte_span_32(b);
		data = (KmtByteSpan){kmt_byte_span_consume(b, n), n};
		if (!kmt_byte_span_ok(b))
			return FALSE;
		if (id == OPTION_DONE) {
			*next = kmt_byte_span_64(&data);
			return kmt_byte_span_ok(&data);
		}
		if (!read_option(options, dat, id, data))
			return FALSE;
	}
	return FALSE;
}

static KmtDatBuffer *find_buffer(const KmtDatFile *dat, const char *name)
{
	for (guint i = 0; i < dat->buffers->len; i++) {
		KmtDatBuffer *buffer = dat->buffers->pdata[i];

		if (g_str_equal(buffer->name, name))
			return buffer;
	}
	return NULL;
}

void kmt_dat_options_apply(const KmtDatOptions *options, KmtDatFile *dat)
{
	for (guint i = 0; options->stats && i < options->stats->len; i++) {
		const PendingStats *pending = options->stats->pdata[i];
		KmtDatBuffer *buffer = find_buffer(dat, pending->buffer);

		if (buffer && !kmt_dat_buffer_stats(buffer, pending->stats.cpu))
			g_hash_table_insert(
				buffer->stats,
				GUINT_TO_POINTER(pending->stats.cpu),
				g_memdup2(&pending->stats,
					  sizeof(pending->stats)));
	}
	for (guint i = 0; i < dat->buffers->len; i++) {
		KmtDatBuffer *buffer = dat->buffers->pdata[i];

		if (!buffer->clock)
			buffer->clock = g_strdup(options->clock);
	}
}
