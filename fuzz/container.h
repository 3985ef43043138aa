/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A complete capture in one buffer:
 *
 *     byte    clock tolerance (index in a table), and options of the target
 *     byte    number of CPU files, modulo KMT_CONTAINER_FILES + 1
 *     for each CPU file:
 *             CPU (byte), size (two bytes, little endian), contents; a
 *             truncated file consists of the bytes up to the end of the buffer
 *     texts, separated by NUL:
 *             kmemtrace.meta, kallsyms, modules, the words of a command line,
 *             caches, tasks, stacks, marks, tags, cgroups, slabinfo
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
	KMT_CONTAINER_TAGS,
	KMT_CONTAINER_CGROUPS,
	KMT_CONTAINER_SLABINFO,
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
	GByteArray *texts; /* all texts, separated by NUL */
} KmtContainer;

/*
 * Parse a buffer.  Every buffer is valid.  kmt_container_clear() frees the
 * contents.
 */
void kmt_container_parse(KmtContainer *container, const guint8 *data,
			 gsize size);
void kmt_container_clear(KmtContainer *container);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(KmtContainer, kmt_container_clear)

/*
 * Serialize the capture into @data, and return the size, at most @max bytes.
 * The part that does not fit is omitted.
 */
gsize kmt_container_write(const KmtContainer *container, guint8 *data,
			  gsize max);

/* Change the capture at random, depending on @seed; see fuzz/mutate.c. */
void kmt_container_mutate(KmtContainer *container, guint seed);

/*
 * Return one text of the capture, or NULL if the buffer ends before it. The
 * caller frees the string.
 */
char *kmt_container_text(const KmtContainer *container, KmtContainerText which);

/* Write the files of the capture into kmt_scratch_directory(). */
void kmt_container_extract(const KmtContainer *container);

/*
 * Return the clock tolerance in ns, selected by the lowest three bits of the
 * options.
 */
gint64 kmt_container_tolerance(const KmtContainer *container);

#endif
