/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A directory for what a run reads.  It is made once for each process, where
 * TMPDIR is; fuzz/run sees to it that this is memory, and removes it.
 */
#ifndef KMEMTRACE_FUZZ_SCRATCH_H
#define KMEMTRACE_FUZZ_SCRATCH_H

#include <glib.h>

const char *kmt_scratch_directory(void);

/* Writes a file of it; the path lives until kmt_scratch_clear(). */
const char *kmt_scratch_write(const char *name, const void *data, gsize size);

/* Removes the files. */
void kmt_scratch_clear(void);

#endif
