// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <math.h>

#include "top/screen-private.h"

/* Columns by which the keys left and right scroll the names. */
#define NAME_STEP 8

/* Limits of the interval, in seconds. */
#define MIN_INTERVAL 0.1
#define MAX_INTERVAL 3600

/* ---- answers of menus and prompts ---- */

static void choose_order(KmtTopScreen *screen, guint item)
{
	screen->query.order = item;
	kmt_top_screen_update_view(screen);
}

static void choose_kind(KmtTopScreen *screen, guint item)
{
	screen->query.kind = item;
	screen->follow = FALSE;
	kmt_top_screen_update_view(screen);
}

static void choose_grouping(KmtTopScreen *screen, guint item)
{
	screen->query.grouping = item;
	screen->follow = FALSE;
	screen->name_column = 0;
	kmt_top_screen_update_view(screen);
}

static void answer_filter(KmtTopScreen *screen, const char *text)
{
	kmt_top_screen_set_filter(screen, text);
	kmt_top_screen_update_view(screen);
}

static void answer_interval(KmtTopScreen *screen, const char *text)
{
	char *end;
	double seconds = g_ascii_strtod(text, &end);

	if (end == text || *end || !isfinite(seconds) ||
	    seconds < MIN_INTERVAL || seconds > MAX_INTERVAL)
		kmt_top_screen_message(screen, TRUE,
				       "'%s' is no number of seconds from %.1f "
				       "to %d",
				       text, MIN_INTERVAL, MAX_INTERVAL);
	else
		screen->interval_s = seconds;
}

static void open_menu(KmtTopScreen *screen, const char *title,
		      const char *const *items, guint selected, guint32 next,
		      KmtTopChoice choice)
{
	screen->menu = kmt_top_menu_new(title, items, selected, next);
	screen->choice = choice;
}

static void prompt_interval(KmtTopScreen *screen)
{
	char text[G_ASCII_DTOSTR_BUF_SIZE];

	g_ascii_formatd(text, sizeof(text), "%g", screen->interval_s);
	kmt_top_screen_prompt(screen, "Seconds between updates: ", text,
			      answer_interval);
}

/* ---- keys of the table ---- */

static void change_order(KmtTopScreen *screen, guint step)
{
	choose_order(screen, (screen->query.order + step) % KMT_TOP_N_ORDERS);
}

static void move_selection(KmtTopScreen *screen, gint64 by)
{
	gint64 last = screen->view ? (gint64)screen->view->n_rows - 1 : -1;

	if (last >= 0)
		kmt_top_screen_select(
			screen,
			(guint)CLAMP((gint64)screen->selected + by, 0, last));
}

/* Process a key that moves the selection. Return FALSE for another key. */
static gboolean move_key(KmtTopScreen *screen, guint32 key)
{
	gint64 page = MAX(screen->n_table_lines, 2) - 1;

	switch (key) {
	case KMT_TOP_KEY_UP:
		move_selection(screen, -1);
		break;
	case KMT_TOP_KEY_DOWN:
		move_selection(screen, 1);
		break;
	case KMT_TOP_KEY_PAGE_UP:
		move_selection(screen, -page);
		break;
	case KMT_TOP_KEY_PAGE_DOWN:
		move_selection(screen, page);
		break;
	case KMT_TOP_KEY_HOME:
		/* The first row stays selected, whichever it is. */
		screen->follow = FALSE;
		screen->selected = 0;
		break;
	case KMT_TOP_KEY_END:
		move_selection(screen, G_MAXINT32);
		break;
	case KMT_TOP_KEY_LEFT:
		screen->name_column -= MIN(screen->name_column, NAME_STEP);
		break;
	case KMT_TOP_KEY_RIGHT:
		screen->name_column += NAME_STEP;
		break;
	default:
		return FALSE;
	}
	return TRUE;
}

/* Process a key that changes the query. Return FALSE for another key. */
static gboolean query_key(KmtTopScreen *screen, guint32 key)
{
	switch (key) {
	case 'o':
		open_menu(screen, "Order", kmt_top_order_titles,
			  screen->query.order, key, choose_order);
		break;
	case '<':
		change_order(screen, KMT_TOP_N_ORDERS - 1);
		break;
	case '>':
		change_order(screen, 1);
		break;
	case 'R':
		screen->query.reverse = !screen->query.reverse;
		kmt_top_screen_update_view(screen);
		break;
	case 'k':
		open_menu(screen, "Kind of memory", kmt_top_kind_titles,
			  screen->query.kind, key, choose_kind);
		break;
	case 'g':
		open_menu(screen, "Rows", kmt_top_grouping_titles,
			  screen->query.grouping, key, choose_grouping);
		break;
	case '/':
		kmt_top_screen_prompt(screen, "Filter: ",
				      screen->filter ? screen->filter : "",
				      answer_filter);
		break;
	default:
		return FALSE;
	}
	return TRUE;
}

static void table_key(KmtTopScreen *screen, guint32 key)
{
	if (query_key(screen, key) || move_key(screen, key))
		return;
	switch (key) {
	case 'q':
	case KMT_TOP_CTRL('c'):
		screen->quit = TRUE;
		break;
	case KMT_TOP_KEY_ENTER:
		kmt_top_screen_open_details(screen);
		break;
	case 'u':
		screen->precision = screen->precision == KMT_TOP_SHORT
					    ? KMT_TOP_EXACT
					    : KMT_TOP_SHORT;
		break;
	}
}

/* ---- keys of all pages ---- */

static void open_help(KmtTopScreen *screen)
{
	g_clear_pointer(&screen->lines, g_array_unref);
	screen->page = KMT_TOP_PAGE_HELP;
	screen->scroll = (KmtTopScroll){0};
	screen->lines = kmt_top_text_lines_new();
	kmt_top_help_add_lines(screen->lines);
}

/* Return TRUE if the key was one of the page above the table. */
static gboolean page_key(KmtTopScreen *screen, guint32 key)
{
	if (kmt_top_text_lines_key(screen->lines, &screen->scroll,
				   screen->n_page_lines, key))
		return TRUE;
	if (key != 'q' && key != KMT_TOP_KEY_ESCAPE &&
	    key != KMT_TOP_KEY_ENTER && key != KMT_TOP_CTRL('c'))
		return FALSE;
	screen->page = KMT_TOP_PAGE_TABLE;
	g_clear_pointer(&screen->lines, g_array_unref);
	return TRUE;
}

static void toggle_pause(KmtTopScreen *screen)
{
	screen->paused = !screen->paused;
	if (!screen->paused)
		kmt_top_screen_show_latest(screen);
}

/* Process a key that has the same effect on all pages. */
static gboolean common_key(KmtTopScreen *screen, guint32 key)
{
	switch (key) {
	case ' ':
		toggle_pause(screen);
		break;
	case 'd':
		prompt_interval(screen);
		break;
	case 'c':
		kmt_top_screen_toggle_capture(screen);
		break;
	case KMT_TOP_CTRL('l'):
		kmt_top_terminal_repaint();
		break;
	case KMT_TOP_CTRL('z'):
		kmt_top_terminal_suspend(screen->terminal);
		break;
	case KMT_TOP_CTRL('\\'):
		screen->quit = TRUE;
		break;
	default:
		return FALSE;
	}
	return TRUE;
}

static void plain_key(KmtTopScreen *screen, guint32 key)
{
	g_clear_pointer(&screen->message, g_free);
	if (screen->page != KMT_TOP_PAGE_TABLE && page_key(screen, key))
		return;
	if (common_key(screen, key))
		return;
	if (screen->page != KMT_TOP_PAGE_HELP && (key == 'w' || key == 'W'))
		kmt_top_screen_prompt_save(screen, key == 'W');
	else if (screen->page != KMT_TOP_PAGE_HELP &&
		 (key == 'h' || key == '?'))
		open_help(screen);
	else if (screen->page == KMT_TOP_PAGE_TABLE)
		table_key(screen, key);
}

static void prompt_key(KmtTopScreen *screen, guint32 key)
{
	/* The answer may open another prompt. */
	g_autoptr(KmtTopPrompt) prompt = screen->prompt;
	KmtTopPromptResult result = kmt_top_prompt_key(prompt, key);

	if (result == KMT_TOP_PROMPT_OPEN) {
		g_steal_pointer(&prompt);
		return;
	}
	screen->prompt = NULL;
	if (result == KMT_TOP_PROMPT_ACCEPTED)
		screen->answer(screen, kmt_top_prompt_text(prompt));
}

static void menu_key(KmtTopScreen *screen, guint32 key)
{
	KmtTopMenuResult result = kmt_top_menu_key(screen->menu, key);
	guint selected = kmt_top_menu_selected(screen->menu);

	if (result == KMT_TOP_MENU_OPEN)
		return;
	g_clear_pointer(&screen->menu, kmt_top_menu_free);
	if (result == KMT_TOP_MENU_SELECTED)
		screen->choice(screen, selected);
}

void kmt_top_screen_key(KmtTopScreen *screen, guint32 key)
{
	if (screen->prompt)
		prompt_key(screen, key);
	else if (screen->menu)
		menu_key(screen, key);
	else
		plain_key(screen, key);
}
