// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "import/import.h"
#include "import/perf-layout.h"

/* Parts that a sample of a tracepoint must have to be imported. */
#define REQUIRED_PARTS (PERF_SAMPLE_RAW | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU)

/* PERF_FORMAT_LOST, which is missing in headers before Linux 6.0. */
#define FORMAT_LOST (1U << 4)

/* Parts of a sample that follow the raw data. */
#define PARTS_AFTER_DATA                                                       \
	(~(guint64)(PERF_SAMPLE_RAW | (PERF_SAMPLE_RAW - 1)) &                 \
	 ~(guint64)PERF_SAMPLE_IDENTIFIER)

/* Size of the common fields at the start of all tracepoint data. */
#define COMMON_BYTES 8

typedef struct {
	struct perf_event_attr attr;
	guint n_ids;
	gboolean is_tracepoint;
} Layout;

typedef struct {
	guint64 id;
	guint index; /* index of the event in layouts */
} Id;

struct KmtPerfLayouts {
	GArray *layouts; /* Layout */
	GArray *ids;	 /* Id, sorted by id */
	/* Samples begin, and other records end, with the event ID. */
	gboolean has_leading_id;
};

static const Layout *layout_at(const KmtPerfLayouts *l, guint index)
{
	return &g_array_index(l->layouts, Layout, index);
}

static gboolean add_ids(KmtPerfLayouts *l, KmtByteSpan ids, gsize file_bytes,
			GError **error)
{
	/* The IDs of two events do not overlap in the file, so their number is
	 * bounded by the file size. */
	gsize max_ids = MIN(file_bytes, G_MAXUINT32) / sizeof(guint64);

	if (ids.left / sizeof(guint64) > max_ids - l->ids->len)
		return kmt_import_fail(error,
				       "its list of events is damaged: record "
				       "again");
	while (ids.left >= sizeof(guint64)) {
		Id id = {kmt_byte_span_64(&ids), l->layouts->len - 1};

		g_array_append_val(l->ids, id);
	}
	return TRUE;
}

static gint compare_ids(gconstpointer a, gconstpointer b)
{
	const Id *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

gboolean kmt_perf_layouts_add(KmtPerfLayouts *l, KmtByteSpan bytes,
			      KmtByteSpan ids, gsize file_bytes, GError **error)
{
	Layout layout = {.n_ids = (guint)(ids.left / sizeof(guint64))};
	struct perf_event_attr *attr = &layout.attr;

	memcpy(attr, bytes.next, MIN(bytes.left, sizeof(*attr)));
	layout.is_tracepoint = attr->type == PERF_TYPE_TRACEPOINT;
	if (layout.is_tracepoint &&
	    (attr->sample_type & REQUIRED_PARTS) != REQUIRED_PARTS)
		return kmt_import_fail(
			error, "its samples have no data, time or CPU: use "
			       "perf record -a -R -e 'kmem:*'");
	g_array_append_val(l->layouts, layout);
	return add_ids(l, ids, file_bytes, error);
}

/*
 * Return whether all events have the same layout. Without an ID in the samples,
 * the parser cannot distinguish different layouts.
 */
static gboolean have_equal_layouts(const KmtPerfLayouts *l)
{
	for (guint i = 1; i < l->layouts->len; i++)
		if (layout_at(l, i)->attr.sample_type !=
			    layout_at(l, 0)->attr.sample_type ||
		    layout_at(l, i)->attr.read_format !=
			    layout_at(l, 0)->attr.read_format)
			return FALSE;
	return TRUE;
}

gboolean kmt_perf_layouts_finish(KmtPerfLayouts *l, GError **error)
{
	l->has_leading_id = TRUE;
	for (guint i = 0; i < l->layouts->len; i++)
		l->has_leading_id = l->has_leading_id &&
				    (layout_at(l, i)->attr.sample_type &
				     PERF_SAMPLE_IDENTIFIER);
	g_array_sort(l->ids, compare_ids);
	if (l->has_leading_id || have_equal_layouts(l))
		return TRUE;
	return kmt_import_fail(error,
			       "its events have different layouts and no ids: "
			       "record them with one call of perf");
}

KmtPerfLayouts *kmt_perf_layouts_new(void)
{
	KmtPerfLayouts *l = g_new0(KmtPerfLayouts, 1);

	l->layouts = g_array_new(FALSE, FALSE, sizeof(Layout));
	l->ids = g_array_new(FALSE, FALSE, sizeof(Id));
	return l;
}

void kmt_perf_layouts_free(KmtPerfLayouts *l)
{
	if (!l)
		return;
	g_array_unref(l->layouts);
	g_array_unref(l->ids);
	g_free(l);
}

guint kmt_perf_layouts_count(const KmtPerfLayouts *l)
{
	return l->layouts->len;
}

const struct perf_event_attr *kmt_perf_layouts_attr(const KmtPerfLayouts *l,
						    guint index)
{
	return &layout_at(l, index)->attr;
}

guint kmt_perf_layouts_n_ids(const KmtPerfLayouts *l, guint index)
{
	return layout_at(l, index)->n_ids;
}

gboolean kmt_perf_layouts_equal(const KmtPerfLayouts *a,
				const KmtPerfLayouts *b)
{
	if (a->layouts->len != b->layouts->len || a->ids->len != b->ids->len)
		return FALSE;
	for (guint i = 0; i < a->layouts->len; i++)
		if (memcmp(&layout_at(a, i)->attr, &layout_at(b, i)->attr,
			   sizeof(struct perf_event_attr)) != 0)
			return FALSE;
	for (guint i = 0; i < a->ids->len; i++)
		if (g_array_index(a->ids, Id, i).id !=
		    g_array_index(b->ids, Id, i).id)
			return FALSE;
	return TRUE;
}

/*
 * Return the layout of the event with this ID, or NULL if the file does not
 * list the event. Without leading IDs, all events have the layout of the first.
 */
static const Layout *find_layout(const KmtPerfLayouts *l, guint64 id)
{
	const Id wanted = {.id = id};
	guint index = 0, found;

	if (l->has_leading_id) {
		if (!g_array_binary_search(l->ids, &wanted, compare_ids,
					   &found))
			return NULL;
		index = g_array_index(l->ids, Id, found).index;
	}
	return &g_array_index(l->layouts, Layout, index);
}

/*
 * Skip the counter values of an event group, which a sample has if perf
 * recorded with :S.
 */
static void skip_counters(KmtByteSpan *b, guint64 format)
{
	guint64 n = 1, words = 1;

	if (format & PERF_FORMAT_GROUP)
		n = kmt_byte_span_64(b);
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		kmt_byte_span_64(b);
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		kmt_byte_span_64(b);
	if (format & PERF_FORMAT_ID)
		words++;
	if (format & FORMAT_LOST)
		words++;
	n = n > b->left ? G_MAXUINT64 : n * words * sizeof(guint64);
	kmt_byte_span_consume(b, n);
}

static void consume_callchain(KmtByteSpan *b, KmtPerfEntry *entry)
{
	guint64 n = kmt_byte_span_64(b);

	entry->chain.left = n > b->left / 8 ? 0 : n * 8;
	entry->chain.next =
		kmt_byte_span_consume(b, n > b->left / 8 ? G_MAXUINT64 : n * 8);
}

/*
 * Parse the bytes b of a sample, without the leading event ID if samples have
 * one. Returns the unparsed rest.
 */
static KmtByteSpan parse_sample(const KmtPerfLayouts *l, const Layout *layout,
				KmtByteSpan b, KmtPerfEntry *entry)
{
	guint64 type = layout->attr.sample_type;

	entry->kind = KMT_PERF_ENTRY_SAMPLE;
	if (!l->has_leading_id && (type & PERF_SAMPLE_IDENTIFIER))
		kmt_byte_span_64(&b);
	if (type & PERF_SAMPLE_IP)
		kmt_byte_span_64(&b);
	if (type & PERF_SAMPLE_TID)
		kmt_byte_span_64(&b);
	entry->time = (gint64)kmt_byte_span_64(&b);
	if (type & PERF_SAMPLE_ADDR)
		kmt_byte_span_64(&b);
	if (type & PERF_SAMPLE_ID)
		kmt_byte_span_64(&b);
	if (type & PERF_SAMPLE_STREAM_ID)
		kmt_byte_span_64(&b);
	entry->cpu = kmt_byte_span_32(&b);
	kmt_byte_span_32(&b);
	if (type & PERF_SAMPLE_PERIOD)
		kmt_byte_span_64(&b);
	if (type & PERF_SAMPLE_READ)
		skip_counters(&b, layout->attr.read_format);
	if (type & PERF_SAMPLE_CALLCHAIN)
		consume_callchain(&b, entry);
	entry->n_bytes = kmt_byte_span_32(&b);
	entry->data = kmt_byte_span_consume(&b, entry->n_bytes);
	return b;
}

gboolean kmt_perf_layouts_sample(const KmtPerfLayouts *l, KmtByteSpan b,
				 KmtPerfEntry *entry)
{
	guint64 id = l->has_leading_id ? kmt_byte_span_64(&b) : 0;
	const Layout *layout = find_layout(l, id);

	/* The list of events contains the ID of each event with samples, so a
	 * sample with any other ID is damaged. */
	if (!layout)
		return FALSE;
	entry->kind = KMT_PERF_ENTRY_OTHER_SAMPLE;
	if (!layout->is_tracepoint)
		return kmt_byte_span_ok(&b);
	parse_sample(l, layout, b, entry);
	return entry->data != NULL;
}

gboolean kmt_perf_layouts_is_sample(const KmtPerfLayouts *l, KmtByteSpan b)
{
	guint64 id = l->has_leading_id ? kmt_byte_span_64(&b) : 0;
	const Layout *layout = find_layout(l, id);
	KmtPerfEntry entry = {0};
	KmtByteSpan rest;

	if (!layout || !layout->is_tracepoint)
		return FALSE;
	rest = parse_sample(l, layout, b, &entry);
	/*
	 * In a sample, the raw data end where the record ends, unless
	 * sample_type selects parts that follow the raw data. An undamaged
	 * record of another type does not both begin with an event ID and meet
	 * these conditions.
	 */
	return entry.data && entry.n_bytes >= COMMON_BYTES &&
	       entry.cpu < KMT_IMPORT_MAX_CPUS &&
	       (rest.left < sizeof(guint64) ||
		(l->has_leading_id &&
		 (layout->attr.sample_type & PARTS_AFTER_DATA)));
}

void kmt_perf_layouts_trailer(const KmtPerfLayouts *l, KmtByteSpan body,
			      KmtPerfEntry *entry)
{
	static const guint64 words[] = {
		PERF_SAMPLE_TID,       PERF_SAMPLE_TIME, PERF_SAMPLE_ID,
		PERF_SAMPLE_STREAM_ID, PERF_SAMPLE_CPU,	 PERF_SAMPLE_IDENTIFIER,
	};
	const Layout *layout;
	guint64 id = 0;
	gsize n = 0;

	if (body.left < sizeof(id))
		return;
	memcpy(&id, body.next + body.left - sizeof(id), sizeof(id));
	layout = find_layout(l, id);
	if (!layout || !layout->attr.sample_id_all)
		return;
	for (guint i = 0; i < G_N_ELEMENTS(words); i++)
		n += (layout->attr.sample_type & words[i]) ? sizeof(guint64)
							   : 0;
	if (n > body.left)
		return;
	kmt_byte_span_consume(&body, body.left - n);
	for (guint i = 0; i < G_N_ELEMENTS(words); i++) {
		guint64 word;

		if (!(layout->attr.sample_type & words[i]))
			continue;
		if (words[i] == PERF_SAMPLE_CPU) {
			entry->cpu = kmt_byte_span_32(&body);
			kmt_byte_span_32(&body);
			continue;
		}
		word = kmt_byte_span_64(&body);
		if (words[i] == PERF_SAMPLE_TIME)
			entry->time = (gint64)word;
		if (words[i] == PERF_SAMPLE_ID ||
		    words[i] == PERF_SAMPLE_IDENTIFIER)
			entry->id = word;
	}
}
