// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <unistd.h>

#include "import/ctf-field.h"
#include "import/import.h"

static gboolean is_integer(const bt_field_class *class)
{
	return bt_field_class_type_is(bt_field_class_get_type(class),
				      BT_FIELD_CLASS_TYPE_INTEGER);
}

static guint64 integer_value(const bt_field *field)
{
	if (bt_field_class_type_is(bt_field_get_class_type(field),
				   BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER))
		return bt_field_integer_unsigned_get_value(field);
	return (guint64)bt_field_integer_signed_get_value(field);
}

static const bt_field *member(const bt_field *structure, const char *name)
{
	return structure ? bt_field_structure_borrow_member_field_by_name_const(
				   structure, name)
			 : NULL;
}

gboolean kmt_ctf_member(const bt_field *structure, const char *name,
			guint64 *value)
{
	const bt_field *field = member(structure, name);

	if (!field || !is_integer(bt_field_borrow_class_const(field)))
		return FALSE;
	*value = integer_value(field);
	return TRUE;
}

const char *kmt_ctf_member_text(const bt_field *structure, const char *name)
{
	const bt_field *field = member(structure, name);

	if (!field ||
	    bt_field_get_class_type(field) != BT_FIELD_CLASS_TYPE_STRING)
		return NULL;
	return bt_field_string_get_value(field);
}

/*
 * Return whether an event's name denotes point. perf names the tracepoint kfree
 * "kmem:kfree", LTTng names it "kmem_kfree". LTTng keeps the name
 * kmem_cache_free.
 */
static gboolean is_named(const KmtTracepointName *point, const char *name)
{
	gsize system = strlen(point->system);

	if (g_str_equal(name, point->name))
		return TRUE;
	return g_str_has_prefix(name, point->system) &&
	       (name[system] == ':' || name[system] == '_') &&
	       g_str_equal(name + system + 1, point->name);
}

/*
 * Find the member of payload that has this name. Sets *member_index to its
 * index. Returns FALSE if there is no such member or the member is not an
 * integer.
 */
static gboolean find_member(const bt_field_class *payload, const char *name,
			    guint64 *member_index)
{
	guint64 n = bt_field_class_structure_get_member_count(payload);

	for (guint64 i = 0; i < n; i++) {
		const bt_field_class_structure_member *m =
			bt_field_class_structure_borrow_member_by_index_const(
				payload, i);

		if (!g_str_equal(bt_field_class_structure_member_get_name(m),
				 name))
			continue;
		*member_index = i;
		return is_integer(
			bt_field_class_structure_member_borrow_field_class_const(
				m));
	}
	return FALSE;
}

static gboolean find_members(KmtCtfPoint *p, const KmtTracepointName *name,
			     const bt_field_class *payload, GError **error)
{
	const KmtTracepointField *field;

	for (field = name->fields; field->name; field++) {
		g_assert(p->n_members < KMT_CTF_MAX_FIELDS);
		if (payload && find_member(payload, field->name,
					   &p->members[p->n_members])) {
			*kmt_tracepoint_field(p->point, field) =
				(KmtTracepointSlot){(guint16)(p->n_members *
							      sizeof(guint64)),
						    sizeof(guint64)};
			p->n_members++;
		} else if (!field->optional) {
			g_set_error(error, KMT_IMPORT_ERROR,
				    KMT_IMPORT_ERROR_INPUT,
				    "the kernel's tracepoint %s:%s has no "
				    "integer field '%s': a newer "
				    "kmemtrace-import may support it",
				    name->system, name->name, field->name);
			return FALSE;
		}
	}
	return TRUE;
}

static gboolean has_struct_page_field(guint index,
				      const bt_field_class *payload)
{
	guint64 member_index;

	return payload &&
	       kmt_tracepoint_names[index].type_id == KMEMTRACE_TYPE_PAGES &&
	       !find_member(payload, "pfn", &member_index) &&
	       find_member(payload, KMT_IMPORT_PAGE_FIELD, &member_index);
}

KmtCtfPoint *kmt_ctf_point_new(const bt_event_class *class, guint cpus,
			       GError **error)
{
	const bt_field_class *payload =
		bt_event_class_borrow_payload_field_class_const(class);
	const char *name = bt_event_class_get_name(class);
	KmtCtfPoint *p;
	guint i;

	for (i = 0; name && i < kmt_tracepoint_n_names; i++)
		if (is_named(&kmt_tracepoint_names[i], name))
			break;
	if (!name || i == kmt_tracepoint_n_names)
		return NULL;
	p = g_new0(KmtCtfPoint, 1);
	p->index = i;
	if (has_struct_page_field(i, payload))
		return p;
	p->point = g_new0(KmtTracepoint, 1);
	p->point->name = kmt_tracepoint_names[i].name;
	p->point->event_id = kmt_tracepoint_names[i].event_id;
	p->point->type_id = kmt_tracepoint_names[i].type_id;
	if (find_members(p, &kmt_tracepoint_names[i], payload, error)) {
		kmt_tracepoint_prepare(p->point, (guint)sysconf(_SC_PAGESIZE),
				       cpus);
		return p;
	}
	kmt_ctf_point_free(p);
	return NULL;
}

void kmt_ctf_point_free(gpointer data)
{
	KmtCtfPoint *p = data;

	if (!p)
		return;
	g_free(p->point);
	g_free(p);
}

gboolean kmt_ctf_point_convert(const KmtCtfPoint *p, const bt_event *event,
			       gint64 time, struct kmemtrace_event *e)
{
	const bt_field *payload = bt_event_borrow_payload_field_const(event);
	guint64 values[KMT_CTF_MAX_FIELDS];

	for (guint i = 0; i < p->n_members; i++)
		values[i] = integer_value(
			bt_field_structure_borrow_member_field_by_index_const(
				payload, p->members[i]));
	return kmt_tracepoint_convert(p->point, (const guint8 *)values, time,
				      e);
}
