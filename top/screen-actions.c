// SPDX-License-Identifier: GPL-2.0-or-later
/* The actions that need a path: to save the view, and to record a capture. */
#include "config.h"

#include <time.h>

#include "top/details-text.h"
#include "top/save.h"
#include "top/screen-private.h"

void kmt_top_screen_prompt(KmtTopScreen *screen, const char *label,
			   const char *text, KmtTopAnswer answer)
{
	g_clear_pointer(&screen->prompt, kmt_top_prompt_free);
	screen->prompt = kmt_top_prompt_new(label, text);
	screen->answer = answer;
}

/* ---- save ---- */

static void print_view(FILE *out, gconstpointer user)
{
	const KmtTopScreen *screen = user;

	if (screen->save_json)
		kmt_top_print_json(screen->view, &screen->query, 0, out);
	else
		kmt_top_print_text(screen->view, &screen->query, 0, out);
}

static void print_details(FILE *out, gconstpointer user)
{
	const KmtTopScreen *screen = user;
	g_autoptr(KmtTopDetails) details = NULL;

	if (!screen->save_json) {
		kmt_top_text_lines_print(screen->lines, out);
		return;
	}
	details = kmt_top_details_new(screen->shown, &screen->query,
				      screen->details_id);
	if (details)
		kmt_top_details_print_json(details, screen->query.grouping,
					   out);
}

static void confirm_replace(KmtTopScreen *screen, const char *text);

static void save(KmtTopScreen *screen, gboolean overwrite)
{
	g_autoptr(GError) error = NULL;
	KmtTopSavePrint print = screen->page == KMT_TOP_PAGE_DETAILS
					? print_details
					: print_view;

	if (kmt_top_save(screen->save_path, overwrite, print, screen, &error)) {
		kmt_top_screen_message(screen, FALSE, "Saved to %s",
				       screen->save_path);
	} else if (!overwrite &&
		   g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_EXIST)) {
		g_autofree char *label = g_strdup_printf(
			"%s exists. Replace it (yes/no)? ", screen->save_path);

		kmt_top_screen_prompt(screen, label, "", confirm_replace);
	} else {
		kmt_top_screen_message(screen, TRUE, "%s", error->message);
	}
}

static void confirm_replace(KmtTopScreen *screen, const char *text)
{
	if (g_ascii_strcasecmp(text, "y") == 0 ||
	    g_ascii_strcasecmp(text, "yes") == 0)
		save(screen, TRUE);
	else
		kmt_top_screen_message(screen, FALSE, "Not saved");
}

static void save_to(KmtTopScreen *screen, const char *text)
{
	if (!*text)
		return;
	g_free(screen->save_path);
	screen->save_path = g_strdup(text);
	save(screen, FALSE);
}

void kmt_top_screen_prompt_save(KmtTopScreen *screen, gboolean json)
{
	if (!screen->view) {
		kmt_top_screen_message(screen, TRUE, "Nothing to save yet");
		return;
	}
	screen->save_json = json;
	kmt_top_screen_prompt(
		screen, json ? "Save as JSON to file: " : "Save to file: ",
		json ? "kmemtrace-top.json" : "kmemtrace-top.txt", save_to);
}

/* ---- raw capture ---- */

static void start_capture(KmtTopScreen *screen, const char *path)
{
	if (!*path)
		return;
	kmt_top_engine_start_capture(screen->engine, path);
	g_free(screen->capture_path);
	screen->capture_path = g_strdup(path);
	screen->capturing = TRUE;
	kmt_top_screen_message(screen, FALSE,
			       "Raw capture starts in %s; c stops it", path);
}

/* Return a directory with the time in its name, so that a second capture gets
 * another one. */
static char *default_directory(void)
{
	g_autoptr(GDateTime) now = g_date_time_new_now_local();

	return now ? g_date_time_format(now, "kmemtrace-%Y%m%d-%H%M%S")
		   : g_strdup("kmemtrace-capture");
}

void kmt_top_screen_toggle_capture(KmtTopScreen *screen)
{
	const KmtTopHeader *header =
		screen->latest ? kmt_top_snapshot_header(screen->latest) : NULL;
	g_autofree char *directory = NULL;

	if (screen->capturing) {
		kmt_top_engine_stop_capture(screen->engine);
		screen->capturing = FALSE;
		kmt_top_screen_message(screen, FALSE, "Raw capture stops");
		return;
	}
	if (header && header->ended) {
		kmt_top_screen_message(screen, TRUE,
				       "Cannot record: the trace has ended");
		return;
	}
	directory = default_directory();
	kmt_top_screen_prompt(screen, "Raw capture in directory: ", directory,
			      start_capture);
}
