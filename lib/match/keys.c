// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lib/match/keys.h"

/* Word of a class: type, file, number of a pair of KmtMatchKeys.flags. No pair
 * has the largest number, so no word is KMT_MATCH_CLASS_NO_WORD. */
#define FILE_SHIFT  8
#define FLAGS_SHIFT 32

/* First word of a pair of KmtMatchKeys.flags: node, number of a pair in the
 * first table that exists of tags, phases, stacks, cgroups, and owners. */
#define OWNER_SHIFT 32

/*
 * First word of a pair of KmtMatchKeys.owners: pid, cache, context, and a bit
 * that is set if the record has an owner.
 */
#define CACHE_SHIFT   32
#define CONTEXT_SHIFT 48
#define IS_OWNER      (G_GUINT64_CONSTANT(1) << 63)

#define CONTEXT_FLAGS (KMEMTRACE_FLAG_HARDIRQ | KMEMTRACE_FLAG_SOFTIRQ)

/* Parts whose values are in the tables tags, phases, stacks, cgroups, and
 * owners. The upper half of the first word of a flags pair has the number of
 * the pair there. */
#define BEYOND_FLAGS                                                           \
	(KMT_MATCH_KEY_OWNER | KMT_MATCH_KEY_PHASE | KMT_MATCH_KEY_TAG)

/* Parts that need the table flags, because the word of a class has no bits
 * for their values. */
#define BEYOND_FILE (KMT_MATCH_KEY_NODE | KMT_MATCH_KEY_GFP | BEYOND_FLAGS)

KmtMatchKeys *kmt_match_keys_new(KmtMatchKeyParts parts,
				 const KmtInputCapture *capture,
				 const KmtInputTables *tables)
{
	KmtMatchKeys *keys = g_new0(KmtMatchKeys, 1);

	parts = tables ? parts : parts & ~(guint)KMT_MATCH_KEY_OWNER;
	keys->parts = parts;
	keys->capture = capture;
	keys->tables = tables;
	keys->classes = kmt_match_class_table_new();
	/*
	 * On a 64-bit machine, each table has 8 MB of address space, so unused
	 * tables are not created.
	 */
	if (parts & BEYOND_FILE)
		keys->flags = kmt_match_intern_new();
	if (parts & KMT_MATCH_KEY_OWNER)
		keys->owners = kmt_match_intern_new();
	if (parts & KMT_MATCH_KEY_PHASE)
		keys->phases = kmt_match_intern_new();
	if (parts & KMT_MATCH_KEY_TAG)
		keys->tags = kmt_match_intern_new();
	if (parts & KMT_MATCH_KEY_STACK)
		keys->stacks = kmt_match_intern_new();
	if (parts & KMT_MATCH_KEY_CGROUP)
		keys->cgroups = kmt_match_intern_new();
	return keys;
}

void kmt_match_keys_free(KmtMatchKeys *keys)
{
	if (!keys)
		return;
	kmt_match_intern_free(keys->flags);
	kmt_match_intern_free(keys->owners);
	kmt_match_intern_free(keys->tags);
	kmt_match_intern_free(keys->phases);
	kmt_match_intern_free(keys->stacks);
	kmt_match_intern_free(keys->cgroups);
	kmt_match_class_table_free(keys->classes);
	g_free(keys);
}

KmtMatchKey kmt_match_keys_of_class(const KmtMatchKeys *keys, guint32 class_id)
{
	const KmtMatchClass *found =
		kmt_match_class_of_number(keys->classes, class_id);
	const KmtMatchPair *pair;
	guint64 beyond;
	KmtMatchKey key = {
		.call_site = found->call_site,
		.type = (guint8)found->word,
		.file = (guint16)(found->word >> FILE_SHIFT),
		.node = KMEMTRACE_NODE_NONE,
		.tag_time = G_MAXINT64,
	};

	if (!(keys->parts & BEYOND_FILE))
		return key;
	pair = kmt_match_intern_pair(keys->flags,
				     (guint32)(found->word >> FLAGS_SHIFT));
	key.node = (gint32)(guint32)pair->word[0];
	key.gfp_flags = pair->word[1];
	if (!(keys->parts & BEYOND_FLAGS))
		return key;
	beyond = pair->word[0] >> OWNER_SHIFT;
	if (keys->parts & KMT_MATCH_KEY_TAG) {
		pair = kmt_match_intern_pair(keys->tags, (guint32)beyond);
		beyond = pair->word[0];
		key.tag_time = (gint64)pair->word[1];
	}
	if (keys->parts & KMT_MATCH_KEY_PHASE) {
		pair = kmt_match_intern_pair(keys->phases, (guint32)beyond);
		beyond = pair->word[0];
		key.phase = (guint32)pair->word[1];
	}
	if (!(keys->parts & KMT_MATCH_KEY_OWNER))
		return key;
	if (keys->parts & KMT_MATCH_KEY_STACK) {
		pair = kmt_match_intern_pair(keys->stacks, (guint32)beyond);
		beyond = pair->word[0];
		key.stack = (guint32)pair->word[1];
	}
	if (keys->parts & KMT_MATCH_KEY_CGROUP) {
		pair = kmt_match_intern_pair(keys->cgroups, (guint32)beyond);
		beyond = pair->word[0];
		key.cgroup = (const char *)(guintptr)pair->word[1];
	}
	pair = kmt_match_intern_pair(keys->owners, (guint32)beyond);
	key.has_owner = (pair->word[0] & IS_OWNER) != 0;
	key.pid = (guint32)pair->word[0];
	key.cache = (guint16)(pair->word[0] >> CACHE_SHIFT);
	key.context = (guint16)(pair->word[0] >> CONTEXT_SHIFT) & CONTEXT_FLAGS;
	key.comm = (const char *)(guintptr)pair->word[1];
	return key;
}

/*
 * Return the number of the pair of an owner number and the path of a cgroup;
 * without KMT_MATCH_KEY_CGROUP return the owner number.
 */
static guint32 add_cgroup(KmtMatchKeys *keys, guint32 owner, const char *cgroup)
{
	return keys->cgroups ? kmt_match_intern_get(keys->cgroups, owner,
						    (guintptr)cgroup)
			     : owner;
}

static const char *task_name_of(const KmtMatchKeys *keys, guint32 pid,
				gint64 time)
{
	if (keys->task_name)
		return keys->task_name(keys->task_name_user, pid, time);
	return kmt_input_tables_task_name(keys->tables, pid, time, NULL);
}

/* Return the number of the owner of an ALLOC with its cgroup. */
static guint32 owner_of(KmtMatchKeys *keys, const KmtInputRawEvent *event,
			guint16 file)
{
	const KmtInputCpuFile *f = keys->capture->files->pdata[file];
	KmtMatchKeyParts parts = keys->parts;
	KmtInputRecordOwner owner;
	const char *comm = NULL, *cgroup = NULL;
	guint64 word = IS_OWNER;
	guint32 number;

	if (f->record_size < KMEMTRACE_EVENT_SIZE_V2) {
		number = kmt_match_intern_get(keys->owners, 0, 0);
		return add_cgroup(keys, number, NULL);
	}
	/* Readers return records in the byte order of the host. */
	kmt_input_record_owner((const guint8 *)event, FALSE, &owner);
	if (parts & KMT_MATCH_KEY_PID)
		word |= owner.pid;
	if (parts & KMT_MATCH_KEY_CACHE)
		word |= (guint64)owner.cache << CACHE_SHIFT;
	if (parts & KMT_MATCH_KEY_CONTEXT)
		word |= (guint64)(owner.flags & CONTEXT_FLAGS) << CONTEXT_SHIFT;
	if (parts & KMT_MATCH_KEY_COMM)
		comm = task_name_of(keys, owner.pid, event->timestamp);
	if (parts & KMT_MATCH_KEY_CGROUP)
		cgroup = kmt_input_tables_cgroup(keys->tables, owner.pid,
						 event->timestamp);
	number = kmt_match_intern_get(keys->owners, word, (guintptr)comm);
	return add_cgroup(keys, number, cgroup);
}

void kmt_match_keys_set_phases(KmtMatchKeys *keys, const gint64 *starts,
			       guint n)
{
	keys->starts = starts;
	keys->n_starts = n;
}

void kmt_match_keys_set_task_names(KmtMatchKeys *keys,
				   KmtMatchTaskName task_name, gpointer user)
{
	keys->task_name = task_name;
	keys->task_name_user = user;
}

/*
 * Return the phase of a time. Most times are in the phase of the preceding
 * record.
 */
static guint phase_of(KmtMatchKeys *keys, gint64 time)
{
	guint low = keys->phase, high = keys->n_starts;

	if ((!low || keys->starts[low - 1] <= time) &&
	    (low == high || keys->starts[low] > time))
		return low;
	for (low = 0; low < high;) {
		guint middle = low + (high - low) / 2;

		if (keys->starts[middle] <= time)
			low = middle + 1;
		else
			high = middle;
	}
	keys->phase = low;
	return low;
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
	/* Give the most frequent key the word 0; see
	 * kmt_match_keys_parts_word(). */
	kmt_match_intern_get(keys->tags, 0, G_MAXINT64);
	kmt_match_intern_get(keys->flags, (guint32)KMEMTRACE_NODE_NONE, 0);
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

/*
 * Return the number of the pair of owner and stack; without KMT_MATCH_KEY_STACK
 * return the number of the owner.
 */
static guint32 stack_of(KmtMatchKeys *keys, const KmtInputRawEvent *event,
			guint16 file)
{
	const KmtInputCpuFile *f = keys->capture->files->pdata[file];
	guint32 owner = owner_of(keys, event, file);
	guint32 stack = KMEMTRACE_STACK_NONE;

	if (!(keys->parts & KMT_MATCH_KEY_STACK))
		return owner;
	if (f->record_size >= KMEMTRACE_EVENT_SIZE_V2S)
		stack = kmt_input_record_stack((const guint8 *)event, FALSE);
	return kmt_match_intern_get(keys->stacks, owner, stack);
}

guint64 kmt_match_keys_parts_word(KmtMatchKeys *keys,
				  const KmtInputRawEvent *event, guint16 file)
{
	KmtMatchKeyParts parts = keys->parts;
	gint32 node =
		parts & KMT_MATCH_KEY_NODE ? event->node : KMEMTRACE_NODE_NONE;
	guint64 gfp = parts & KMT_MATCH_KEY_GFP ? event->gfp_flags : 0;
	guint64 flags = (guint32)node, word = 0;
	gint64 tag_time = G_MAXINT64;
	guint32 beyond = 0;

	if (parts & KMT_MATCH_KEY_TAG)
		tag_time =
			tag_time_of(keys, event->call_site, event->timestamp);
	if (parts == KMT_MATCH_KEY_TAG && tag_time == G_MAXINT64)
		return 0;
	if (parts & KMT_MATCH_KEY_CPU)
		word |= (guint64)file << FILE_SHIFT;
	if (parts & KMT_MATCH_KEY_OWNER)
		beyond = stack_of(keys, event, file);
	if (parts & KMT_MATCH_KEY_PHASE)
		beyond = kmt_match_intern_get(keys->phases, beyond,
					      phase_of(keys, event->timestamp));
	if (parts & KMT_MATCH_KEY_TAG)
		beyond = kmt_match_intern_get(keys->tags, beyond,
					      (guint64)tag_time);
	flags |= (guint64)beyond << OWNER_SHIFT;
	if (parts & BEYOND_FILE)
		word |= (guint64)kmt_match_intern_get(keys->flags, flags, gfp)
			<< FLAGS_SHIFT;
	return word;
}
