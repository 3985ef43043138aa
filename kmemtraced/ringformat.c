// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kmemtraced/error.h"
#include "kmemtraced/ringformat.h"

const KmtTracepointName kmt_tracepoint_names[] = {
	{"kmalloc", KMEMTRACE_EVENT_ALLOC, KMEMTRACE_TYPE_KMALLOC, FALSE},
	{"kmalloc_node", KMEMTRACE_EVENT_ALLOC, KMEMTRACE_TYPE_KMALLOC, TRUE},
	{"kfree", KMEMTRACE_EVENT_FREE, KMEMTRACE_TYPE_KMALLOC, FALSE},
	{"kmem_cache_alloc", KMEMTRACE_EVENT_ALLOC, KMEMTRACE_TYPE_CACHE,
	 FALSE},
	{"kmem_cache_alloc_node", KMEMTRACE_EVENT_ALLOC, KMEMTRACE_TYPE_CACHE,
	 TRUE},
	{"kmem_cache_free", KMEMTRACE_EVENT_FREE, KMEMTRACE_TYPE_CACHE, FALSE},
	{"mm_page_alloc", KMEMTRACE_EVENT_ALLOC, KMEMTRACE_TYPE_PAGES, FALSE},
	{"mm_page_free", KMEMTRACE_EVENT_FREE, KMEMTRACE_TYPE_PAGES, FALSE},
};
const guint kmt_n_tracepoint_names = G_N_ELEMENTS(kmt_tracepoint_names);

#ifdef HAVE_TRACEEVENT

#include <event-parse.h>

/* Of a page: its time. */
#define TIME_BYTES 8

static gboolean is_number_size(int size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

/* "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;" */
static gboolean find_header_field(const char *text, const char *name,
				  guint *offset, guint *size)
{
	g_autofree char *end = g_strdup_printf(" %s;", name);
	const char *p = strstr(text, end);

	return p && sscanf(p + strlen(end), " offset:%u; size:%u;", offset,
			   size) == 2;
}

static gboolean read_header(KmtRingFormat *format, KmtFormatReader reader,
			    gpointer data, GError **error)
{
	g_autoptr(GError) problem = NULL;
	g_autofree char *text = reader(data, "header_page", &problem);
	guint time_offset, time_bytes, data_bytes;

	if (problem) {
		g_propagate_error(error, g_steal_pointer(&problem));
		return FALSE;
	}
	if (text &&
	    find_header_field(text, "timestamp", &time_offset, &time_bytes) &&
	    find_header_field(text, "commit", &format->commit_offset,
			      &format->commit_bytes) &&
	    find_header_field(text, "data", &format->data_offset,
			      &data_bytes) &&
	    time_offset == 0 && time_bytes == TIME_BYTES &&
	    (format->commit_bytes == 4 || format->commit_bytes == 8) &&
	    format->commit_offset + format->commit_bytes <=
		    format->data_offset &&
	    format->data_offset <= 64 && data_bytes >= 256 &&
	    data_bytes <= 1U << 26) {
		format->page_bytes = format->data_offset + data_bytes;
		return TRUE;
	}
	g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_FIELD,
		    "events/header_page does not tell how the pages of the "
		    "ring buffer begin");
	return FALSE;
}

static gboolean set_error_field(GError **error, const char *point,
				const char *field, const char *why)
{
	g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_FIELD,
		    "the tracepoint kmem:%s of this kernel has %s '%s'", point,
		    why, field);
	return FALSE;
}

/* A field that is optional and absent stays as it is: of size 0. */
static gboolean take(const struct tep_format_field *from, const char *point,
		     const char *name, gboolean optional, KmtField *field,
		     guint *min_bytes, GError **error)
{
	if (!from)
		return optional ||
		       set_error_field(error, point, name, "no field");
	if ((from->flags & (TEP_FIELD_IS_ARRAY | TEP_FIELD_IS_DYNAMIC |
			    TEP_FIELD_IS_STRING)) ||
	    !is_number_size(from->size) || from->offset < 0 ||
	    from->offset > G_MAXUINT16)
		return set_error_field(error, point, name,
				       "no number in its field");
	field->offset = (guint16)from->offset;
	field->size = (guint16)from->size;
	*min_bytes = MAX(*min_bytes, (guint)(from->offset + from->size));
	return TRUE;
}

static gboolean take_common(struct tep_event *event, KmtRingFormat *format,
			    const char *name, GError **error)
{
	const struct {
		const char *name;
		KmtField *field;
	} fields[] = {
		{"common_type", &format->type},
		{"common_flags", &format->flags},
		{"common_pid", &format->pid},
	};

	for (gsize i = 0; i < G_N_ELEMENTS(fields); i++)
		if (!take(tep_find_common_field(event, fields[i].name), name,
			  fields[i].name, FALSE, fields[i].field,
			  &format->common_bytes, error))
			return FALSE;
	return TRUE;
}

static gboolean take_fields(struct tep_event *event, KmtTracepoint *point,
			    GError **error)
{
	gboolean pages = point->type_id == KMEMTRACE_TYPE_PAGES;
	gboolean alloc = point->event_id == KMEMTRACE_EVENT_ALLOC;
	const struct {
		const char *name;
		gboolean wanted;
		gboolean optional;
		KmtField *field;
	} fields[] = {
		{"call_site", !pages, FALSE, &point->call_site},
		{"ptr", !pages, FALSE, &point->ptr},
		{"bytes_req", !pages && alloc, FALSE, &point->bytes_req},
		{"bytes_alloc", !pages && alloc, FALSE, &point->bytes_alloc},
		{"node", !pages && alloc, TRUE, &point->node},
		{"pfn", pages, FALSE, &point->pfn},
		{"order", pages, FALSE, &point->order},
		{"gfp_flags", alloc, FALSE, &point->gfp_flags},
	};

	for (gsize i = 0; i < G_N_ELEMENTS(fields); i++)
		if (fields[i].wanted &&
		    !take(tep_find_field(event, fields[i].name), point->name,
			  fields[i].name, fields[i].optional, fields[i].field,
			  &point->min_bytes, error))
			return FALSE;
	return TRUE;
}

static gboolean add_tracepoint(KmtRingFormat *format, struct tep_handle *tep,
			       const KmtTracepointName *name, const char *text,
			       GError **error)
{
	g_autofree KmtTracepoint *point = g_new0(KmtTracepoint, 1);
	struct tep_event *event;

	/* How it is to be printed may be beyond the library; who cares. */
	tep_parse_event(tep, text, strlen(text), "kmem");
	event = tep_find_event_by_name(tep, "kmem", name->name);
	if (!event || event->id < 0 || event->id > G_MAXUINT16) {
		g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_FIELD,
			    "the format of the tracepoint kmem:%s cannot be "
			    "understood",
			    name->name);
		return FALSE;
	}
	point->name = name->name;
	point->event_id = name->event_id;
	point->type_id = name->type_id;
	if (!take_common(event, format, name->name, error) ||
	    !take_fields(event, point, error))
		return FALSE;
	kmt_tracepoint_prepare(point);
	if ((guint)event->id >= format->by_id->len)
		g_ptr_array_set_size(format->by_id, event->id + 1);
	g_free(format->by_id->pdata[event->id]);
	format->by_id->pdata[event->id] = g_steal_pointer(&point);
	return TRUE;
}

static gboolean add_tracepoints(KmtRingFormat *format, struct tep_handle *tep,
				KmtFormatReader reader, gpointer data,
				GError **error)
{
	for (guint i = 0; i < kmt_n_tracepoint_names; i++) {
		const KmtTracepointName *name = &kmt_tracepoint_names[i];
		g_autofree char *path =
			g_strdup_printf("kmem/%s/format", name->name);
		g_autoptr(GError) problem = NULL;
		g_autofree char *text = reader(data, path, &problem);

		if (problem) {
			g_propagate_error(error, g_steal_pointer(&problem));
			return FALSE;
		}
		if (!text && name->optional)
			continue;
		if (!text) {
			g_set_error(error, KMT_DAEMON_ERROR,
				    KMT_DAEMON_ERROR_NO_TRACEPOINT,
				    "this kernel has no tracepoint kmem:%s",
				    name->name);
			return FALSE;
		}
		if (!add_tracepoint(format, tep, name, text, error))
			return FALSE;
	}
	return TRUE;
}

KmtRingFormat *kmt_ring_format_read(KmtFormatReader reader, gpointer data,
				    GError **error)
{
	g_autoptr(KmtRingFormat) format = g_new0(KmtRingFormat, 1);
	struct tep_handle *tep;
	gboolean ok;

	format->by_id = g_ptr_array_new_with_free_func(g_free);
	format->memory_page_bytes = (guint)sysconf(_SC_PAGESIZE);
	if (!read_header(format, reader, data, error))
		return NULL;
	tep = tep_alloc();
	if (!tep) {
		g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_RESOURCES,
			    "no memory for the formats of the tracepoints");
		return NULL;
	}
	tep_set_loglevel(TEP_LOG_NONE);
	tep_set_file_bigendian(tep, G_BYTE_ORDER == G_BIG_ENDIAN
					    ? TEP_BIG_ENDIAN
					    : TEP_LITTLE_ENDIAN);
	tep_set_local_bigendian(tep, G_BYTE_ORDER == G_BIG_ENDIAN
					     ? TEP_BIG_ENDIAN
					     : TEP_LITTLE_ENDIAN);
	tep_set_long_size(tep, (int)format->commit_bytes);
	ok = add_tracepoints(format, tep, reader, data, error);
	tep_free(tep);
	return ok ? g_steal_pointer(&format) : NULL;
}

gboolean kmt_ring_format_can_read(GError **error)
{
	return TRUE;
}

#else

gboolean kmt_ring_format_can_read(GError **error)
{
	g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_NO_LIBRARY,
		    "kmemtraced was built without libtraceevent, which reads "
		    "the formats of tracepoints");
	return FALSE;
}

KmtRingFormat *kmt_ring_format_read(KmtFormatReader reader, gpointer data,
				    GError **error)
{
	kmt_ring_format_can_read(error);
	return NULL;
}

#endif
