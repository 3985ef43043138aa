/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory that an allocator allocates to keep objects of another kind in it,
 * such as the pages of the slab allocator. Such memory grows with the objects.
 */
#ifndef KMEMTRACE_REPORT_ALLOCATOR_MEMORY_H
#define KMEMTRACE_REPORT_ALLOCATOR_MEMORY_H

#include "report/aggregate.h"

/*
 * Return whether a group is memory of an allocator for objects of another kind,
 * which is in the capture; set *objects to this kind. Without @all, omit memory
 * that the allocator frees together with its objects, such as the pages of a
 * large kmalloc(): that memory grows only if the objects do.
 */
gboolean kmt_allocator_memory_holds(const KmtAggregate *aggregate,
				    const KmtGroup *group, gboolean all,
				    KmtKind *objects);

/* As kmt_allocator_memory_holds(), for a group of @kind whose allocating
 * function has the name @function, with any suffix of the compiler. */
gboolean kmt_allocator_memory_of_function(const KmtAggregate *aggregate,
					  const char *function, KmtKind kind,
					  gboolean all, KmtKind *objects);

#endif
