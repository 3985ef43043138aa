/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Temporary directory for the files of one input. The directory is created once
 * per process, in TMPDIR, and removed at exit. fuzz/run sets TMPDIR to a
 * directory, in memory if possible, which it removes.
 */
#ifndef KMEMTRACE_FUZZ_SCRATCH_H
#define KMEMTRACE_FUZZ_SCRATCH_H

#include <glib.h>

/* Return the path of the directory, which is created on the first call. */
const char *kmt_scratch_directory(void);

/*
 * Write a file into the directory. The returned path is valid until
 * kmt_scratch_clear().
 */
const char *kmt_scratch_write(const char *name, const void *data, gsize size);

/* Remove the files that kmt_scratch_write() has written. */
void kmt_scratch_clear(void);

#endif
