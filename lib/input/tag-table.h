/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of call sites with allocation tags, from the file named "tags" of a
 * capture. Each row has the source line of a call site at which the kernel
 * allocated memory while allocation profiling (CONFIG_MEM_ALLOC_PROFILING) was
 * on.
 *
 * A KmtInputTagTable does not change after its creation, so any thread may read
 * it without a lock.
 */
#ifndef KMEMTRACE_INPUT_TAG_TABLE_H
#define KMEMTRACE_INPUT_TAG_TABLE_H

#include "lib/input/capture.h"

/* The strings belong to the table. */
typedef struct {
	guint64 address;      /* value of call_site in the records, never 0 */
	gint64 went;	      /* time in ns when the code of the call site was
			       * freed: with the module, or as init code of the
			       * module; G_MAXINT64 if the code was not freed */
	guint line;	      /* line in file, never 0 */
	const char *module;   /* name of the kernel module, or "" for the kernel
			       * itself */
	const char *function; /* letters, digits, '_', '.' and '$' */
	const char *file;     /* source file; any bytes but NUL */
} KmtInputTag;

typedef struct KmtInputTagTable KmtInputTagTable;

/*
 * Read the table of a capture. The function never fails. A missing table is
 * empty. Invalid lines are skipped, and a warning reports them. The caller
 * frees the result.
 */
KmtInputTagTable *kmt_input_tag_table_new(const KmtInputCapture *capture);
void kmt_input_tag_table_free(KmtInputTagTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtInputTagTable, kmt_input_tag_table_free)

/*
 * Return the call sites, sorted by address and went, and set *n to their
 * number. Each pair of address and went occurs once. The table owns the array.
 */
const KmtInputTag *kmt_input_tag_table_get(const KmtInputTagTable *table,
					   guint *n);

/*
 * Return the warnings about the table, an array of char * with one line each.
 * The table owns the array.
 */
const GPtrArray *kmt_input_tag_table_warnings(const KmtInputTagTable *table);

#endif
