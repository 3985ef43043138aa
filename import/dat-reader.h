/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * State of the trace.dat reader, shared by dat-reader.c and dat-describe.c.
 */
#ifndef KMEMTRACE_IMPORT_DAT_READER_H
#define KMEMTRACE_IMPORT_DAT_READER_H

#include "import/dat-clock.h"
#include "import/dat-file.h"
#include "import/decoder.h"
#include "import/functions.h"
#include "import/import.h"

struct tep_handle;

/* Result of the first pass over the pages of a CPU. */
typedef struct {
	GArray *times;		   /* KmtDatPageTime */
	guint64 events;		   /* events in intact pages */
	guint64 gaps;		   /* runs of damaged pages; 0 if the intact
				    * pages have all events that the kernel
				    * counted */
	guint64 missed;		   /* sum of the numbers of lost events that
				    * pages report */
	guint64 unnumbered_losses; /* pages that report a loss without a
				    * number */
	gboolean has_time;	   /* first_ns and last_ns are set */
	gint64 first_ns, last_ns;  /* earliest and latest event in intact
				    * pages */
} KmtDatSurvey;

/* Number of events lost at each gap of a CPU; 0: unknown. */
typedef struct {
	guint64 per_gap;    /* gap of damaged pages */
	guint64 per_missed; /* loss in the kernel that a page reports without a
			     * number */
} KmtDatLosses;

/*
 * State of the import of a file. buffer is the buffer that is imported, or that
 * was imported last; all pointers except import and buffer are owned.
 */
typedef struct {
	KmtImport *import;
	KmtDatFile *dat;
	struct tep_handle *formats;
	KmtImportDecoder *decoder;
	KmtImportFunctions *functions;
	KmtImportCallers *callers;
	const KmtDatBuffer *buffer;
	KmtDatClock clock;
	GArray *surveys; /* KmtDatSurvey, one per element of buffer->cpus */
	gboolean has_time;
	gint64 first_ns, last_ns; /* of all CPUs */
} KmtDatReader;

/* Write the recorded machine, the recorder, and the clock to kmemtrace.meta. */
void kmt_dat_describe(const KmtDatReader *r);

/*
 * Report properties of the recording that the events suggest: a recording of
 * one task, and CPUs without an event. A trace.dat does not store the options
 * of trace-cmd record.
 */
void kmt_dat_guess_task_filter(KmtImport *import);
void kmt_dat_note_cpus_without_events(const KmtDatReader *r);

#endif
