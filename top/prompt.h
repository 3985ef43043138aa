/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A line of text that the user edits in the last line of the screen. */
#ifndef KMEMTRACE_TOP_PROMPT_H
#define KMEMTRACE_TOP_PROMPT_H

#include <glib.h>

typedef struct KmtTopPrompt KmtTopPrompt;

typedef enum {
	KMT_TOP_PROMPT_OPEN,
	KMT_TOP_PROMPT_ACCEPTED,
	KMT_TOP_PROMPT_CANCELLED
} KmtTopPromptResult;

/* Create a prompt with a label, such as "Filter: ", and the text to edit. */
KmtTopPrompt *kmt_top_prompt_new(const char *label, const char *text);
void kmt_top_prompt_free(KmtTopPrompt *prompt);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtTopPrompt, kmt_top_prompt_free)

/* Process a key of kmt_top_terminal_key(). */
KmtTopPromptResult kmt_top_prompt_key(KmtTopPrompt *prompt, guint32 key);

/* Return the text, in UTF-8, which the prompt owns. */
const char *kmt_top_prompt_text(const KmtTopPrompt *prompt);

/* Draw the prompt in a line. A text that is too long is shown around the
 * cursor. */
void kmt_top_prompt_draw(const KmtTopPrompt *prompt, guint line);

#endif
