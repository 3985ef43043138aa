// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/advice-sites.h"
#include "lib/base/hash.h"

/* The class was not looked up yet. */
#define UNKNOWN (KMT_ADVICE_NONE - 1)

/* Percentage of the objects of a site that have a dominating size. */
#define DOMINATING_PERCENT 95

/* ---- tables ---- */

static guint64 hash_site(const KmtAdviceSites *sites, const KmtAdviceSite *s)
{
	guint64 hash = kmt_hash(sites->seed, s->site.address);

	return kmt_hash(hash, (guint64)(gsize)s->site.tag ^
				      (guint64)s->kind << 16 ^ s->cache);
}

static guint64 site_hash(gconstpointer user, guint32 number)
{
	return hash_site(user, kmt_advice_site(user, number));
}

static gboolean site_equal(gconstpointer user, guint32 number,
			   gconstpointer key)
{
	const KmtAdviceSite *x = kmt_advice_site(user, number), *y = key;

	return x->site.address == y->site.address &&
	       x->site.tag == y->site.tag && x->kind == y->kind &&
	       x->cache == y->cache;
}

static guint64 hash_size(const KmtAdviceSites *sites, const KmtAdviceSize *s)
{
	return kmt_hash(kmt_hash(kmt_hash(sites->seed, s->site), s->bytes_req),
			s->bytes_alloc);
}

static guint64 size_hash(gconstpointer user, guint32 number)
{
	return hash_size(user, kmt_advice_size(user, number));
}

static gboolean size_equal(gconstpointer user, guint32 number,
			   gconstpointer key)
{
	const KmtAdviceSize *x = kmt_advice_size(user, number), *y = key;

	return x->site == y->site && x->bytes_req == y->bytes_req &&
	       x->bytes_alloc == y->bytes_alloc;
}

KmtAdviceSites *kmt_advice_sites_new(void)
{
	KmtAdviceSites *sites = g_new0(KmtAdviceSites, 1);

	sites->seed = kmt_hash_seed();
	sites->sites = g_array_new(FALSE, FALSE, sizeof(KmtAdviceSite));
	sites->sizes = g_array_new(FALSE, FALSE, sizeof(KmtAdviceSize));
	sites->of_class = g_array_new(FALSE, FALSE, sizeof(guint32));
	kmt_index_init(&sites->site_index, site_hash, site_equal);
	kmt_index_init(&sites->size_index, size_hash, size_equal);
	return sites;
}

void kmt_advice_sites_free(KmtAdviceSites *sites)
{
	if (!sites)
		return;
	g_array_unref(sites->sites);
	g_array_unref(sites->sizes);
	g_array_unref(sites->of_class);
	kmt_index_clear(&sites->site_index);
	kmt_index_clear(&sites->size_index);
	g_free(sites);
}

/* Return the number of the site with the properties of key. */
static guint32 find_site(KmtAdviceSites *sites, const KmtAdviceSite *key)
{
	guint64 hash = hash_site(sites, key);
	guint32 n = kmt_index_find(&sites->site_index, sites, hash, key);
	KmtAdviceSite *site;

	if (n != KMT_INDEX_NONE)
		return n;
	n = sites->sites->len;
	g_array_append_vals(sites->sites, key, 1);
	site = kmt_advice_site(sites, n);
	site->common_flags = G_MAXUINT64;
	site->first_size = KMT_ADVICE_NONE;
	kmt_index_add(&sites->site_index, sites, hash);
	return n;
}

static guint32 find_size(KmtAdviceSites *sites, const KmtAdviceSize *key)
{
	guint64 hash = hash_size(sites, key);
	guint32 n = kmt_index_find(&sites->size_index, sites, hash, key);
	KmtAdviceSite *site = kmt_advice_site(sites, key->site);

	if (n != KMT_INDEX_NONE)
		return n;
	n = sites->sizes->len;
	g_array_append_vals(sites->sizes, key, 1);
	kmt_advice_size(sites, n)->next = site->first_size;
	site->first_size = n;
	kmt_index_add(&sites->size_index, sites, hash);
	return n;
}

static guint32 size_of_class(KmtAdviceSites *sites, const KmtReplay *replay,
			     const KmtReplayClass *class)
{
	const KmtAdviceSite site = {.site = kmt_symbolizer_alloc_site(
					    replay->options.symbolizer,
					    class->call_site, class->tag_time),
				    .kind = class->kind,
				    .cache = class->cache};
	KmtAdviceSize size = {.bytes_req = class->bytes_req,
			      .bytes_alloc = class->bytes_alloc};

	if (!class->is_selected)
		return KMT_ADVICE_NONE;
	size.site = find_site(sites, &site);
	return find_size(sites, &size);
}

/* ---- counting ---- */

/* Return the size of the object of an event, or NULL if the filter excludes the
 * object. */
static KmtAdviceSize *size_of_event(KmtAdviceSites *sites,
				    const KmtReplay *replay,
				    const KmtReplayEvent *event)
{
	const guint32 unknown = UNKNOWN;
	guint32 class_id = event->object->class_id, *size;

	while (class_id >= sites->of_class->len)
		g_array_append_val(sites->of_class, unknown);
	size = &g_array_index(sites->of_class, guint32, class_id);
	if (*size == UNKNOWN)
		*size = size_of_class(sites, replay, event->class);
	return *size == KMT_ADVICE_NONE ? NULL : kmt_advice_size(sites, *size);
}

static void count_alloc(KmtAdviceSite *site, KmtAdviceSize *size,
			const KmtReplayEvent *event)
{
	size->allocs++;
	site->allocs++;
	site->allocs_inside += event->is_inside;
	site->live++;
	site->max_live = MAX(site->max_live, site->live);
	site->common_flags &= event->class->gfp_flags;
	site->any_flags |= event->class->gfp_flags;
}

static void on_event(gpointer user, const KmtReplay *replay,
		     const KmtReplayEvent *event)
{
	KmtAdviceSites *sites = user;
	KmtAdviceSize *size = size_of_event(sites, replay, event);
	KmtAdviceSite *site;
	const KmtReplayKind *kind;

	if (!size || event->op == KMT_REPLAY_DEFER)
		return;
	site = kmt_advice_site(sites, size->site);
	kind = &replay->kinds[site->kind];
	if (event->op == KMT_REPLAY_ALLOC) {
		kmt_replay_gauge_add(&size->live, kind, 1);
		count_alloc(site, size, event);
		return;
	}
	kmt_replay_gauge_add(&size->live, kind, (guint64)-1);
	site->live--;
	site->frees_inside += event->is_inside && event->op == KMT_REPLAY_FREE;
}

static void on_end(gpointer user, const KmtReplay *replay,
		   G_GNUC_UNUSED gint64 now)
{
	KmtAdviceSites *sites = user;
	guint i;

	for (i = 0; i < sites->sizes->len; i++) {
		KmtAdviceSize *size = kmt_advice_size(sites, i);
		KmtKind kind = kmt_advice_site(sites, size->site)->kind;

		kmt_replay_at_peak(&size->live, &replay->kinds[kind]);
	}
}

KmtReplayConsumer kmt_advice_sites_consumer(KmtAdviceSites *sites)
{
	return (KmtReplayConsumer){
		.on_event = on_event, .on_end = on_end, .user = sites};
}

const KmtAdviceSize *kmt_advice_dominating_size(const KmtAdviceSites *sites,
						const KmtAdviceSite *site)
{
	const KmtAdviceSize *best = NULL;
	const KmtAdviceSize *size = kmt_advice_first_size(sites, site);
	guint64 at_peak = 0;

	for (; size; size = kmt_advice_next_size(sites, size)) {
		at_peak += size->live.at_peak;
		if (!best || size->allocs >= best->allocs)
			best = size;
	}
	if (!best ||
	    (double)best->allocs * 100 <
		    (double)site->allocs * DOMINATING_PERCENT ||
	    (double)best->live.at_peak * 100 <
		    (double)at_peak * DOMINATING_PERCENT)
		return NULL;
	return best;
}

/* ---- data of topics ---- */

KmtAdviceSiteData *kmt_advice_site_data_new(guint entry_size)
{
	KmtAdviceSiteData *data = g_new(KmtAdviceSiteData, 1);

	data->numbers = g_array_new(FALSE, TRUE, sizeof(guint32));
	data->sites = g_array_new(FALSE, FALSE, sizeof(guint32));
	data->entries = g_array_new(FALSE, TRUE, entry_size);
	return data;
}

void kmt_advice_site_data_free(KmtAdviceSiteData *data)
{
	g_array_unref(data->numbers);
	g_array_unref(data->sites);
	g_array_unref(data->entries);
	g_free(data);
}

gpointer kmt_advice_site_data_add(KmtAdviceSiteData *data, guint32 site)
{
	guint32 *number;

	if (site >= data->numbers->len)
		g_array_set_size(data->numbers, site + 1);
	number = &g_array_index(data->numbers, guint32, site);
	if (!*number) {
		g_array_append_val(data->sites, site);
		g_array_set_size(data->entries, data->sites->len);
		*number = data->sites->len;
	}
	return data->entries->data +
	       (gsize)(*number - 1) * g_array_get_element_size(data->entries);
}
