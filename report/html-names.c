// SPDX-License-Identifier: GPL-2.0-or-later
/* Names and figures that all parts of the data of the HTML report use. */
#include "config.h"

#include "report/html-private.h"
#include "report/scale.h"

guint64 kmt_html_scaled(const KmtHtmlReport *html, guint64 value)
{
	return kmt_aggregate_scaled(html->report->aggregate, value);
}

guint32 kmt_html_group_of_class(const KmtHtmlReport *html, guint32 class_id)
{
	return html->report->aggregate->history->classes[class_id].group;
}

char *kmt_html_site_name(const KmtHtmlReport *html, const KmtSymSite *site)
{
	char *name = kmt_symbolizer_format(html->report->symbolizer, site);

	if (!name && !site->address)
		return g_strdup("(caller not recorded)");
	return name ? name
		    : g_strdup_printf("0x%016" G_GINT64_MODIFIER "x",
				      site->address);
}

KmtSymSite kmt_html_group_site(const KmtHtmlReport *html, guint32 group)
{
	const KmtGroups *groups = html->report->aggregate->groups;
	KmtSymSite site = {0};

	kmt_groups_site(groups, kmt_groups_at(groups, group), &site);
	return site;
}

const char *kmt_html_class_text(const KmtHtmlReport *html, guint32 class_id,
				KmtDimension dimension)
{
	const KmtAggregate *aggregate = html->report->aggregate;
	KmtMatchKey key = kmt_match_keys_of_class(aggregate->keys, class_id);
	KmtMatchSize size =
		kmt_match_keys_size_of_class(aggregate->keys, class_id);
	guint64 number = kmt_groups_value_of(aggregate->groups, dimension,
					     class_id, &key, size.alloc);

	return aggregate->groups->texts->pdata[number];
}
