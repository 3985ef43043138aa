// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "kmemtraced/self-filter.h"

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

void kmt_own_set_add(KmtOwnSet *set, guint64 address)
{
	guint bucket = kmt_own_bucket(address);
	guint64 *slots = set->slots[bucket];

	for (guint i = 0; i < KMT_OWN_BUCKET_SLOTS; i++)
		if (slots[i] == address)
			return;
	for (guint i = 0; i < KMT_OWN_BUCKET_SLOTS; i++)
		if (slots[i] == 0) {
			slots[i] = address;
			set->n_used[bucket]++;
			return;
		}
	slots[0] = address;
}

gboolean kmt_own_set_remove_used(KmtOwnSet *set, guint bucket, guint64 address)
{
	guint64 *slots = set->slots[bucket];

	for (guint i = 0; i < KMT_OWN_BUCKET_SLOTS; i++)
		if (slots[i] == address) {
			slots[i] = 0;
			set->n_used[bucket]--;
			return TRUE;
		}
	return FALSE;
}
