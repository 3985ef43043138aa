// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "top/screen-columns.h"
#include "top/screen-private.h"
#include "top/text-width.h"

/* A smaller terminal only shows a message. */
#define MIN_COLUMNS 20
#define MIN_LINES   5

/* ---- table ---- */

/* The columns of the table and their widths. */
typedef struct {
	guint widths[KMT_TOP_N_COLUMNS];
	gboolean shown[KMT_TOP_N_COLUMNS];
	guint name_width;
} TableLayout;

/* Return the visible rows: at most n, from screen->first_row on, so that the
 * selected row is one of them. */
static guint visible_rows(KmtTopScreen *screen, guint n)
{
	guint n_rows = screen->view->n_rows;

	if (screen->selected < screen->first_row)
		screen->first_row = screen->selected;
	else if (screen->selected >= screen->first_row + n)
		screen->first_row = screen->selected - n + 1;
	if (screen->first_row + n > n_rows)
		screen->first_row = n_rows > n ? n_rows - n : 0;
	return MIN(n, n_rows - screen->first_row);
}

static void find_layout(const KmtTopScreen *screen, guint n,
			TableLayout *layout)
{
	const KmtTopRow *rows = screen->view->rows + screen->first_row;
	char text[KMT_TOP_FIGURE_SIZE];

	for (KmtTopColumn c = 0; c < KMT_TOP_N_COLUMNS; c++) {
		guint width = kmt_top_column_min_width(c);

		for (guint i = 0; i < n; i++) {
			kmt_top_column_text(text, c, rows[i].kind,
					    &rows[i].figures,
					    screen->precision);
			width = MAX(width, kmt_top_text_width(text));
		}
		layout->widths[c] = width;
	}
	layout->name_width =
		kmt_top_columns_fit(layout->widths, kmt_top_terminal_columns(),
				    screen->query.order, layout->shown);
}

/* Print a cell and the blank after it. Return the next column. */
static guint draw_cell(guint line, guint column, KmtTopStyle style,
		       KmtTopColumn c, guint width, const char *text)
{
	g_autofree char *padded =
		kmt_top_column_is_text(c)
			? g_strdup_printf("%-*s ", (int)width, text)
			: g_strdup_printf("%*s ", (int)width, text);

	return kmt_top_terminal_put(line, column, style, padded);
}

static void draw_titles(const KmtTopScreen *screen, const TableLayout *layout,
			guint line)
{
	g_autofree char *name = g_ascii_strup(
		kmt_top_grouping_titles[screen->query.grouping], -1);
	gboolean by_name = screen->query.order == KMT_TOP_ORDER_NAME;
	guint column = 0;

	for (KmtTopColumn c = 0; c < KMT_TOP_N_COLUMNS; c++) {
		KmtTopOrder order;
		gboolean sorted = kmt_top_column_order(c, &order) &&
				  order == screen->query.order;

		if (layout->shown[c])
			column = draw_cell(
				line, column,
				sorted ? KMT_TOP_BOLD : KMT_TOP_SELECTED, c,
				layout->widths[c], kmt_top_column_title(c));
	}
	column = kmt_top_terminal_put(
		line, column, by_name ? KMT_TOP_BOLD : KMT_TOP_SELECTED, name);
	kmt_top_terminal_fill(line, column, KMT_TOP_SELECTED);
}

static void draw_row(const KmtTopScreen *screen, const TableLayout *layout,
		     guint line, guint row)
{
	const KmtTopRow *from = &screen->view->rows[row];
	KmtTopStyle style =
		row == screen->selected ? KMT_TOP_SELECTED : KMT_TOP_PLAIN;
	char text[KMT_TOP_FIGURE_SIZE];
	g_autofree char *name = kmt_top_text_slice(
		from->name, screen->name_column, layout->name_width);
	guint column = 0;

	for (KmtTopColumn c = 0; c < KMT_TOP_N_COLUMNS; c++) {
		if (!layout->shown[c])
			continue;
		kmt_top_column_text(text, c, from->kind, &from->figures,
				    screen->precision);
		column = draw_cell(line, column, style, c, layout->widths[c],
				   text);
	}
	column = kmt_top_terminal_put(line, column, style, name);
	if (row == screen->selected)
		kmt_top_terminal_fill(line, column, style);
}

/* Draw the table from a line on, in n_lines lines. */
static void draw_table(KmtTopScreen *screen, guint line, guint n_lines)
{
	TableLayout layout;
	guint n;

	screen->n_table_lines = n_lines > 1 ? n_lines - 1 : 1;
	n = visible_rows(screen, screen->n_table_lines);
	find_layout(screen, n, &layout);
	draw_titles(screen, &layout, line);
	for (guint i = 0; i < n; i++)
		draw_row(screen, &layout, line + 1 + i, screen->first_row + i);
}

/* ---- last line ---- */

static void draw_last_line(const KmtTopScreen *screen, guint line)
{
	const char *hint =
		screen->page == KMT_TOP_PAGE_TABLE
			? "h help  q quit  o order  k kind  g group  "
			  "/ filter  space pause  w save  c capture"
		: screen->page == KMT_TOP_PAGE_DETAILS
			? "q back  w save as text  W as JSON  space pause"
			: "q back";

	if (screen->prompt)
		kmt_top_prompt_draw(screen->prompt, line);
	else if (screen->message)
		kmt_top_terminal_put(line, 0,
				     screen->message_is_warning
					     ? KMT_TOP_WARNING
					     : KMT_TOP_BOLD,
				     screen->message);
	else
		kmt_top_terminal_put(line, 0, KMT_TOP_PLAIN, hint);
}

/* ---- screen ---- */

static void draw_pages(KmtTopScreen *screen, guint lines)
{
	guint last = lines - 1, header = 0;

	if (screen->page != KMT_TOP_PAGE_TABLE) {
		screen->n_page_lines = last;
		kmt_top_text_lines_draw(screen->lines, &screen->scroll, 0,
					last);
	} else if (screen->view) {
		/* The table has at least half of the lines. */
		header = kmt_top_screen_draw_header(screen, MAX(last / 2, 2));
		draw_table(screen, header, last - header);
	} else {
		kmt_top_terminal_put(0, 0, KMT_TOP_PLAIN,
				     "Waiting for the first records...");
	}
	if (screen->menu)
		kmt_top_menu_draw(screen->menu, last);
	draw_last_line(screen, last);
}

void kmt_top_screen_draw(KmtTopScreen *screen)
{
	guint lines = kmt_top_terminal_lines();
	guint columns = kmt_top_terminal_columns();

	kmt_top_terminal_begin();
	if (lines < MIN_LINES || columns < MIN_COLUMNS) {
		g_autofree char *text =
			g_strdup_printf("needs %ux%u", MIN_COLUMNS, MIN_LINES);

		kmt_top_terminal_put(0, 0, KMT_TOP_PLAIN, text);
	} else {
		draw_pages(screen, lines);
	}
	kmt_top_terminal_end();
}
