/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Output of the programs that is kept in memory and checked. */
#ifndef KMEMTRACE_FUZZ_MEMORY_OUTPUT_H
#define KMEMTRACE_FUZZ_MEMORY_OUTPUT_H

#include <glib.h>
#include <stdio.h>

typedef struct {
	FILE *stream;
	char *text;
	size_t size;
} KmtMemoryOutput;

/* Return a stream to print to. kmt_memory_output_close() closes the stream. */
FILE *kmt_memory_output_open(KmtMemoryOutput *output);

/*
 * Close the stream, and check that the printed text is UTF-8. Return the text,
 * which the caller frees with free().
 */
char *kmt_memory_output_close(KmtMemoryOutput *output);

/* Check that the text is a JSON document. */
void kmt_memory_output_check_json(const char *text);

#endif
