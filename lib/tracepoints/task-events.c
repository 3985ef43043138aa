// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lib/tracepoints/task-events.h"

const char *const kmt_tracepoint_task_names[KMT_TRACEPOINT_N_TASKS] = {
	[KMT_TASK_NEW] = "task_newtask",
	[KMT_TASK_RENAME] = "task_rename",
};

static void load_name(const guint8 *data, KmtTracepointTaskField field,
		      char name[KMT_TASK_NAME_BYTES])
{
	gsize n = MIN(field.n_bytes, KMT_TASK_NAME_BYTES - 1);

	memcpy(name, data + field.offset, n);
	name[n] = '\0';
}

void kmt_tracepoint_task_convert(const KmtTracepointTask *point, guint kind,
				 const guint8 *data, gint64 time,
				 KmtTracepointTaskChange *change)
{
	change->time = time;
	change->pid = (guint32)kmt_tracepoint_slot_load(data, point->pid);
	change->renamed = kind == KMT_TASK_RENAME;
	load_name(data, point->name, change->name);
	if (change->renamed)
		load_name(data, point->old_name, change->old_name);
	else
		change->old_name[0] = '\0';
}

#ifdef HAVE_TRACEEVENT

#include <event-parse.h>

static gboolean find_pid(const struct tep_format_field *from,
			 KmtTracepointTask *point)
{
	if (!from || from->size != 4 || from->offset < 0 ||
	    from->offset > G_MAXUINT16 - from->size ||
	    (from->flags & (TEP_FIELD_IS_ARRAY | TEP_FIELD_IS_DYNAMIC)))
		return FALSE;
	point->pid = (KmtTracepointSlot){(guint16)from->offset, 4};
	point->min_bytes = MAX(point->min_bytes, (guint)from->offset + 4);
	return TRUE;
}

/*
 * Set *field to the location of a name, which must be an array of char. Returns
 * FALSE if the format is not supported.
 */
static gboolean find_name(const struct tep_format_field *from,
			  KmtTracepointTask *point,
			  KmtTracepointTaskField *field)
{
	if (!from || from->size <= 0 || from->offset < 0 ||
	    from->size > G_MAXUINT16 ||
	    from->offset > G_MAXUINT16 - from->size ||
	    !(from->flags & TEP_FIELD_IS_ARRAY) || from->elementsize > 1 ||
	    (from->flags & TEP_FIELD_IS_DYNAMIC))
		return FALSE;
	field->offset = (guint16)from->offset;
	field->n_bytes = (guint16)from->size;
	point->min_bytes =
		MAX(point->min_bytes, (guint)(from->offset + from->size));
	return TRUE;
}

gboolean kmt_tracepoint_task_read(KmtTracepointTask *point, guint kind,
				  struct tep_event *event)
{
	gboolean renames = kind == KMT_TASK_RENAME;
	const struct tep_format_field *pid = tep_find_field(event, "pid");

	*point = (KmtTracepointTask){.id = (guint16)event->id};
	if (!pid && renames)
		pid = tep_find_common_field(event, "common_pid");
	if (find_pid(pid, point) &&
	    find_name(tep_find_field(event, renames ? "newcomm" : "comm"),
		      point, &point->name) &&
	    (!renames || find_name(tep_find_field(event, "oldcomm"), point,
				   &point->old_name)))
		return TRUE;
	*point = (KmtTracepointTask){0};
	return FALSE;
}

#endif
