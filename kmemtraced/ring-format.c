// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/capture/error.h"
#include "kmemtraced/ring-format.h"

#ifdef HAVE_TRACEEVENT

#include <event-parse.h>

/* Size of the time at the start of a page. */
#define TIME_BYTES 8

/*
 * Read offset and size of the field @name from a line such as
 *
 *     "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;"
 */
static gboolean find_header_field(const char *text, const char *name,
				  guint *offset, guint *size)
{
	g_autofree char *end = g_strdup_printf(" %s;", name);
	const char *p = strstr(text, end);

	return p && sscanf(p + strlen(end), " offset:%u; size:%u;", offset,
			   size) == 2;
}

static gboolean read_header(KmtdRingFormat *format, KmtdFormatReader reader,
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
	    format->commit_offset >= TIME_BYTES &&
	    format->commit_offset <= format->data_offset &&
	    format->commit_offset + format->commit_bytes <=
		    format->data_offset &&
	    format->data_offset <= 64 && data_bytes >= 256 &&
	    data_bytes <= 1U << 26) {
		format->page_bytes = format->data_offset + data_bytes;
		return TRUE;
	}
	g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_FIELD,
		    "events/header_page has no usable description of the "
		    "header of a ring buffer page");
	return FALSE;
}

/*
 * Convert an error of the tracepoint library to one of kmemtraced, and free
 * @problem. Return FALSE.
 */
static gboolean fail(GError *problem, GError **error)
{
	g_set_error_literal(error, KMT_DAEMON_ERROR,
			    g_error_matches(problem, KMT_TRACEPOINT_ERROR,
					    KMT_TRACEPOINT_ERROR_MEMORY)
				    ? KMT_DAEMON_ERROR_RESOURCES
				    : KMT_DAEMON_ERROR_FIELD,
			    problem->message);
	g_error_free(problem);
	return FALSE;
}

static gboolean add_tracepoint(KmtdRingFormat *format, struct tep_handle *tep,
			       const KmtTracepointName *name, const char *text,
			       GError **error)
{
	GError *problem = NULL;
	struct tep_event *event = kmt_tracepoint_formats_add(
		tep, name->system, name->name, text, &problem);
	KmtTracepoint *point = NULL;

	if (event)
		point = kmt_tracepoint_new(name, event,
					   (guint)sysconf(_SC_PAGESIZE),
					   (guint)sysconf(_SC_NPROCESSORS_CONF),
					   &format->common, &problem);
	if (!point)
		return fail(problem, error);
	if ((guint)event->id >= format->by_id->len)
		g_ptr_array_set_size(format->by_id, event->id + 1);
	g_free(format->by_id->pdata[event->id]);
	format->by_id->pdata[event->id] = point;
	return TRUE;
}

static gboolean add_tracepoints(KmtdRingFormat *format, struct tep_handle *tep,
				KmtdFormatReader reader, gpointer data,
				GError **error)
{
	for (guint i = 0; i < kmt_tracepoint_n_names; i++) {
		const KmtTracepointName *name = &kmt_tracepoint_names[i];
		g_autofree char *path = g_strdup_printf(
			"%s/%s/format", name->system, name->name);
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
				    "this kernel has no tracepoint %s:%s",
				    name->system, name->name);
			return FALSE;
		}
		if (!add_tracepoint(format, tep, name, text, error))
			return FALSE;
	}
	return TRUE;
}

/*
 * Add the tracepoints of tasks. Errors are ignored, because they only cost task
 * names.
 */
static void add_task_points(KmtdRingFormat *format, struct tep_handle *tep,
			    KmtdFormatReader reader, gpointer data)
{
	for (guint i = 0; i < KMT_TRACEPOINT_N_TASKS; i++) {
		const char *name = kmt_tracepoint_task_names[i];
		g_autofree char *path =
			g_build_filename(KMT_TASK_SYSTEM, name, "format", NULL);
		g_autofree char *text = reader(data, path, NULL);
		struct tep_event *event = NULL;

		if (text)
			event = kmt_tracepoint_formats_add(tep, KMT_TASK_SYSTEM,
							   name, text, NULL);
		if (event)
			kmt_tracepoint_task_read(&format->tasks[i], i, event);
	}
}

KmtdRingFormat *kmtd_ring_format_read(KmtdFormatReader reader, gpointer data,
				      GError **error)
{
	g_autoptr(KmtdRingFormat) format = g_new0(KmtdRingFormat, 1);
	GError *problem = NULL;
	struct tep_handle *tep;
	gboolean ok;

	format->by_id = g_ptr_array_new_with_free_func(g_free);
	if (!read_header(format, reader, data, error))
		return NULL;
	tep = kmt_tracepoint_formats_new(format->commit_bytes, &problem);
	if (!tep) {
		fail(problem, error);
		return NULL;
	}
	ok = add_tracepoints(format, tep, reader, data, error);
	add_task_points(format, tep, reader, data);
	tep_free(tep);
	return ok ? g_steal_pointer(&format) : NULL;
}

gboolean kmtd_ring_format_can_read(GError **error)
{
	return TRUE;
}

#else

gboolean kmtd_ring_format_can_read(GError **error)
{
	g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_NO_LIBRARY,
		    "kmemtraced was built without libtraceevent, which reads "
		    "the formats of tracepoints");
	return FALSE;
}

KmtdRingFormat *kmtd_ring_format_read(KmtdFormatReader reader, gpointer data,
				      GError **error)
{
	kmtd_ring_format_can_read(error);
	return NULL;
}

#endif
