/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel functions that report one large allocation to kmem:kmalloc twice,
 * once themselves and once through a function that they call:
 * __do_kmalloc_node(), and those that the compiler inlines it into. See
 * kmalloc-pairs.h.
 */
#ifndef KMEMTRACE_TRACEPOINTS_INNER_FUNCTIONS_H
#define KMEMTRACE_TRACEPOINTS_INNER_FUNCTIONS_H

#include <glib.h>

/* Largest number of these functions, including parts such as x.cold. */
#define KMT_TRACEPOINT_INNER_MAX 32

typedef struct {
	gboolean is_known; /* kallsyms had addresses, so ranges is complete,
			    * even if n is 0 */
	guint n;
	struct {
		guint64 begin, end; /* end is the start of the next function, or
				     * G_MAXUINT64 if there is none */
	} ranges[KMT_TRACEPOINT_INNER_MAX];
} KmtTracepointInner;

/*
 * Find the functions in text, the content of a kallsyms. is_known stays FALSE
 * if text has no addresses, because the kernel hides them.
 */
void kmt_tracepoint_inner_read(KmtTracepointInner *inner, const char *text);

/* Return whether a return address is in one of the functions. */
gboolean kmt_tracepoint_inner_has(const KmtTracepointInner *inner,
				  guint64 return_address);

#endif
