// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "top/details-text.h"
#include "top/screen-private.h"

const char *const kmt_top_grouping_titles[] = {
	[KMT_TOP_BY_CALL_SITE] = "call site", [KMT_TOP_BY_CACHE] = "cache",
	[KMT_TOP_BY_COMMAND] = "command",     [KMT_TOP_BY_MODULE] = "module",
	[KMT_TOP_BY_DIRECTORY] = "directory", [KMT_TOP_N_GROUPINGS] = NULL,
};

const char *const kmt_top_kind_titles[] = {
	[KMT_TOP_ALL_KINDS] = "all kinds",
	[KMT_TOP_SLAB] = "slab: kmalloc and caches",
	[KMT_TOP_KMALLOC] = "kmalloc",
	[KMT_TOP_CACHE] = "caches",
	[KMT_TOP_PAGES] = "pages",
	[KMT_TOP_PERCPU] = "per-CPU",
	[KMT_TOP_VMALLOC] = "vmalloc",
	[KMT_TOP_N_KINDS] = NULL,
};

const char *const kmt_top_order_titles[] = {
	[KMT_TOP_ORDER_RATE] = "allocated bytes/s",
	[KMT_TOP_ORDER_LIVE] = "live bytes",
	[KMT_TOP_ORDER_WASTED] = "wasted bytes",
	[KMT_TOP_ORDER_GROWTH] = "growth",
	[KMT_TOP_ORDER_ALLOCS] = "allocations/s",
	[KMT_TOP_ORDER_NAME] = "name",
	[KMT_TOP_N_ORDERS] = NULL,
};

void kmt_top_screen_message(KmtTopScreen *screen, gboolean warning,
			    const char *format, ...)
{
	va_list args;

	g_free(screen->message);
	va_start(args, format);
	screen->message = g_strdup_vprintf(format, args);
	va_end(args);
	screen->message_is_warning = warning;
}

/* ---- details ---- */

static void clear_lines(KmtTopScreen *screen)
{
	g_clear_pointer(&screen->lines, g_array_unref);
}

/* Make the lines of the details again. The row has vanished if none of its
 * objects is left in a later snapshot, or if the query has changed. */
static void update_details(KmtTopScreen *screen)
{
	g_autoptr(KmtTopDetails) details = kmt_top_details_new(
		screen->shown, &screen->query, screen->details_id);

	clear_lines(screen);
	screen->lines = kmt_top_text_lines_new();
	if (details)
		kmt_top_details_add_lines(details, screen->query.grouping,
					  screen->lines);
	else
		kmt_top_text_lines_add(screen->lines, KMT_TOP_PLAIN, "%s",
				       "This row no longer exists.");
}

void kmt_top_screen_open_details(KmtTopScreen *screen)
{
	if (!screen->view || screen->selected >= screen->view->n_rows)
		return;
	screen->page = KMT_TOP_PAGE_DETAILS;
	screen->scroll = (KmtTopScroll){0};
	screen->details_id = screen->view->rows[screen->selected].id;
	update_details(screen);
}

/* ---- view ---- */

static void find_selected(KmtTopScreen *screen)
{
	const KmtTopView *view = screen->view;
	guint i;

	if (!screen->follow) {
		screen->selected = 0;
		return;
	}
	for (i = 0; i < view->n_rows; i++)
		if (view->rows[i].id == screen->selected_id)
			break;
	if (i < view->n_rows)
		screen->selected = i;
	else if (view->n_rows > 0)
		kmt_top_screen_select(screen,
				      MIN(screen->selected, view->n_rows - 1));
	else
		screen->selected = 0;
}

void kmt_top_screen_select(KmtTopScreen *screen, guint row)
{
	if (!screen->view || row >= screen->view->n_rows)
		return;
	screen->selected = row;
	screen->follow = TRUE;
	screen->selected_id = screen->view->rows[row].id;
}

void kmt_top_screen_update_view(KmtTopScreen *screen)
{
	if (!screen->shown)
		return;
	g_clear_pointer(&screen->view, kmt_top_view_free);
	screen->view = kmt_top_view_new(screen->shown, &screen->query);
	find_selected(screen);
	if (screen->page == KMT_TOP_PAGE_DETAILS)
		update_details(screen);
}

void kmt_top_screen_show_latest(KmtTopScreen *screen)
{
	if (!screen->latest || screen->shown == screen->latest)
		return;
	kmt_top_snapshot_unref(screen->shown);
	screen->shown = kmt_top_snapshot_ref(screen->latest);
	kmt_top_screen_update_view(screen);
}

/* Find out whether the key stops a raw capture, or starts one. */
static void update_capturing(KmtTopScreen *screen)
{
	const KmtTopHeader *header = kmt_top_snapshot_header(screen->latest);

	/* A request takes until the next tick, so a capture that is not
	 * running yet may have been requested. */
	if (header->capture == KMT_TOP_CAPTURE_RUNNING && !screen->shown)
		screen->capturing = TRUE; /* by an option */
	if (header->ended ||
	    (header->capture == KMT_TOP_CAPTURE_FAILED &&
	     g_strcmp0(header->capture_path, screen->capture_path) == 0))
		screen->capturing = FALSE;
}

void kmt_top_screen_set_snapshot(KmtTopScreen *screen, KmtTopSnapshot *snapshot)
{
	kmt_top_snapshot_unref(screen->latest);
	screen->latest = snapshot;
	update_capturing(screen);
	if (!screen->paused || !screen->shown)
		kmt_top_screen_show_latest(screen);
}

void kmt_top_screen_set_filter(KmtTopScreen *screen, const char *filter)
{
	char *copy = filter && *filter ? g_strdup(filter) : NULL;

	g_free(screen->filter);
	screen->filter = copy;
	screen->query.filter = copy;
}

void kmt_top_screen_clear(KmtTopScreen *screen)
{
	clear_lines(screen);
	g_clear_pointer(&screen->view, kmt_top_view_free);
	g_clear_pointer(&screen->latest, kmt_top_snapshot_unref);
	g_clear_pointer(&screen->shown, kmt_top_snapshot_unref);
	g_clear_pointer(&screen->prompt, kmt_top_prompt_free);
	g_clear_pointer(&screen->menu, kmt_top_menu_free);
	g_clear_pointer(&screen->filter, g_free);
	g_clear_pointer(&screen->message, g_free);
	g_clear_pointer(&screen->save_path, g_free);
	g_clear_pointer(&screen->capture_path, g_free);
}
