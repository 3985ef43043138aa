// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "kmemtraced/self-filter.h"

void kmtd_own_tasks_add(KmtdOwnTasks *tasks, gint32 tid)
{
	guint bit = (guint)tid % 4096;
	guint n = atomic_fetch_add(&tasks->n, 1);

	if (n >= KMTD_SELF_FILTER_TASKS_MAX) {
		atomic_store(&tasks->n, KMTD_SELF_FILTER_TASKS_MAX);
		return;
	}
	atomic_store(&tasks->tids[n], tid);
	atomic_fetch_or(&tasks->bits[bit / 64], G_GUINT64_CONSTANT(1)
							<< bit % 64);
}

gboolean kmtd_own_tasks_search(const KmtdOwnTasks *tasks, gint32 tid)
{
	guint n = MIN(atomic_load(&tasks->n), KMTD_SELF_FILTER_TASKS_MAX);

	for (guint i = 0; i < n; i++)
		if (atomic_load(&tasks->tids[i]) == tid)
			return TRUE;
	return FALSE;
}

void kmtd_self_filter_add(KmtdSelfFilter *set, guint64 address)
{
	guint bucket = kmtd_self_filter_bucket(address);
	guint64 *slots = set->slots[bucket];

	for (guint i = 0; i < KMTD_SELF_FILTER_BUCKET_SLOTS; i++)
		if (slots[i] == address)
			return;
	for (guint i = 0; i < KMTD_SELF_FILTER_BUCKET_SLOTS; i++)
		if (slots[i] == 0) {
			slots[i] = address;
			set->n_used[bucket]++;
			return;
		}
	slots[0] = address;
}

gboolean kmtd_self_filter_remove_used(KmtdSelfFilter *set, guint bucket,
				      guint64 address)
{
	guint64 *slots = set->slots[bucket];

	for (guint i = 0; i < KMTD_SELF_FILTER_BUCKET_SLOTS; i++)
		if (slots[i] == address) {
			slots[i] = 0;
			set->n_used[bucket]--;
			return TRUE;
		}
	return FALSE;
}
