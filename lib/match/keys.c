// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lib/match/keys.h"

/* KmtMatchKeySource.owner: pid, cache, context. */
#define CACHE_SHIFT   32
#define CONTEXT_SHIFT 48

#define CONTEXT_FLAGS (KMEMTRACE_FLAG_HARDIRQ | KMEMTRACE_FLAG_SOFTIRQ)

/* Parts that depend on the pid of a record. */
#define PID_PARTS                                                              \
	(KMT_MATCH_KEY_PID | KMT_MATCH_KEY_COMM | KMT_MATCH_KEY_CGROUP)

/* log2 of the initial and of the largest number of slots. With a slot for each
 * of 20,000 stacks, four of five ALLOCs find their slot. The fuzzers use fewer
 * slots. */
#ifndef KMT_MATCH_KEYS_SLOT_BITS
#define KMT_MATCH_KEYS_SLOT_BITS 10
#endif
#define MAX_SLOT_BITS (KMT_MATCH_KEYS_SLOT_BITS + 5)

static const KmtMatchKeyValues no_values = {.tag_time = G_MAXINT64,
					    .node = KMEMTRACE_NODE_NONE};
G_STATIC_ASSERT(sizeof(KmtMatchKeyValues) % sizeof(guint64) == 0);

/* Return the bits of a source on which parts depend. */
static KmtMatchKeySource source_mask(KmtMatchKeyParts parts)
{
	KmtMatchKeySource mask = {.has_owner = parts & KMT_MATCH_KEY_OWNER};

	if (parts & PID_PARTS)
		mask.owner |= G_MAXUINT32;
	if (parts & KMT_MATCH_KEY_CACHE)
		mask.owner |= (guint64)G_MAXUINT16 << CACHE_SHIFT;
	if (parts & KMT_MATCH_KEY_CONTEXT)
		mask.owner |= (guint64)CONTEXT_FLAGS << CONTEXT_SHIFT;
	if (parts & KMT_MATCH_KEY_GFP)
		mask.gfp_flags = G_MAXUINT64;
	if (parts & KMT_MATCH_KEY_STACK)
		mask.stack = G_MAXUINT32;
	if (parts & KMT_MATCH_KEY_NODE)
		mask.node = -1;
	if (parts & KMT_MATCH_KEY_CPU)
		mask.file = G_MAXUINT32;
	return mask;
}

static void allocate_slots(KmtMatchKeys *keys, guint bits)
{
	const KmtInputNameSpan never = {G_MAXINT64, G_MININT64};
	gsize i, n = (gsize)1 << bits;

	g_free(keys->slots);
	keys->slots = g_new0(KmtMatchKeySlot, n);
	keys->slot_bits = bits;
	keys->n_misses = 0;
	for (i = 0; i < n; i++)
		keys->slots[i].span = never;
}

KmtMatchKeys *kmt_match_keys_new(KmtMatchKeyParts parts,
				 const KmtInputCapture *capture,
				 const KmtInputTables *tables)
{
	KmtMatchKeys *keys = g_new0(KmtMatchKeys, 1);

	parts = tables ? parts : parts & ~(guint)KMT_MATCH_KEY_OWNER;
	keys->parts = parts;
	keys->mask = source_mask(parts);
	keys->capture = capture;
	keys->tables = tables;
	keys->classes = kmt_match_class_table_new(capture->record_size);
	keys->values =
		kmt_match_intern_new(sizeof(no_values) / sizeof(guint64));
	kmt_match_intern_get(keys->values, &no_values);
	if (parts)
		allocate_slots(keys, KMT_MATCH_KEYS_SLOT_BITS);
	return keys;
}

void kmt_match_keys_free(KmtMatchKeys *keys)
{
	if (!keys)
		return;
	kmt_match_class_table_free(keys->classes);
	kmt_match_intern_free(keys->values);
	g_free(keys->slots);
	g_free(keys);
}

void kmt_match_keys_set_phases(KmtMatchKeys *keys, const gint64 *starts,
			       guint n)
{
	keys->starts = starts;
	keys->n_starts = n;
}

void kmt_match_keys_set_tag_ends(KmtMatchKeys *keys, const KmtMatchTagEnd *ends,
				 guint n)
{
	guint i;

	keys->tag_ends = ends;
	keys->n_tag_ends = n;
	keys->last_tag_end = G_MININT64;
	for (i = 0; i < n; i++)
		keys->last_tag_end = MAX(keys->last_tag_end, ends[i].time);
}

void kmt_match_keys_set_task_names(KmtMatchKeys *keys,
				   KmtMatchTaskName task_name, gpointer user)
{
	keys->task_name = task_name;
	keys->task_name_user = user;
}

KmtMatchKey kmt_match_keys_of_class(const KmtMatchKeys *keys, guint32 class_id)
{
	const KmtMatchClass *found =
		kmt_match_class_of_number(keys->classes, class_id);
	const KmtMatchKeyValues *values =
		kmt_match_intern_entry(keys->values, found->values);

	return (KmtMatchKey){
		.call_site = found->call_site,
		.type = kmt_match_class_type(found),
		.file = values->file,
		.node = values->node,
		.gfp_flags = values->gfp_flags,
		.has_owner = values->has_owner,
		.pid = values->pid,
		.cache = values->cache,
		.context = values->context,
		.stack = values->stack,
		.comm = (const char *)(guintptr)values->comm,
		.cgroup = (const char *)(guintptr)values->cgroup,
		.phase = values->phase,
		.tag_time = values->tag_time,
	};
}

/* ---- parts that depend on the time ---- */

/* Return the phase of a time, and narrow *span to the phase. */
static guint phase_of(const KmtMatchKeys *keys, gint64 time,
		      KmtInputNameSpan *span)
{
	guint low = 0, high = keys->n_starts;

	while (low < high) {
		guint middle = low + (high - low) / 2;

		if (keys->starts[middle] <= time)
			low = middle + 1;
		else
			high = middle;
	}
	if (low > 0)
		span->from = MAX(span->from, keys->starts[low - 1]);
	if (low < keys->n_starts)
		span->until = MIN(span->until, keys->starts[low] - 1);
	return low;
}

/*
 * Return the end of the tag that an address had at a time; G_MAXINT64 if no tag
 * of the address ended then or later.
 */
static gint64 tag_time_of(const KmtMatchKeys *keys, guint64 address,
			  gint64 time)
{
	guint low = 0, high = time > keys->last_tag_end ? 0 : keys->n_tag_ends;
	const KmtMatchTagEnd *found = NULL;

	while (low < high) {
		guint middle = low + (high - low) / 2;
		const KmtMatchTagEnd *end = &keys->tag_ends[middle];

		if (end->address < address ||
		    (end->address == address && end->time < time)) {
			low = middle + 1;
		} else {
			high = middle;
			found = end;
		}
	}
	return found && found->address == address ? found->time : G_MAXINT64;
}

static const char *task_name_of(const KmtMatchKeys *keys, guint32 pid,
				gint64 time, KmtInputNameSpan *span)
{
	if (!keys->task_name)
		return kmt_input_tables_lasting_task_name(keys->tables, pid,
							  time, span);
	span->from = span->until = time;
	return keys->task_name(keys->task_name_user, pid, time);
}

/* ---- numbers of values ---- */

/* Return the fields of an ALLOC on which its values depend. */
static inline KmtMatchKeySource
source_of(const KmtMatchKeys *keys, const KmtInputRawEvent *event, guint16 file)
{
	const KmtInputCpuFile *f = keys->capture->files->pdata[file];
	const KmtMatchKeySource *mask = &keys->mask;
	/* Readers return records in the byte order of the host. */
	const KmtInputRawStackEvent *raw = (const KmtInputRawStackEvent *)event;
	KmtMatchKeySource source = {
		.gfp_flags = event->gfp_flags & mask->gfp_flags,
		.node = event->node | ~mask->node, /* or NODE_NONE */
		.file = file & mask->file,
	};

	if (mask->has_owner && f->record_size >= KMEMTRACE_EVENT_SIZE_V2) {
		source.has_owner = TRUE;
		source.owner =
			((guint64)raw->v2.flags << CONTEXT_SHIFT |
			 (guint64)raw->v2.cache << CACHE_SHIFT | raw->v2.pid) &
			mask->owner;
		if (f->record_size >= KMEMTRACE_EVENT_SIZE_V2S)
			source.stack = raw->stack & mask->stack;
	}
	return source;
}

/* Return the number of the values of a source at a time, and narrow *span to
 * times of the same values. */
static guint32 number_of(KmtMatchKeys *keys, const KmtMatchKeySource *source,
			 gint64 time, gint64 tag_time, KmtInputNameSpan *span)
{
	const KmtMatchKeyParts parts = keys->parts;
	const guint32 pid = (guint32)source->owner;
	KmtMatchKeyValues values = {
		.gfp_flags = source->gfp_flags,
		.tag_time = tag_time,
		.pid = parts & KMT_MATCH_KEY_PID ? pid : 0,
		.stack = source->stack,
		.node = source->node,
		.file = (guint16)source->file,
		.cache = (guint16)(source->owner >> CACHE_SHIFT),
		.context = (guint16)(source->owner >> CONTEXT_SHIFT),
		.has_owner = (guint16)source->has_owner,
	};

	if (parts & KMT_MATCH_KEY_PHASE)
		values.phase = phase_of(keys, time, span);
	if (source->has_owner && parts & KMT_MATCH_KEY_COMM)
		values.comm = (guintptr)task_name_of(keys, pid, time, span);
	if (source->has_owner && parts & KMT_MATCH_KEY_CGROUP)
		values.cgroup = (guintptr)kmt_input_tables_lasting_cgroup(
			keys->tables, pid, time, span);
	return kmt_match_intern_get(keys->values, &values);
}

/*
 * Return the slot of a source. A collision only costs time, so the hash needs
 * no seed.
 */
static KmtMatchKeySlot *slot_of(const KmtMatchKeys *keys,
				const KmtMatchKeySource *source)
{
	guint64 hash = (source->owner ^ (guint64)source->stack << 32 ^
			(guint64)source->file << 16 ^ (guint32)source->node) *
			       G_GUINT64_CONSTANT(0x9e3779b97f4a7c15) +
		       source->gfp_flags;

	return &keys->slots[hash * G_GUINT64_CONSTANT(0xd6e8feb86659fd93) >>
			    (64 - keys->slot_bits)];
}

/* Return the slot of the source of an ALLOC, filled for the time of the ALLOC.
 * Not inline, so that the caller needs no source in memory. */
static G_GNUC_NO_INLINE const KmtMatchKeySlot *
fill_slot(KmtMatchKeys *keys, const KmtInputRawEvent *event, guint16 file)
{
	KmtMatchKeySlot new = {.source = source_of(keys, event, file),
			       .span = {G_MININT64, G_MAXINT64}};
	KmtMatchKeySlot *slot;

	new.number = number_of(keys, &new.source, event->timestamp, G_MAXINT64,
			       &new.span);
	if (keys->slot_bits < MAX_SLOT_BITS &&
	    ++keys->n_misses > 4u << keys->slot_bits)
		allocate_slots(keys, keys->slot_bits + 1);
	slot = slot_of(keys, &new.source);
	*slot = new;
	return slot;
}

static gboolean has_values(const KmtMatchKeySlot *slot,
			   const KmtMatchKeySource *source, gint64 time)
{
	return slot->source.owner == source->owner &&
	       slot->source.stack == source->stack &&
	       slot->source.gfp_flags == source->gfp_flags &&
	       slot->source.node == source->node &&
	       slot->source.file == source->file &&
	       slot->source.has_owner == source->has_owner &&
	       time >= slot->span.from && time <= slot->span.until;
}

/* Return the number of the values of an ALLOC whose tag ended after the ALLOC.
 * Most tags never end, so the slots do not store the ends. */
static G_GNUC_NO_INLINE guint32 tagged_values(KmtMatchKeys *keys,
					      const KmtInputRawEvent *event,
					      guint16 file, gint64 tag_time)
{
	KmtInputNameSpan ignored = {G_MININT64, G_MAXINT64};
	const KmtMatchKeySource source = source_of(keys, event, file);

	return number_of(keys, &source, event->timestamp, tag_time, &ignored);
}

guint32 kmt_match_keys_values(KmtMatchKeys *keys, const KmtInputRawEvent *event,
			      guint16 file)
{
	const KmtMatchKeySlot *slot;
	KmtMatchKeySource source;

	if (keys->parts & KMT_MATCH_KEY_TAG) {
		gint64 tag_time =
			tag_time_of(keys, event->call_site, event->timestamp);

		if (tag_time != G_MAXINT64)
			return tagged_values(keys, event, file, tag_time);
		if (keys->parts == KMT_MATCH_KEY_TAG)
			return 0;
	}
	source = source_of(keys, event, file);
	slot = slot_of(keys, &source);
	if (!has_values(slot, &source, event->timestamp))
		slot = fill_slot(keys, event, file);
	return slot->number;
}
