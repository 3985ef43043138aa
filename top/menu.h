/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A list above the last line of the screen, of which the user selects one item.
 */
#ifndef KMEMTRACE_TOP_MENU_H
#define KMEMTRACE_TOP_MENU_H

#include <glib.h>

typedef struct KmtTopMenu KmtTopMenu;

typedef enum {
	KMT_TOP_MENU_OPEN,
	KMT_TOP_MENU_SELECTED,
	KMT_TOP_MENU_CANCELLED
} KmtTopMenuResult;

/*
 * Create a menu. items is NULL-terminated, has constant texts, and must outlive
 * the menu. next is the key that moves to the next item: the one that opened
 * the menu.
 */
KmtTopMenu *kmt_top_menu_new(const char *title, const char *const *items,
			     guint selected, guint32 next);
void kmt_top_menu_free(KmtTopMenu *menu);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtTopMenu, kmt_top_menu_free)

/* Process a key of kmt_top_terminal_key(). A digit selects an item at once. */
KmtTopMenuResult kmt_top_menu_key(KmtTopMenu *menu, guint32 key);

/* Return the number of the selected item, from 0. */
guint kmt_top_menu_selected(const KmtTopMenu *menu);

/* Draw the menu above a line. */
void kmt_top_menu_draw(const KmtTopMenu *menu, guint line);

#endif
