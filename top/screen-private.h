/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of the screen, which belongs to the main thread. */
#ifndef KMEMTRACE_TOP_SCREEN_PRIVATE_H
#define KMEMTRACE_TOP_SCREEN_PRIVATE_H

#include "top/figure-text.h"
#include "top/menu.h"
#include "top/prompt.h"
#include "top/screen.h"
#include "top/terminal.h"
#include "top/text-lines.h"

typedef enum {
	KMT_TOP_PAGE_TABLE,
	KMT_TOP_PAGE_DETAILS,
	KMT_TOP_PAGE_HELP
} KmtTopPage;

typedef struct KmtTopScreen KmtTopScreen;

/* Called with the text of a prompt, or the number of an item of a menu. */
typedef void (*KmtTopAnswer)(KmtTopScreen *screen, const char *text);
typedef void (*KmtTopChoice)(KmtTopScreen *screen, guint item);

struct KmtTopScreen {
	KmtTopEngine *engine;
	KmtTopTerminal *terminal;

	/* The screen shows a view of the snapshot shown. While the display is
	 * paused, latest advances and shown does not. */
	KmtTopSnapshot *latest, *shown; /* NULL before the first one */
	KmtTopView *view;		/* of shown and query, or NULL */
	KmtTopQuery query;
	char *filter; /* query.filter */
	KmtTopPrecision precision;
	gboolean paused;
	double interval_s;

	/* The table. The selected row is followed by its id after the user has
	 * moved to it; before, the first row is selected. */
	guint selected, first_row;
	gboolean follow;
	guint64 selected_id;
	guint name_column; /* first visible column of the names */
	guint n_table_lines;

	/* The page above the table. The details are of the row details_id. */
	KmtTopPage page;
	GArray *lines; /* NULL: none */
	KmtTopScroll scroll;
	guint n_page_lines;
	guint64 details_id;

	/* At most one of them is open. */
	KmtTopPrompt *prompt;
	KmtTopAnswer answer;
	KmtTopMenu *menu;
	KmtTopChoice choice;

	char *message; /* in the last line until the next key; or NULL */
	gboolean message_is_warning;
	/* Path of the file that the user may replace. */
	char *save_path;
	gboolean save_json;
	/* A raw capture runs, or was requested; and the path of the latest one
	 * that was requested here, or NULL. */
	gboolean capturing;
	char *capture_path;
	gboolean quit;
};

/* Return the titles of the groupings, kinds, and orders for people, each
 * terminated by NULL. */
extern const char *const kmt_top_grouping_titles[];
extern const char *const kmt_top_kind_titles[];
extern const char *const kmt_top_order_titles[];

/* ---- screen-state.c ---- */

/* Show a message in the last line. */
void kmt_top_screen_message(KmtTopScreen *screen, gboolean warning,
			    const char *format, ...) G_GNUC_PRINTF(3, 4);
/* Replace the latest snapshot, whose reference the screen takes, and show it
 * unless paused. */
void kmt_top_screen_set_snapshot(KmtTopScreen *screen,
				 KmtTopSnapshot *snapshot);
/* Show the latest snapshot, also after a pause. */
void kmt_top_screen_show_latest(KmtTopScreen *screen);
/* The query has changed: select the rows again. */
void kmt_top_screen_update_view(KmtTopScreen *screen);
/* Select a row of the table, and follow it. */
void kmt_top_screen_select(KmtTopScreen *screen, guint row);
/* Show the details of the selected row. */
void kmt_top_screen_open_details(KmtTopScreen *screen);
void kmt_top_screen_set_filter(KmtTopScreen *screen, const char *filter);
/* Free all that the screen owns, except the terminal. */
void kmt_top_screen_clear(KmtTopScreen *screen);

/* ---- other files ---- */

/* Draw the whole screen. */
void kmt_top_screen_draw(KmtTopScreen *screen);
/* Draw the header, at most max_lines lines. Return how many it has. */
guint kmt_top_screen_draw_header(const KmtTopScreen *screen, guint max_lines);
/* Process a key. */
void kmt_top_screen_key(KmtTopScreen *screen, guint32 key);
/* Open the prompts of the keys that save, or start or stop a raw capture. */
void kmt_top_screen_prompt_save(KmtTopScreen *screen, gboolean json);
void kmt_top_screen_toggle_capture(KmtTopScreen *screen);
/* Open a prompt, whose text is passed to answer(). */
void kmt_top_screen_prompt(KmtTopScreen *screen, const char *label,
			   const char *text, KmtTopAnswer answer);
/* Append the help. */
void kmt_top_help_add_lines(GArray *lines);

#endif
