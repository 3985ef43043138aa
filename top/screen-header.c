// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The header: a few groups of items. Each group begins a line, and its items
 * continue on the next line where they do not fit. If the header is too long
 * for the screen, the least important groups are omitted; the losses remain.
 */
#include "config.h"

#include "top/screen-private.h"
#include "top/text-width.h"

#define U64 G_GUINT64_FORMAT

typedef enum {
	GROUP_PROGRAM,
	GROUP_EVENTS,
	GROUP_MEMORY,
	GROUP_OBJECTS,
	GROUP_CAPTURE,
	GROUP_VIEW,
	N_GROUPS
} Group;

typedef struct {
	Group group;
	KmtTopStyle style;
	char *text;
} Item;

/* The groups that are omitted first. */
static const Group unimportant[] = {GROUP_MEMORY, GROUP_OBJECTS, GROUP_PROGRAM,
				    GROUP_CAPTURE, GROUP_VIEW};

static void clear_item(gpointer item)
{
	g_free(((Item *)item)->text);
}

static void add_item(GArray *items, Group group, KmtTopStyle style,
		     const char *format, ...) G_GNUC_PRINTF(4, 5);

static void add_item(GArray *items, Group group, KmtTopStyle style,
		     const char *format, ...)
{
	Item item = {.group = group, .style = style};
	va_list args;

	va_start(args, format);
	item.text = g_strdup_vprintf(format, args);
	va_end(args);
	g_array_append_val(items, item);
}

/* ---- items ---- */

static void add_program(const KmtTopScreen *screen, GArray *items,
			const KmtTopHeader *header)
{
	g_autoptr(GDateTime) time =
		g_date_time_new_from_unix_local((gint64)header->time);
	g_autofree char *clock =
		time ? g_date_time_format(time, "%H:%M:%S") : g_strdup("?");
	char elapsed[KMT_TOP_FIGURE_SIZE];

	kmt_top_clock_text(elapsed, header->elapsed_s);
	add_item(items, GROUP_PROGRAM, KMT_TOP_BOLD, "kmemtrace-top %s", clock);
	if (screen->paused)
		add_item(items, GROUP_PROGRAM, KMT_TOP_SELECTED, " PAUSED ");
	add_item(items, GROUP_PROGRAM, KMT_TOP_PLAIN, "trace %s", elapsed);
	add_item(items, GROUP_PROGRAM, KMT_TOP_PLAIN, "interval %.1fs",
		 header->interval_s);
	if (header->input)
		add_item(items, GROUP_PROGRAM, KMT_TOP_PLAIN, "file %s",
			 header->input);
	if (header->source)
		add_item(items, GROUP_PROGRAM, KMT_TOP_PLAIN, "source %s",
			 header->source);
	if (header->kernel)
		add_item(items, GROUP_PROGRAM, KMT_TOP_PLAIN, "Linux %s",
			 header->kernel);
	add_item(items, GROUP_PROGRAM, KMT_TOP_PLAIN, "%u CPUs",
		 header->n_cpus);
	if (header->ended)
		add_item(items, GROUP_PROGRAM, KMT_TOP_WARNING, "ENDED: %s",
			 header->end_reason ? header->end_reason : "?");
}

static void add_losses(GArray *items, const KmtTopHeader *header)
{
	char lost[KMT_TOP_FIGURE_SIZE], now[KMT_TOP_FIGURE_SIZE];

	kmt_top_count_text(lost, header->lost, KMT_TOP_EXACT);
	kmt_top_count_text(now, header->interval_lost, KMT_TOP_EXACT);
	if (header->losses_unknown)
		add_item(items, GROUP_EVENTS, KMT_TOP_WARNING,
			 "LOST: at least %s (+%s)", lost, now);
	else if (header->lost)
		add_item(items, GROUP_EVENTS, KMT_TOP_WARNING, "LOST: %s (+%s)",
			 lost, now);
	else
		add_item(items, GROUP_EVENTS, KMT_TOP_PLAIN, "lost 0");
}

/* Figures of live memory are too high if frees are not recorded. */
static void add_not_seen(GArray *items, const KmtTopHeader *header)
{
	if (header->not_seen)
		add_item(items, GROUP_EVENTS, KMT_TOP_PLAIN,
			 "not seen: %u gaps",
			 g_strv_length((char **)header->not_seen));
}

static void add_cost(GArray *items, const KmtTopHeader *header)
{
	if (header->own_cpu_percent >= 0)
		add_item(items, GROUP_EVENTS, KMT_TOP_PLAIN, "top %.1f%% CPU",
			 header->own_cpu_percent);
	if (header->daemon_cpu_percent >= 0)
		add_item(items, GROUP_EVENTS, KMT_TOP_PLAIN,
			 "kmemtraced %.1f%% CPU", header->daemon_cpu_percent);
}

static void add_events(const KmtTopScreen *screen, GArray *items,
		       const KmtTopHeader *header)
{
	char events[KMT_TOP_FIGURE_SIZE], rate[KMT_TOP_FIGURE_SIZE];

	kmt_top_count_text(events, header->events, KMT_TOP_EXACT);
	kmt_top_rate_text(rate, header->events_per_s, screen->precision);
	add_losses(items, header);
	add_not_seen(items, header);
	if (header->limit_reached)
		add_item(items, GROUP_EVENTS, KMT_TOP_WARNING,
			 "LIMIT of %" U64 " objects reached: %" U64
			 " allocations not tracked",
			 header->max_objects, header->untracked_allocs);
	add_item(items, GROUP_EVENTS, KMT_TOP_PLAIN, "events %s (%s/s)", events,
		 rate);
	add_cost(items, header);
}

static void add_memory(const KmtTopScreen *screen, GArray *items)
{
	static const KmtTopKind kinds[] = {KMT_TOP_SLAB, KMT_TOP_PAGES,
					   KMT_TOP_PERCPU, KMT_TOP_VMALLOC};
	char live[KMT_TOP_FIGURE_SIZE], wasted[KMT_TOP_FIGURE_SIZE];

	add_item(items, GROUP_MEMORY, KMT_TOP_PLAIN, "live:");
	for (guint i = 0; i < G_N_ELEMENTS(kinds); i++) {
		const KmtTopFigures *f = &screen->view->kinds[kinds[i]];

		kmt_top_bytes_text(live, f->live_bytes, screen->precision);
		kmt_top_signed_bytes_text(wasted, f->wasted_bytes,
					  screen->precision);
		add_item(items, GROUP_MEMORY, KMT_TOP_PLAIN, "%s %s",
			 kmt_top_kind_name(kinds[i]), live);
		if (f->wasted_bytes)
			add_item(items, GROUP_MEMORY, KMT_TOP_PLAIN,
				 "(%s wasted)", wasted);
	}
}

static void add_objects(const KmtTopScreen *screen, GArray *items,
			const KmtTopHeader *header)
{
	char memory[KMT_TOP_FIGURE_SIZE];

	kmt_top_bytes_text(memory, header->memory_bytes, screen->precision);
	add_item(items, GROUP_OBJECTS, KMT_TOP_PLAIN, "live objects %" U64,
		 header->live_objects);
	if (header->max_objects)
		add_item(items, GROUP_OBJECTS, KMT_TOP_PLAIN, "of %" U64,
			 header->max_objects);
	add_item(items, GROUP_OBJECTS, KMT_TOP_PLAIN, "in %s", memory);
	add_item(items, GROUP_OBJECTS, KMT_TOP_PLAIN,
		 "frees of older memory %" U64, header->frees_before);
	if (header->unmatched_frees)
		add_item(items, GROUP_OBJECTS, KMT_TOP_PLAIN,
			 "unmatched frees %" U64, header->unmatched_frees);
}

/* The state of the raw capture is that of the latest snapshot, also while
 * paused. */
static void add_capture(const KmtTopScreen *screen, GArray *items)
{
	const KmtTopHeader *header = kmt_top_snapshot_header(screen->latest);
	char bytes[KMT_TOP_FIGURE_SIZE];

	kmt_top_bytes_text(bytes, header->capture_bytes, screen->precision);
	switch (header->capture) {
	case KMT_TOP_CAPTURE_RUNNING:
		add_item(items, GROUP_CAPTURE, KMT_TOP_BOLD,
			 "raw capture %s: recording, %s", header->capture_path,
			 bytes);
		break;
	case KMT_TOP_CAPTURE_COMPLETE:
		add_item(items, GROUP_CAPTURE, KMT_TOP_PLAIN,
			 "raw capture %s: complete, %s", header->capture_path,
			 bytes);
		break;
	case KMT_TOP_CAPTURE_FAILED:
		add_item(items, GROUP_CAPTURE, KMT_TOP_WARNING,
			 "raw capture %s failed: %s", header->capture_path,
			 header->capture_error ? header->capture_error : "?");
		break;
	case KMT_TOP_CAPTURE_NONE:
		break;
	}
}

static void add_view(const KmtTopScreen *screen, GArray *items)
{
	const KmtTopView *view = screen->view;
	const KmtTopQuery *query = &screen->query;

	add_item(items, GROUP_VIEW, KMT_TOP_PLAIN, "by %s",
		 kmt_top_grouping_titles[query->grouping]);
	add_item(items, GROUP_VIEW, KMT_TOP_PLAIN, "kind %s",
		 query->kind == KMT_TOP_ALL_KINDS
			 ? "all"
			 : kmt_top_kind_name(query->kind));
	add_item(items, GROUP_VIEW, KMT_TOP_PLAIN, "order %s%s",
		 kmt_top_order_titles[query->order],
		 query->reverse ? " (reversed)" : "");
	if (query->filter)
		add_item(items, GROUP_VIEW, KMT_TOP_BOLD, "filter %s",
			 query->filter);
	add_item(items, GROUP_VIEW, KMT_TOP_PLAIN, "rows %u of %u",
		 view->n_rows, view->n_groups);
}

/* ---- layout ---- */

/* Draw the groups with draw set, or only return how many lines they need. */
static guint lay_out(const GArray *items, const gboolean *omitted,
		     guint max_lines, gboolean draw)
{
	guint width = kmt_top_terminal_columns(), line = 0, column = 0;
	int last = -1;

	for (guint i = 0; i < items->len; i++) {
		const Item *item = &g_array_index(items, Item, i);
		guint needed = kmt_top_text_width(item->text);

		if (omitted[item->group])
			continue;
		if (last >= 0 &&
		    ((guint)last != item->group || column + needed > width)) {
			line++;
			column = 0;
		}
		last = (int)item->group;
		if (draw && line < max_lines)
			kmt_top_terminal_put(line, column, item->style,
					     item->text);
		column += needed + 2;
	}
	return last >= 0 ? line + 1 : 0;
}

guint kmt_top_screen_draw_header(const KmtTopScreen *screen, guint max_lines)
{
	g_autoptr(GArray) items = g_array_new(FALSE, FALSE, sizeof(Item));
	const KmtTopHeader *header = kmt_top_snapshot_header(screen->shown);
	gboolean omitted[N_GROUPS] = {FALSE};
	guint n;

	g_array_set_clear_func(items, clear_item);
	add_program(screen, items, header);
	add_events(screen, items, header);
	add_memory(screen, items);
	add_objects(screen, items, header);
	add_capture(screen, items);
	add_view(screen, items);
	n = lay_out(items, omitted, max_lines, FALSE);
	for (guint i = 0; i < G_N_ELEMENTS(unimportant) && n > max_lines; i++) {
		omitted[unimportant[i]] = TRUE;
		n = lay_out(items, omitted, max_lines, FALSE);
	}
	lay_out(items, omitted, max_lines, TRUE);
	return MIN(n, max_lines);
}
