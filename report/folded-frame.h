/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames of folded stacks. */
#ifndef KMEMTRACE_REPORT_FOLDED_FRAME_H
#define KMEMTRACE_REPORT_FOLDED_FRAME_H

#include <glib.h>
#include <stdio.h>

/*
 * Print a frame that is not the first one. A semicolon, blank or newline in the
 * text would end the frame, so "_" replaces these characters. @text is changed.
 */
static inline void kmt_folded_frame(FILE *out, char *text)
{
	fputc(';', out);
	fputs(g_strdelimit(text, "; \n", '_'), out);
}

/* Return the text of the frame of a function; @module is NULL for the kernel
 * itself. The caller frees the string. */
static inline char *kmt_folded_function(const char *function,
					const char *module)
{
	return module ? g_strdup_printf("%s_[%s]", function, module)
		      : g_strdup(function);
}

#endif
