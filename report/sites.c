// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/sites.h"
#include "trace/hash.h"

#define INITIAL_SLOTS 4096

KmtSites *kmt_sites_new(void)
{
	KmtSites *sites = g_new0(KmtSites, 1);

	sites->seed = kmt_hash_seed();
	sites->mask = INITIAL_SLOTS - 1;
	sites->slots = g_new0(guint32, INITIAL_SLOTS);
	sites->n_allocated = INITIAL_SLOTS / 2;
	sites->sites = g_new(KmtSite, sites->n_allocated);
	return sites;
}

void kmt_sites_free(KmtSites *sites)
{
	if (!sites)
		return;
	g_free(sites->sites);
	g_free(sites->slots);
	g_free(sites);
}

static guint32 *find_slot(const KmtSites *sites, guint64 address, KmtKind kind)
{
	guint32 i =
		(guint32)kmt_hash(sites->seed, address ^ (guint64)kind << 62);

	for (;; i++) {
		guint32 *slot = &sites->slots[i & sites->mask];
		const KmtSite *site;

		if (*slot == 0)
			return slot;
		site = &sites->sites[*slot - 1];
		if (site->address == address && site->kind == kind)
			return slot;
	}
}

/* At most every second slot is in use, which keeps the runs short. */
static void grow(KmtSites *sites)
{
	guint32 i;

	if (sites->n_allocated > G_MAXUINT32 / 4)
		g_error("more than %u call sites", sites->n_allocated);
	sites->n_allocated *= 2;
	sites->sites = g_renew(KmtSite, sites->sites, sites->n_allocated);
	sites->mask = sites->mask * 2 + 1;
	g_free(sites->slots);
	sites->slots = g_new0(guint32, (gsize)sites->mask + 1);
	for (i = 0; i < sites->n_sites; i++)
		*find_slot(sites, sites->sites[i].address,
			   sites->sites[i].kind) = i + 1;
}

guint32 kmt_sites_get(KmtSites *sites, guint64 address, KmtKind kind)
{
	guint32 *slot = find_slot(sites, address, kind);
	KmtSite *site;

	if (*slot)
		return *slot - 1;
	if (sites->n_sites == sites->n_allocated) {
		grow(sites);
		slot = find_slot(sites, address, kind);
	}
	site = &sites->sites[sites->n_sites++];
	*site = (KmtSite){.address = address, .kind = kind};
	*slot = sites->n_sites;
	return sites->n_sites - 1;
}
