/* SPDX-License-Identifier: GPL-2.0-only */
/* kmemtrace: number and size of the sub-buffers of each CPU. */
#ifndef _MM_KMEMTRACE_GEOMETRY_H
#define _MM_KMEMTRACE_GEOMETRY_H

#include <linux/types.h>

/* Of the current sets of buffers.  Changed with kmemtrace_mutex held. */
extern unsigned int kmemtrace_subbufs;		/* per CPU */
extern unsigned int kmemtrace_subbuf_size;	/* bytes, whole records */

/* Return whether buffers of this geometry are valid and fit into the memory. */
bool kmemtrace_geometry_fits(unsigned int subbufs, unsigned int subbuf_size);

/* Parse the size of a sub-buffer, such as "512K".  Return 0 or -EINVAL. */
int kmemtrace_parse_subbuf_size(const char *text, unsigned int *bytes);

/*
 * Check the parameters of the command line against each other.  Context: early
 * boot, once the size of the records is final.
 */
void kmemtrace_geometry_init(void);

#endif /* _MM_KMEMTRACE_GEOMETRY_H */
