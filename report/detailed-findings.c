// SPDX-License-Identifier: GPL-2.0-or-later
/* Counts the findings of slow events, in total and by call site. */
#include "config.h"

#include "report/detailed-private.h"

static const KmtSymbolizer *symbolizer_of(const KmtAccounting *accounting)
{
	return accounting->aggregate->groups->options.symbolizer;
}

KmtFindingSite kmt_detailed_site(const KmtAccounting *accounting,
				 guint32 class_id)
{
	KmtMatchKey key =
		kmt_match_keys_of_class(accounting->aggregate->keys, class_id);
	KmtFindingSite site = {
		.site = kmt_symbolizer_alloc_site(symbolizer_of(accounting),
						  key.call_site, key.tag_time),
		.kind = (KmtKind)key.type};

	return site;
}

static void fill_slot(KmtAccounting *accounting, KmtFindingSlot *slot)
{
	KmtFindingCounts *finding_counts =
		accounting->aggregate->finding_counts;
	KmtFindingSite to = {.site = {slot->call_site, slot->tag},
			     .kind = (KmtKind)slot->type};
	KmtFindingSite from;

	if (slot->class_id == NO_CLASS) {
		slot->count = kmt_finding_counts_count(finding_counts,
						       slot->class, &to, NULL);
		return;
	}
	from = kmt_detailed_site(accounting, slot->class_id);
	slot->count = kmt_finding_counts_count(finding_counts, slot->class,
					       &from, &to);
}

static void count_finding_site(KmtAccounting *accounting, KmtFindingClass class,
			       const KmtMatchSlowEvent *slow_event)
{
	gboolean has_object = kmt_match_slow_event_has_object(slow_event);
	gboolean is_deferred_free = slow_event->op == KMT_MATCH_SLOW_FREE &&
				    slow_event->object.is_deferred;
	KmtFindingSlot key = {
		.call_site = is_deferred_free
				     ? slow_event->object.defer.call_site
				     : slow_event->call_site,
		.class_id = has_object ? slow_event->object.class_id : NO_CLASS,
		.class = (guint8) class,
		.type = slow_event->type,
	};
	KmtFindingSlot *slot =
		&accounting->finding_slots[(key.call_site ^ key.class_id) %
					   G_N_ELEMENTS(
						   accounting->finding_slots)];

	if (slow_event->op == KMT_MATCH_SLOW_DOUBLE)
		key.tag = kmt_symbolizer_alloc_site(symbolizer_of(accounting),
						    key.call_site,
						    slow_event->now)
				  .tag;
	if (!slot->count || slot->call_site != key.call_site ||
	    slot->tag != key.tag || slot->class_id != key.class_id ||
	    slot->class != key.class || slot->type != key.type) {
		*slot = key;
		fill_slot(accounting, slot);
	}
	++*slot->count;
}

void kmt_detailed_count_finding(KmtAccounting *accounting,
				const KmtMatchSlowEvent *slow_event)
{
	KmtMatchFindings *findings = &accounting->aggregate->findings;
	/* The KmtFindingClass under which the finding is counted by call site;
	 * negative: the finding is not counted by call site. */
	int class = -1;

	if (slow_event->now > accounting->stop)
		return;
	switch (slow_event->op) {
	case KMT_MATCH_SLOW_FREE:
		if (slow_event->mismatch) {
			findings->mismatches++;
			class = KMT_FINDING_MISMATCH;
		} else if (slow_event->object.type != slow_event->type &&
			   !accounting->capture->kfree_of_caches) {
			findings->mismatches_after_loss++;
		}
		break;
	case KMT_MATCH_SLOW_DOUBLE:
		findings->doubles[slow_event->class]++;
		class = KMT_FINDING_DOUBLE_AFTER_LOSS + slow_event->class;
		break;
	case KMT_MATCH_SLOW_UNMATCHED:
		findings->unmatched[slow_event->class]++;
		class = KMT_FINDING_UNMATCHED_BEFORE_TRACE + slow_event->class;
		break;
	case KMT_MATCH_SLOW_UNMATCHED_DEFER:
		findings->unmatched_defers[slow_event->class]++;
		if (slow_event->class == KMT_MATCH_UNMATCHED_UNEXPLAINED)
			class = KMT_FINDING_UNMATCHED_DEFER;
		break;
	case KMT_MATCH_SLOW_DOUBLE_DEFER:
		if (slow_event->class) {
			findings->double_defers_after_loss++;
			break;
		}
		findings->double_defers++;
		class = KMT_FINDING_DOUBLE_DEFER;
		break;
	case KMT_MATCH_SLOW_ALLOC:
	case KMT_MATCH_SLOW_REPLACED:
	case KMT_MATCH_SLOW_DEFER:
		break;
	}
	if (class >= 0)
		count_finding_site(accounting, (KmtFindingClass) class,
				   slow_event);
}
