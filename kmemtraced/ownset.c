// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "kmemtraced/ownset.h"

/* An address is in one of so many slots from its own on. */
#define PROBES 8

void kmt_own_tasks_add(KmtOwnTasks *tasks, gint32 tid)
{
	guint bit = (guint)tid % 4096;
	guint n = atomic_fetch_add(&tasks->n, 1);

	if (n >= KMT_OWN_TASKS_MAX) {
		atomic_store(&tasks->n, KMT_OWN_TASKS_MAX);
		return;
	}
	atomic_store(&tasks->tids[n], tid);
	atomic_fetch_or(&tasks->maybe[bit / 64], G_GUINT64_CONSTANT(1)
							 << bit % 64);
}

gboolean kmt_own_tasks_search(const KmtOwnTasks *tasks, gint32 tid)
{
	guint n = MIN(atomic_load(&tasks->n), KMT_OWN_TASKS_MAX);

	for (guint i = 0; i < n; i++)
		if (atomic_load(&tasks->tids[i]) == tid)
			return TRUE;
	return FALSE;
}

static guint first_slot(guint64 address)
{
	return (guint)(address * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15) >> 52);
}

void kmt_own_set_add(KmtOwnSet *set, guint64 address)
{
	guint first = first_slot(address);
	guint64 *oldest = &set->slots[first % KMT_OWN_SLOTS];

	for (guint i = 0; i < PROBES; i++) {
		guint64 *slot = &set->slots[(first + i) % KMT_OWN_SLOTS];

		if (*slot == address)
			return;
		if (*slot == 0) {
			*slot = address;
			set->n++;
			return;
		}
	}
	*oldest = address;
}

gboolean kmt_own_set_remove(KmtOwnSet *set, guint64 address)
{
	guint first = first_slot(address);

	if (set->n == 0)
		return FALSE;
	for (guint i = 0; i < PROBES; i++) {
		guint64 *slot = &set->slots[(first + i) % KMT_OWN_SLOTS];

		if (*slot == address) {
			*slot = 0;
			set->n--;
			return TRUE;
		}
	}
	return FALSE;
}
