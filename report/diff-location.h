/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Locations of a comparison: the values of the dimensions callsite, stack,
 * function and owner, and which of them are the same code in several builds.
 *
 * Within a build, locations are equal if their functions, modules and offsets
 * are. Across builds, offsets differ. Locations match if they have the same
 * functions and modules, ignoring suffixes that the compiler adds to a
 * function's name, and the same rank among the locations with these names and
 * of their kind. A capture may lack some of the locations, so kmt_diff_align()
 * finds the pairs in this order that are most similar in sizes, counts, offsets
 * and source lines. The compiler may also exchange blocks of code. Locations
 * without a partner therefore match in another order if they are very similar.
 */
#ifndef KMEMTRACE_REPORT_DIFF_LOCATION_H
#define KMEMTRACE_REPORT_DIFF_LOCATION_H

#include "report/diff.h"
#include "report/index.h"

/* Properties of the code that the comparison does not depend on. Sums are over
 * all captures of a build or of a side. */
typedef struct {
	guint kinds; /* bit mask of KmtKind */
	guint64 allocs, bytes_req, bytes_alloc;
	guint captures;	    /* number of captures in @allocs */
	guint next_capture; /* number of the last capture in @allocs, plus
			     * 1 */
} KmtDiffTraits;

/* Add @other, which has the figures of one capture, number @capture. */
void kmt_diff_traits_add(KmtDiffTraits *traits, const KmtDiffTraits *other,
			 guint capture);

/* Return how similar the sizes of the allocations are, from 0 to 1. */
double kmt_diff_traits_size_ratio(const KmtDiffTraits *a,
				  const KmtDiffTraits *b);
/* Return the smaller number of allocations for each capture divided by the
 * larger one. */
double kmt_diff_traits_count_ratio(const KmtDiffTraits *a,
				   const KmtDiffTraits *b);

/* A location in one build. */
typedef struct {
	KmtDiffLocation location; /* the first member */
	guint build;
	/* Distance of the first function from _stext, or 0. Distinguishes
	 * functions of the same name. */
	guint64 start;
	/* For each frame its function without the suffixes of the compiler;
	 * NULL: unknown. Equal names are the same string. */
	const char **names;
	/* Number of these names and of the modules, equal in all builds. */
	guint32 name_number;
	/* Number that the same code has in all builds. */
	guint32 code;
	KmtDiffTraits traits;
} KmtDiffBuildLocation;

/* The locations of one dimension. */
typedef struct {
	gboolean by_kind;     /* Locations of different kinds do not match. */
	GPtrArray *locations; /* KmtDiffBuildLocation */
	GPtrArray *named; /* for each name_number the first location with it */
	KmtArena *arena;  /* not owned */
	GStringChunk *strings; /* not owned */
	/* Private: */
	KmtIndex index;	     /* of @locations by build, functions and offsets */
	KmtIndex name_index; /* of @named by functions and modules */
	guint64 seed;	     /* of the hashes */
} KmtDiffLocations;

/* Create an empty table. Its locations are in @arena and @strings. */
KmtDiffLocations *kmt_diff_locations_new(gboolean by_kind, KmtArena *arena,
					 GStringChunk *strings);
void kmt_diff_locations_free(KmtDiffLocations *locations);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtDiffLocations, kmt_diff_locations_free)

/*
 * Return a location in @build, adding the location without a text if it is new.
 * @frames are copied. Equal functions, and equal modules, must be the same
 * string of g_string_chunk_insert_const() of @strings.
 */
KmtDiffBuildLocation *kmt_diff_locations_add(KmtDiffLocations *locations,
					     guint build,
					     const KmtDiffFrame *frames,
					     guint n, guint64 start);

/* Set the code of each location. Call this function once, after all locations
 * were added. */
void kmt_diff_locations_match(KmtDiffLocations *locations);

/* Return the whole of a location that belongs to a KmtDiffLocations. */
static inline KmtDiffBuildLocation *
kmt_diff_location_whole(const KmtDiffLocation *location)
{
	return (KmtDiffBuildLocation *)location;
}

/* Return whether the function of a frame is unknown. */
gboolean kmt_diff_location_is_unnamed(const KmtDiffLocation *location);

/* Return the length of a function's name without suffixes of the compiler, such
 * as ".isra.0" or ".cold". */
gsize kmt_diff_name_length(const char *function);

#endif
