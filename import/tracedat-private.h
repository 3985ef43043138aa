/* SPDX-License-Identifier: GPL-2.0-or-later */
/* State of the reader of trace.dat. */
#ifndef KMEMTRACE_IMPORT_TRACEDAT_PRIVATE_H
#define KMEMTRACE_IMPORT_TRACEDAT_PRIVATE_H

#include "import/datclock.h"
#include "import/datfile.h"
#include "import/decode.h"
#include "import/functions.h"
#include "import/import.h"

struct tep_handle;

/* Findings of the first pass about the pages of a CPU. */
typedef struct {
	GArray *times;	/* of DatPageTime */
	guint64 events; /* in pages that are whole */
	guint64 holes;	/* stretches of damaged pages */
	guint64 missed; /* events that pages count as lost by the kernel */
	guint64 missed_places; /* where events were lost, without a number */
	gboolean has_time;
	gint64 first_ns, last_ns;
} Survey;

/* How many events are lost at one place of a CPU; 0: not known. */
typedef struct {
	guint64 per_hole;   /* damage */
	guint64 per_missed; /* loss in the kernel that a page does not count */
} Losses;

typedef struct {
	KmtImport *import;
	DatFile *dat;
	struct tep_handle *formats;
	KmtImportDecoder *decoder;
	KmtImportFunctions *functions;
	KmtImportCallers *callers;
	const DatBuffer *buffer;
	DatClock clock;
	GArray *surveys; /* of Survey, one for each of buffer->cpus */
	gboolean has_time;
	gint64 first_ns, last_ns; /* of all CPUs */
} DatReader;

/* Write the facts about the recorded machine to kmemtrace.meta. */
void dat_describe(const DatReader *r);

/*
 * A trace.dat does not store the options of trace-cmd record.  Note what the
 * events suggest: a recording of one task, or CPUs without an event.
 */
void dat_guess_task_filter(KmtImport *import);
void dat_note_silent_cpus(const DatReader *r);

#endif
