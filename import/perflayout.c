// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <linux/perf_event.h>

#include "import/import.h"
#include "import/perflayout.h"

/* What a sample of a tracepoint needs to be of use. */
#define NEEDED (PERF_SAMPLE_RAW | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU)

typedef struct {
	guint64 sample_type;
	gboolean is_tracepoint;
	gboolean has_trailer;
} Layout;

typedef struct {
	guint64 id;
	guint index; /* of its event, in all */
} Id;

struct PerfLayouts {
	GArray *all; /* of Layout */
	GArray *ids; /* of Id, by id */
	/* Samples begin, and other records end, with the id. */
	gboolean identified;
};

static gboolean add_ids(PerfLayouts *l, KmtBytes file, guint64 offset,
			guint64 size, GError **error)
{
	/* No two events have the same bytes of the file. */
	guint64 most = MIN(file.left, G_MAXUINT32) / sizeof(guint64);

	if (size / sizeof(guint64) > most - l->ids->len)
		return kmt_import_fail(error,
				       "its list of events is damaged: record "
				       "again");
	kmt_bytes_take(&file, offset);
	for (; size >= sizeof(guint64); size -= sizeof(guint64)) {
		Id id = {kmt_bytes_64(&file), l->all->len - 1};

		if (!kmt_bytes_ok(&file))
			return kmt_import_fail(
				error, "its list of events is cut off: "
				       "copy it again, or record again");
		g_array_append_val(l->ids, id);
	}
	return TRUE;
}

static gint compare_ids(gconstpointer a, gconstpointer b)
{
	const Id *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

/* Each event is what the kernel was asked for, and where its ids are. */
static gboolean add_event(PerfLayouts *l, KmtBytes file, KmtBytes entry,
			  GError **error)
{
	gsize given = entry.left - 2 * sizeof(guint64);
	struct perf_event_attr attr = {0};
	guint64 offset, size;
	Layout layout;

	memcpy(&attr, kmt_bytes_take(&entry, given), MIN(given, sizeof(attr)));
	offset = kmt_bytes_64(&entry);
	size = kmt_bytes_64(&entry);
	layout = (Layout){attr.sample_type, attr.type == PERF_TYPE_TRACEPOINT,
			  attr.sample_id_all};
	if (layout.is_tracepoint && (attr.sample_type & NEEDED) != NEEDED)
		return kmt_import_fail(
			error, "its samples have no data, time or CPU: use "
			       "perf record -a -R -e 'kmem:*'");
	if (layout.is_tracepoint && (attr.sample_type & PERF_SAMPLE_READ))
		return kmt_import_fail(
			error, "its events were recorded as a group: use "
			       "perf record -a -e 'kmem:*', without braces");
	if (!(attr.sample_type & PERF_SAMPLE_IDENTIFIER))
		l->identified = FALSE;
	g_array_append_val(l->all, layout);
	return add_ids(l, file, offset, size, error);
}

/* Without an id in the samples all of them have to be alike. */
static gboolean are_alike(const PerfLayouts *l)
{
	for (guint i = 1; i < l->all->len; i++)
		if (g_array_index(l->all, Layout, i).sample_type !=
		    g_array_index(l->all, Layout, 0).sample_type)
			return FALSE;
	return TRUE;
}

static gboolean read_events(PerfLayouts *l, KmtBytes file, guint64 offset,
			    guint64 size, guint64 step, GError **error)
{
	KmtBytes list = file;
	guint64 n = step ? size / step : 0;

	kmt_bytes_take(&list, offset);
	if (step < PERF_ATTR_SIZE_VER0 + 2 * sizeof(guint64) || n == 0 ||
	    !kmt_bytes_ok(&list) || size > list.left)
		return kmt_import_fail(error,
				       "its list of events is damaged: record "
				       "again");
	l->identified = TRUE;
	while (n--) {
		KmtBytes entry = {kmt_bytes_take(&list, step), step};

		if (!add_event(l, file, entry, error))
			return FALSE;
	}
	g_array_sort(l->ids, compare_ids);
	if (l->identified || are_alike(l))
		return TRUE;
	return kmt_import_fail(error,
			       "its events have different layouts and no ids: "
			       "record them with one call of perf");
}

PerfLayouts *perf_layouts_new(const guint8 *file, gsize n_bytes, guint64 offset,
			      guint64 size, guint64 step, GError **error)
{
	PerfLayouts *l = g_new0(PerfLayouts, 1);

	l->all = g_array_new(FALSE, FALSE, sizeof(Layout));
	l->ids = g_array_new(FALSE, FALSE, sizeof(Id));
	if (read_events(l, (KmtBytes){file, n_bytes}, offset, size, step,
			error))
		return l;
	perf_layouts_free(l);
	return NULL;
}

void perf_layouts_free(PerfLayouts *l)
{
	if (!l)
		return;
	g_array_unref(l->all);
	g_array_unref(l->ids);
	g_free(l);
}

/* NULL: of an event that the file does not list. */
static const Layout *find(const PerfLayouts *l, guint64 id)
{
	const Id wanted = {.id = id};
	guint index = 0, found;

	if (l->identified) {
		if (!g_array_binary_search(l->ids, &wanted, compare_ids,
					   &found))
			return NULL;
		index = g_array_index(l->ids, Id, found).index;
	}
	return &g_array_index(l->all, Layout, index);
}

gboolean perf_layouts_sample(const PerfLayouts *l, KmtBytes b, PerfEntry *entry)
{
	guint64 id = l->identified ? kmt_bytes_64(&b) : 0;
	const Layout *layout = find(l, id);
	guint64 type;

	entry->kind = PERF_ENTRY_OTHER_SAMPLE;
	if (!layout || !layout->is_tracepoint)
		return kmt_bytes_ok(&b);
	entry->kind = PERF_ENTRY_SAMPLE;
	type = layout->sample_type;
	if (!l->identified && (type & PERF_SAMPLE_IDENTIFIER))
		kmt_bytes_64(&b);
	if (type & PERF_SAMPLE_IP)
		kmt_bytes_64(&b);
	if (type & PERF_SAMPLE_TID)
		kmt_bytes_64(&b);
	entry->time = (gint64)kmt_bytes_64(&b);
	if (type & PERF_SAMPLE_ADDR)
		kmt_bytes_64(&b);
	if (type & PERF_SAMPLE_ID)
		kmt_bytes_64(&b);
	if (type & PERF_SAMPLE_STREAM_ID)
		kmt_bytes_64(&b);
	entry->cpu = kmt_bytes_32(&b);
	kmt_bytes_32(&b);
	if (type & PERF_SAMPLE_PERIOD)
		kmt_bytes_64(&b);
	if (type & PERF_SAMPLE_CALLCHAIN) {
		guint64 n = kmt_bytes_64(&b);

		kmt_bytes_take(&b, n > b.left / 8 ? G_MAXUINT64 : n * 8);
	}
	entry->n_bytes = kmt_bytes_32(&b);
	entry->data = kmt_bytes_take(&b, entry->n_bytes);
	return entry->data != NULL;
}

void perf_layouts_trailer(const PerfLayouts *l, KmtBytes body, PerfEntry *entry)
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
	layout = find(l, id);
	if (!layout || !layout->has_trailer)
		return;
	for (guint i = 0; i < G_N_ELEMENTS(words); i++)
		n += (layout->sample_type & words[i]) ? sizeof(guint64) : 0;
	if (n > body.left)
		return;
	kmt_bytes_take(&body, body.left - n);
	for (guint i = 0; i < G_N_ELEMENTS(words); i++) {
		guint64 word;

		if (!(layout->sample_type & words[i]))
			continue;
		if (words[i] == PERF_SAMPLE_CPU) {
			entry->cpu = kmt_bytes_32(&body);
			kmt_bytes_32(&body);
			continue;
		}
		word = kmt_bytes_64(&body);
		if (words[i] == PERF_SAMPLE_TIME)
			entry->time = (gint64)word;
	}
}
