/* SPDX-License-Identifier: GPL-2.0-only */
/* kmemtrace: the geometry of the buffers: number and size of the sub-buffers. */
#ifndef _MM_KMEMTRACE_GEOMETRY_H
#define _MM_KMEMTRACE_GEOMETRY_H

#include <linux/types.h>

/* The geometry of all sets of buffers.  Changed with kmemtrace_mutex held. */
extern unsigned int kmemtrace_subbufs;		/* number per CPU */
extern unsigned int kmemtrace_subbuf_size;	/* bytes, whole records */

/*
 * Return whether a geometry is within the limits, and whether the buffers of all
 * possible CPUs would take at most half of the machine's memory.  @subbuf_size: in
 * bytes.
 */
bool kmemtrace_geometry_fits(unsigned int subbufs, unsigned int subbuf_size);

/*
 * Parse the size of a sub-buffer, such as "512K", and store the bytes in @bytes.
 * Return 0, or -EINVAL if @text is not a size, or if the size is 0 or too large.
 */
int kmemtrace_parse_subbuf_size(const char *text, unsigned int *bytes);

/*
 * Check that the geometry of the command line is valid, and use the default geometry
 * if it is not, which is logged.  Context: early boot, once the record size is final.
 */
void kmemtrace_geometry_init(void);

#endif /* _MM_KMEMTRACE_GEOMETRY_H */
