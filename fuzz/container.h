/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A whole capture in one buffer:
 *
 *     byte    clock tolerance (one of a table), and options of the target
 *     byte    number of cpu files
 *     for each file: its CPU (byte), its size (two bytes, little endian), the
 *             bytes; a file that is not whole is what there is of it
 *     the rest is texts, a NUL between them: kmemtrace.meta, kallsyms, modules,
 *             the words of a command line, caches, tasks, stacks, marks
 */
#ifndef KMEMTRACE_FUZZ_CONTAINER_H
#define KMEMTRACE_FUZZ_CONTAINER_H

#include <glib.h>

#define KMT_CONTAINER_FILES 8

typedef enum {
	KMT_CONTAINER_META,
	KMT_CONTAINER_KALLSYMS,
	KMT_CONTAINER_MODULES,
	KMT_CONTAINER_WORDS,
	KMT_CONTAINER_CACHES,
	KMT_CONTAINER_TASKS,
	KMT_CONTAINER_STACKS,
	KMT_CONTAINER_MARKS,
	KMT_CONTAINER_TEXTS
} KmtContainerText;

typedef struct {
	guint8 cpu;
	GByteArray *data;
} KmtContainerFile;

typedef struct {
	guint8 options;
	guint n_files;
	KmtContainerFile files[KMT_CONTAINER_FILES];
	GByteArray *texts; /* all, with the NULs between them */
} KmtContainer;

void kmt_container_parse(KmtContainer *container, const guint8 *data,
			 gsize size);
void kmt_container_clear(KmtContainer *container);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(KmtContainer, kmt_container_clear)

/* Returns the size, at most max; what does not fit is left out. */
gsize kmt_container_write(const KmtContainer *container, guint8 *data,
			  gsize max);

/* Ways to change it; fuzz/mutate.c. */
void kmt_container_mutate(KmtContainer *container, guint seed);

/* A text of it, a new string; NULL if it ends before. */
char *kmt_container_text(const KmtContainer *container, KmtContainerText which);

/* Makes a directory of it: kmt_scratch_directory(). */
void kmt_container_extract(const KmtContainer *container);

/* By the lowest three bits of the options. */
gint64 kmt_container_tolerance(const KmtContainer *container);

#endif
