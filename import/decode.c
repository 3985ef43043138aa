// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <event-parse.h>

#include "import/decode.h"

/* Longer than any name of a cache. */
#define NAME_BYTES 256

typedef struct {
	KmtTracepoint *point;
	guint index;	/* in kmt_tracepoint_names */
	KmtField cache; /* where its name is: u16 offset, u16 length */
} Known;

struct KmtDecoder {
	KmtCommonFields common;
	GPtrArray *by_id; /* of Known, NULL where is none */
};

static void known_free(gpointer data)
{
	Known *known = data;

	if (!known)
		return;
	g_free(known->point);
	g_free(known);
}

static gboolean add(KmtDecoder *decoder, guint index, struct tep_event *event,
		    guint page_bytes, guint cpus, GError **error)
{
	const struct tep_format_field *cache = tep_find_field(event, "name");
	Known *known;
	KmtTracepoint *point =
		kmt_tracepoint_new(&kmt_tracepoint_names[index], event,
				   page_bytes, cpus, &decoder->common, error);

	if (!point)
		return FALSE;
	known = g_new0(Known, 1);
	known->point = point;
	known->index = index;
	if (cache && (cache->flags & TEP_FIELD_IS_DYNAMIC) &&
	    cache->size == 4 && cache->offset >= 0) {
		known->cache = (KmtField){(guint16)cache->offset, 4};
		point->min_bytes =
			MAX(point->min_bytes, (guint)cache->offset + 4);
	}
	if ((guint)event->id >= decoder->by_id->len)
		g_ptr_array_set_size(decoder->by_id, event->id + 1);
	known_free(decoder->by_id->pdata[event->id]);
	decoder->by_id->pdata[event->id] = known;
	return TRUE;
}

KmtDecoder *kmt_decoder_new(struct tep_handle *formats, guint page_bytes,
			    guint cpus, GError **error)
{
	g_autoptr(KmtDecoder) decoder = g_new0(KmtDecoder, 1);

	decoder->by_id = g_ptr_array_new_with_free_func(known_free);
	for (guint i = 0; i < kmt_n_tracepoint_names; i++) {
		const KmtTracepointName *name = &kmt_tracepoint_names[i];
		struct tep_event *event = tep_find_event_by_name(
			formats, name->system, name->name);

		if (event && event->id >= 0 && event->id <= G_MAXUINT16 &&
		    !add(decoder, i, event, page_bytes, cpus, error))
			return NULL;
	}
	return g_steal_pointer(&decoder);
}

void kmt_decoder_free(KmtDecoder *decoder)
{
	g_ptr_array_unref(decoder->by_id);
	g_free(decoder);
}

/* The name of its cache, in name; NULL: it has none. */
static const char *cache_name(const Known *known, const guint8 *data,
			      gsize n_bytes, char *name)
{
	guint32 place = (guint32)kmt_field_load(data, known->cache);
	gsize offset = place & G_MAXUINT16;
	gsize length = place >> 16;

	if (known->cache.size == 0 || length == 0 || length >= NAME_BYTES ||
	    offset > n_bytes || length > n_bytes - offset)
		return NULL;
	memcpy(name, data + offset, length);
	name[length] = '\0';
	return *name ? name : NULL;
}

static gboolean set_damaged(const Known *known, gsize n_bytes, GError **error)
{
	g_set_error(error, KMT_IMPORT_ERROR, KMT_IMPORT_ERROR_INPUT,
		    "it is damaged: an event of %s has %" G_GSIZE_FORMAT
		    " bytes, where its format says %u: record again",
		    known ? known->point->name : "some tracepoint", n_bytes,
		    known ? known->point->min_bytes : 2);
	return FALSE;
}

gboolean kmt_decoder_take(KmtDecoder *decoder, KmtImport *import, guint cpu,
			  gint64 time, const guint8 *data, gsize n_bytes,
			  GError **error)
{
	const KmtCommonFields *common = &decoder->common;
	KmtImportEvent event = {.cpu = cpu};
	char name[NAME_BYTES];
	const Known *known = NULL;
	guint64 id;

	if (n_bytes < common->bytes)
		return set_damaged(NULL, n_bytes, error);
	id = kmt_field_load(data, common->type);
	if (id < decoder->by_id->len)
		known = decoder->by_id->pdata[id];
	if (!known) {
		kmt_import_count_other(import);
		return TRUE;
	}
	if (n_bytes < known->point->min_bytes)
		return set_damaged(known, n_bytes, error);
	event.point = known->index;
	if (!kmt_tracepoint_convert(known->point, data, time, &event.record)) {
		kmt_import_count_no_memory(import, known->index);
		return TRUE;
	}
	event.pid = (guint32)kmt_field_load(data, common->pid);
	event.common_flags = (guint8)kmt_field_load(data, common->flags);
	event.cache = cache_name(known, data, n_bytes, name);
	return kmt_import_add(import, &event, error);
}
