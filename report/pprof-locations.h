/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The locations of a profile of pprof: call sites and directories, with their
 * functions, source lines, and mappings. */
#ifndef KMEMTRACE_REPORT_PPROF_LOCATIONS_H
#define KMEMTRACE_REPORT_PPROF_LOCATIONS_H

#include "lib/symbols/symbolizer.h"
#include "report/pprof-stream.h"

typedef struct KmtPprofLocations KmtPprofLocations;

/* Create the locations. @stream and @symbolizer must outlive them. The caller
 * frees the result. */
KmtPprofLocations *kmt_pprof_locations_new(KmtPprofStream *stream,
					   const KmtSymbolizer *symbolizer);
void kmt_pprof_locations_free(KmtPprofLocations *locations);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtPprofLocations, kmt_pprof_locations_free)

/* Return the id of a call site. The first request writes the location. */
guint64 kmt_pprof_locations_site(KmtPprofLocations *locations,
				 const KmtSymSite *site);
/* Return the id of the location that stands for the source directory of a call
 * site; 0 if the report has no source of directories. */
guint64 kmt_pprof_locations_directory(KmtPprofLocations *locations,
				      const KmtSymSite *site);

/*
 * Write the mappings: the kernel and each module of a call site. @build_id is
 * that of the kernel, or NULL. Call this function after the last location.
 */
void kmt_pprof_locations_end(KmtPprofLocations *locations,
			     const char *build_id);

#endif
