// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <linux/perf_event.h>
#include <string.h>

#include "bench/perfdata.h"
#include "bench/sink.h"

/* perf's own, see tools/perf/Documentation/perf.data-file-format.txt. */
#define MAGIC		       "PERFILE2"
#define FEATURE_TRACING_DATA   1
#define PERF_RECORD_USER_FIRST 64
#define PERF_RECORD_COMPRESSED 81

typedef struct {
	guint64 offset;
	guint64 size;
} Section;

typedef struct {
	char magic[8];
	guint64 size;
	guint64 attr_size;
	Section attrs;
	Section data;
	Section event_types;
	guint64 features[4];
} FileHeader;

struct PerfData {
	GMappedFile *file;
	const guint8 *bytes;
	gsize size;
	char *formats; /* of the tracepoints: text with other bytes between */
	guint64 sample_type;
	const guint8 *next, *end; /* of the records */
	guint64 lost, lost_samples;
};

static void set_error(GError **error, const char *what)
{
	g_set_error(error, BENCH_ERROR, 0, "%s", what);
}

/* The bytes of a section; NULL: it is not within the file. */
static const guint8 *section(const PerfData *d, Section s)
{
	if (s.offset > d->size || s.size > d->size - s.offset)
		return NULL;
	return d->bytes + s.offset;
}

/* All events must have the same layout: then no id has to be looked up. */
static gboolean read_attrs(PerfData *d, const FileHeader *header,
			   GError **error)
{
	const guint8 *p = section(d, header->attrs);
	guint64 step = header->attr_size, i;
	struct perf_event_attr attr;
	gsize known = MIN(sizeof(attr), step);

	if (!p || step < PERF_ATTR_SIZE_VER0 || header->attrs.size < step) {
		set_error(error, "its list of events is damaged");
		return FALSE;
	}
	for (i = 0; i < header->attrs.size / step; i++) {
		memset(&attr, 0, sizeof(attr));
		memcpy(&attr, p + i * step, known);
		/* Other events, of which perf adds some, have no samples. */
		if (attr.type != PERF_TYPE_TRACEPOINT)
			continue;
		if (d->sample_type && d->sample_type != attr.sample_type) {
			set_error(error, "its events have different layouts: "
					 "record them with one call of perf");
			return FALSE;
		}
		d->sample_type = attr.sample_type;
	}
	if ((d->sample_type & PERF_SAMPLE_RAW) &&
	    (d->sample_type & PERF_SAMPLE_TIME) &&
	    (d->sample_type & PERF_SAMPLE_CPU) &&
	    (d->sample_type & PERF_SAMPLE_IP) &&
	    !(d->sample_type & PERF_SAMPLE_READ))
		return TRUE;
	set_error(error, "its samples have no raw data, time, CPU or ip: use "
			 "perf record -a -e 'kmem:*'");
	return FALSE;
}

/* The text of the formats, which no other text of the section looks like. */
static gboolean read_formats(PerfData *d, const FileHeader *header,
			     GError **error)
{
	Section table = {header->data.offset + header->data.size,
			 sizeof(Section)};
	const guint8 *p;
	Section s;
	gsize i;

	/* Sections are in the order of their features; there is no feature
	 * 0. */
	if (!(header->features[0] & 1 << FEATURE_TRACING_DATA) ||
	    (header->features[0] & 1) || !(p = section(d, table))) {
		set_error(error, "it has no tracepoints");
		return FALSE;
	}
	memcpy(&s, p, sizeof(s));
	p = section(d, s);
	if (!p) {
		set_error(error, "its formats of tracepoints are cut off");
		return FALSE;
	}
	d->formats = g_malloc(s.size + 1);
	for (i = 0; i < s.size; i++)
		d->formats[i] = p[i] ? (char)p[i] : ' ';
	d->formats[s.size] = '\0';
	return TRUE;
}

static gboolean read_header(PerfData *d, GError **error)
{
	FileHeader header;

	if (d->size < sizeof(header)) {
		set_error(error, "it is too short");
		return FALSE;
	}
	memcpy(&header, d->bytes, sizeof(header));
	if (memcmp(header.magic, MAGIC, sizeof(header.magic)) != 0) {
		set_error(error, "it is no perf.data of this machine's byte "
				 "order");
		return FALSE;
	}
	d->next = section(d, header.data);
	if (!d->next || !header.data.size) {
		set_error(error, "it has no samples, or is cut off");
		return FALSE;
	}
	d->end = d->next + header.data.size;
	return read_attrs(d, &header, error) && read_formats(d, &header, error);
}

PerfData *perf_data_open(const char *path, GError **error)
{
	g_autoptr(PerfData) d = g_new0(PerfData, 1);

	d->file = g_mapped_file_new(path, FALSE, error);
	if (!d->file)
		return NULL;
	d->bytes = (const guint8 *)g_mapped_file_get_contents(d->file);
	d->size = g_mapped_file_get_length(d->file);
	if (read_header(d, error))
		return g_steal_pointer(&d);
	g_prefix_error(error, "cannot read %s: ", path);
	return NULL;
}

void perf_data_free(PerfData *d)
{
	if (!d)
		return;
	if (d->file)
		g_mapped_file_unref(d->file);
	g_free(d->formats);
	g_free(d);
}

/* The format of an event, NULL: it has none. */
static const char *find_format(const PerfData *d, const char *event)
{
	g_autofree char *head = g_strdup_printf("name: %s\nID: ", event);
	const char *found = strstr(d->formats, head);

	return found ? found + strlen(head) : NULL;
}

gint perf_data_event_id(const PerfData *d, const char *name)
{
	const char *format = find_format(d, name);

	return format ? (gint)g_ascii_strtoll(format, NULL, 10) : -1;
}

/* "\tfield:unsigned long call_site;\toffset:8;\tsize:8;\tsigned:0;" */
PerfField perf_data_field(const PerfData *d, const char *event,
			  const char *field)
{
	g_autofree char *end = g_strdup_printf(" %s;\toffset:", field);
	const char *format = find_format(d, event);
	const char *stop = format ? strstr(format, "print fmt:") : NULL;
	const char *p = format ? strstr(format, end) : NULL;
	PerfField result = {0};
	char *size;

	if (!p || (stop && p > stop))
		return result;
	result.offset = (guint)g_ascii_strtoull(p + strlen(end), &size, 10);
	if (g_str_has_prefix(size, ";\tsize:"))
		result.size = (guint)g_ascii_strtoull(size + strlen(";\tsize:"),
						      NULL, 10);
	return result;
}

static guint64 take64(const guint8 **p)
{
	guint64 value;

	memcpy(&value, *p, sizeof(value));
	*p += sizeof(value);
	return value;
}

/* FALSE: the record is too short for what it should have. */
static gboolean parse_sample(const PerfData *d, const guint8 *p,
			     const guint8 *end, PerfSample *sample)
{
	static const guint64 skipped_before_cpu[] = {
		PERF_SAMPLE_ADDR, PERF_SAMPLE_ID, PERF_SAMPLE_STREAM_ID};
	guint64 type = d->sample_type;
	guint16 id;
	guint32 raw_size;
	guint i;

	/* The fixed part has 9 words at most. */
	if (end - p < (gssize)(9 * sizeof(guint64)))
		return FALSE;
	if (type & PERF_SAMPLE_IDENTIFIER)
		take64(&p);
	sample->ip = take64(&p);
	if (type & PERF_SAMPLE_TID)
		take64(&p);
	sample->time = (gint64)take64(&p);
	for (i = 0; i < G_N_ELEMENTS(skipped_before_cpu); i++)
		if (type & skipped_before_cpu[i])
			take64(&p);
	sample->cpu = (guint32)take64(&p);
	if (type & PERF_SAMPLE_PERIOD)
		take64(&p);
	if (type & PERF_SAMPLE_CALLCHAIN) {
		guint64 n = take64(&p);

		if (n > (guint64)(end - p) / sizeof(guint64))
			return FALSE;
		p += n * sizeof(guint64);
	}
	if (end - p < (gssize)(sizeof(raw_size) + sizeof(id)))
		return FALSE;
	memcpy(&raw_size, p, sizeof(raw_size));
	p += sizeof(raw_size);
	if (raw_size > end - p)
		return FALSE;
	memcpy(&id, p, sizeof(id));
	sample->id = id;
	sample->raw = p;
	sample->raw_size = raw_size;
	return TRUE;
}

gboolean perf_data_next(PerfData *d, PerfSample *sample, GError **error)
{
	struct perf_event_header header;
	const guint8 *p;

	while (d->end - d->next >= (gssize)sizeof(header)) {
		memcpy(&header, d->next, sizeof(header));
		p = d->next + sizeof(header);
		if (header.size < sizeof(header) ||
		    header.size > d->end - d->next ||
		    header.type == PERF_RECORD_COMPRESSED) {
			set_error(error, "perf.data is damaged, or compressed");
			return FALSE;
		}
		d->next += header.size;
		if (header.type == PERF_RECORD_SAMPLE) {
			if (parse_sample(d, p, d->next, sample))
				return TRUE;
			set_error(error, "perf.data has a sample that is too "
					 "short");
			return FALSE;
		}
		if (header.type == PERF_RECORD_LOST &&
		    d->next - p >= (gssize)(2 * sizeof(guint64))) {
			take64(&p);
			d->lost += take64(&p);
		} else if (header.type == PERF_RECORD_LOST_SAMPLES &&
			   d->next - p >= (gssize)sizeof(guint64)) {
			d->lost_samples += take64(&p);
		}
	}
	return FALSE;
}

guint64 perf_data_lost(const PerfData *d)
{
	/* The same ones, told by the kernel and by perf. */
	return MAX(d->lost, d->lost_samples);
}

guint64 perf_sample_field(const PerfSample *sample, PerfField field)
{
	guint64 value = 0;

	if (field.size > sizeof(value) ||
	    field.offset + field.size > sample->raw_size)
		return 0;
#if G_BYTE_ORDER == G_LITTLE_ENDIAN
	memcpy(&value, sample->raw + field.offset, field.size);
#else
	memcpy((guint8 *)&value + sizeof(value) - field.size,
	       sample->raw + field.offset, field.size);
#endif
	return value;
}
