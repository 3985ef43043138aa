// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lib/tracepoints/tracepoint-format.h"

G_DEFINE_QUARK(kmt - tracepoint - error - quark, kmt_tracepoint_error)

#ifdef HAVE_TRACEEVENT

#include <event-parse.h>

struct tep_handle *kmt_tracepoint_formats_new(guint long_bytes, GError **error)
{
	struct tep_handle *formats = tep_alloc();

	if (!formats) {
		g_set_error(error, KMT_TRACEPOINT_ERROR,
			    KMT_TRACEPOINT_ERROR_MEMORY,
			    "no memory for the formats of the tracepoints");
		return NULL;
	}
	tep_set_loglevel(TEP_LOG_NONE);
	tep_set_file_bigendian(formats, G_BYTE_ORDER == G_BIG_ENDIAN
						? TEP_BIG_ENDIAN
						: TEP_LITTLE_ENDIAN);
	tep_set_local_bigendian(formats, G_BYTE_ORDER == G_BIG_ENDIAN
						 ? TEP_BIG_ENDIAN
						 : TEP_LITTLE_ENDIAN);
	tep_set_long_size(formats, (int)long_bytes);
	return formats;
}

struct tep_event *kmt_tracepoint_formats_add(struct tep_handle *formats,
					     const char *system,
					     const char *name, const char *text,
					     GError **error)
{
	struct tep_event *event;

	/* Ignore the result: the library may not understand the print format,
	 * which is not needed. */
	tep_parse_event(formats, text, strlen(text), system);
	event = tep_find_event_by_name(formats, system, name);
	if (event && event->id >= 0 && event->id <= G_MAXUINT16)
		return event;
	g_set_error(error, KMT_TRACEPOINT_ERROR, KMT_TRACEPOINT_ERROR_FORMAT,
		    "the format of the tracepoint %s:%s cannot be parsed",
		    system, name);
	return NULL;
}

static gboolean is_number_size(int size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

static gboolean set_error_field(GError **error, const KmtTracepointName *point,
				const char *field, const char *why)
{
	g_set_error(error, KMT_TRACEPOINT_ERROR, KMT_TRACEPOINT_ERROR_FORMAT,
		    "the kernel's tracepoint %s:%s has %s '%s'", point->system,
		    point->name, why, field);
	return FALSE;
}

gboolean kmt_tracepoint_formats_add_known(struct tep_handle *formats,
					  const char *system, const char *name,
					  const char *text, GError **error)
{
	for (guint i = 0; i < kmt_tracepoint_n_names; i++)
		if (g_str_equal(kmt_tracepoint_names[i].system, system) &&
		    g_str_equal(kmt_tracepoint_names[i].name, name))
			return kmt_tracepoint_formats_add(formats, system, name,
							  text, error) != NULL;
	return TRUE;
}

/*
 * Set *field to the location of a numeric field. An absent optional field keeps
 * size 0.
 */
static gboolean find_field(const struct tep_format_field *from,
			   const KmtTracepointName *point, const char *name,
			   gboolean optional, KmtTracepointSlot *field,
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

static gboolean find_common_fields(struct tep_event *event,
				   const KmtTracepointName *point,
				   KmtTracepointCommonFields *common,
				   GError **error)
{
	const struct {
		const char *name;
		KmtTracepointSlot *field;
	} fields[] = {
		{"common_type", &common->type},
		{"common_flags", &common->flags},
		{"common_pid", &common->pid},
	};

	for (gsize i = 0; i < G_N_ELEMENTS(fields); i++)
		if (!find_field(tep_find_common_field(event, fields[i].name),
				point, fields[i].name, FALSE, fields[i].field,
				&common->bytes, error))
			return FALSE;
	return TRUE;
}

KmtTracepoint *kmt_tracepoint_new(const KmtTracepointName *name,
				  struct tep_event *event, guint page_bytes,
				  guint cpus, KmtTracepointCommonFields *common,
				  GError **error)
{
	g_autofree KmtTracepoint *point = g_new0(KmtTracepoint, 1);
	const KmtTracepointField *field;

	point->name = name->name;
	point->event_id = name->event_id;
	point->type_id = name->type_id;
	if (!find_common_fields(event, name, common, error))
		return NULL;
	for (field = name->fields; field->name; field++)
		if (!find_field(tep_find_field(event, field->name), name,
				field->name, field->optional,
				kmt_tracepoint_field(point, field),
				&point->min_bytes, error))
			return NULL;
	kmt_tracepoint_prepare(point, page_bytes, cpus);
	return g_steal_pointer(&point);
}

#else

struct tep_handle *kmt_tracepoint_formats_new(guint long_bytes, GError **error)
{
	g_set_error(error, KMT_TRACEPOINT_ERROR,
		    KMT_TRACEPOINT_ERROR_NO_LIBRARY,
		    "this program was built without libtraceevent, which reads "
		    "the formats of tracepoints");
	return NULL;
}

#endif
