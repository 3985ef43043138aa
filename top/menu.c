// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "top/menu.h"
#include "top/terminal.h"
#include "top/text-width.h"

struct KmtTopMenu {
	char *title;
	const char *const *items;
	guint n_items, selected;
	guint32 next;
};

KmtTopMenu *kmt_top_menu_new(const char *title, const char *const *items,
			     guint selected, guint32 next)
{
	KmtTopMenu *menu = g_new0(KmtTopMenu, 1);

	menu->title = g_strdup(title);
	menu->items = items;
	menu->n_items = g_strv_length((char **)items);
	menu->selected = selected;
	menu->next = next;
	return menu;
}

void kmt_top_menu_free(KmtTopMenu *menu)
{
	if (!menu)
		return;
	g_free(menu->title);
	g_free(menu);
}

guint kmt_top_menu_selected(const KmtTopMenu *menu)
{
	return menu->selected;
}

KmtTopMenuResult kmt_top_menu_key(KmtTopMenu *menu, guint32 key)
{
	if (key == KMT_TOP_KEY_ENTER || key == ' ')
		return KMT_TOP_MENU_SELECTED;
	if (key == KMT_TOP_KEY_ESCAPE || key == 'q' || key == KMT_TOP_CTRL('c'))
		return KMT_TOP_MENU_CANCELLED;
	if (key >= '1' && key - '1' < menu->n_items) {
		menu->selected = key - '1';
		return KMT_TOP_MENU_SELECTED;
	}
	if (key == KMT_TOP_KEY_DOWN || key == menu->next)
		menu->selected = (menu->selected + 1) % menu->n_items;
	else if (key == KMT_TOP_KEY_UP)
		menu->selected =
			(menu->selected + menu->n_items - 1) % menu->n_items;
	return KMT_TOP_MENU_OPEN;
}

static void draw_line(guint line, guint width, KmtTopStyle style,
		      const char *text)
{
	g_autofree char *cut = kmt_top_text_slice(text, 0, width);
	guint column = kmt_top_terminal_put(line, 0, style, cut);

	while (column < width)
		column = kmt_top_terminal_put(line, column, style, " ");
}

static char *item_text(const KmtTopMenu *menu, guint i)
{
	return g_strdup_printf(" %u %s ", i + 1, menu->items[i]);
}

void kmt_top_menu_draw(const KmtTopMenu *menu, guint line)
{
	guint width = kmt_top_text_width(menu->title) + 2, i, shown, first;
	g_autofree char *title = g_strdup_printf(" %s", menu->title);

	for (i = 0; i < menu->n_items; i++) {
		g_autofree char *text = item_text(menu, i);

		width = MAX(width, kmt_top_text_width(text));
	}
	width = MIN(width, kmt_top_terminal_columns());
	/* Without room for all items, show those around the selected one. */
	shown = line > 0 ? MIN(menu->n_items, line - 1) : 0;
	first = menu->selected >= shown && shown ? menu->selected - shown + 1
						 : 0;
	if (line > shown)
		draw_line(line - shown - 1, width, KMT_TOP_TITLE, title);
	for (i = 0; i < shown; i++) {
		g_autofree char *text = item_text(menu, first + i);

		draw_line(line - shown + i, width,
			  first + i == menu->selected ? KMT_TOP_SELECTED
						      : KMT_TOP_PLAIN,
			  text);
	}
}
