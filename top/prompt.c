// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "top/prompt.h"
#include "top/terminal.h"
#include "top/text-width.h"

/* Longest text in bytes; paths may have 4096. */
#define MAX_BYTES 4096

struct KmtTopPrompt {
	char *label;
	GString *text;
	gsize cursor; /* offset in text, at the beginning of a character */
};

KmtTopPrompt *kmt_top_prompt_new(const char *label, const char *text)
{
	KmtTopPrompt *prompt = g_new0(KmtTopPrompt, 1);

	prompt->label = g_strdup(label);
	prompt->text = g_string_new(text);
	prompt->cursor = prompt->text->len;
	return prompt;
}

void kmt_top_prompt_free(KmtTopPrompt *prompt)
{
	if (!prompt)
		return;
	g_free(prompt->label);
	g_string_free(prompt->text, TRUE);
	g_free(prompt);
}

const char *kmt_top_prompt_text(const KmtTopPrompt *prompt)
{
	return prompt->text->str;
}

/* ---- editing ---- */

/* Return the offset of the character before or after the cursor. */
static gsize previous(const KmtTopPrompt *prompt)
{
	const char *text = prompt->text->str;

	if (prompt->cursor == 0)
		return 0;
	return (gsize)(g_utf8_prev_char(text + prompt->cursor) - text);
}

static gsize next(const KmtTopPrompt *prompt)
{
	const char *text = prompt->text->str;

	if (prompt->cursor == prompt->text->len)
		return prompt->cursor;
	return (gsize)(g_utf8_next_char(text + prompt->cursor) - text);
}

/* Remove the text between two offsets, where the cursor is then. */
static void erase_part(KmtTopPrompt *prompt, gsize from, gsize to)
{
	g_string_erase(prompt->text, (gssize)from, (gssize)(to - from));
	prompt->cursor = from;
}

static void erase_word(KmtTopPrompt *prompt)
{
	const char *text = prompt->text->str;
	gsize from = prompt->cursor;

	while (from > 0 && text[from - 1] == ' ')
		from--;
	while (from > 0 && text[from - 1] != ' ')
		from--;
	erase_part(prompt, from, prompt->cursor);
}

static void insert(KmtTopPrompt *prompt, guint32 key)
{
	char bytes[6];
	int n;

	if (key >= KMT_TOP_KEY_NONE || !g_unichar_isprint(key))
		return;
	n = g_unichar_to_utf8(key, bytes);
	if (prompt->text->len + (gsize)n > MAX_BYTES)
		return;
	g_string_insert_len(prompt->text, (gssize)prompt->cursor, bytes, n);
	prompt->cursor += (gsize)n;
}

static void edit(KmtTopPrompt *prompt, guint32 key)
{
	switch (key) {
	case KMT_TOP_KEY_LEFT:
		prompt->cursor = previous(prompt);
		break;
	case KMT_TOP_KEY_RIGHT:
		prompt->cursor = next(prompt);
		break;
	case KMT_TOP_KEY_HOME:
	case KMT_TOP_CTRL('a'):
		prompt->cursor = 0;
		break;
	case KMT_TOP_KEY_END:
	case KMT_TOP_CTRL('e'):
		prompt->cursor = prompt->text->len;
		break;
	case KMT_TOP_KEY_BACKSPACE:
		erase_part(prompt, previous(prompt), prompt->cursor);
		break;
	case KMT_TOP_KEY_DELETE:
		erase_part(prompt, prompt->cursor, next(prompt));
		break;
	case KMT_TOP_CTRL('u'):
		erase_part(prompt, 0, prompt->cursor);
		break;
	case KMT_TOP_CTRL('w'):
		erase_word(prompt);
		break;
	default:
		insert(prompt, key);
	}
}

KmtTopPromptResult kmt_top_prompt_key(KmtTopPrompt *prompt, guint32 key)
{
	if (key == KMT_TOP_KEY_ENTER)
		return KMT_TOP_PROMPT_ACCEPTED;
	if (key == KMT_TOP_KEY_ESCAPE || key == KMT_TOP_CTRL('c') ||
	    key == KMT_TOP_CTRL('g'))
		return KMT_TOP_PROMPT_CANCELLED;
	edit(prompt, key);
	return KMT_TOP_PROMPT_OPEN;
}

/* ---- output ---- */

void kmt_top_prompt_draw(const KmtTopPrompt *prompt, guint line)
{
	guint columns = kmt_top_terminal_columns();
	guint label = kmt_top_text_width(prompt->label), width, before, first;
	g_autofree char *head = NULL, *part = NULL;

	/* On a narrow terminal the text is more important than the label. */
	if (label + 10 > columns)
		label = columns / 3;
	width = columns - label;
	head = g_strndup(prompt->text->str, prompt->cursor);
	before = kmt_top_text_width(head);
	first = before >= width ? before - width + 1 : 0;
	kmt_top_terminal_fill(line, 0, KMT_TOP_PLAIN);
	part = kmt_top_text_slice(prompt->label, 0, label);
	kmt_top_terminal_put(line, 0, KMT_TOP_BOLD, part);
	g_free(part);
	part = kmt_top_text_slice(prompt->text->str, first, width);
	kmt_top_terminal_put(line, label, KMT_TOP_PLAIN, part);
	kmt_top_terminal_cursor(line, label + before - first);
}
