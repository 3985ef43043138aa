// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/replay-objects.h"
#include "report/replay.h"

struct KmtReplayState {
	KmtReplayObjects slots;
	const KmtReplayConsumer *consumers;
	guint n_consumers;
	KmtMatchKeys *keys;
	KmtInputTables *tables;
	KmtMatchPipeline *pipeline;
	gboolean started; /* a record was read */
	gboolean inside;  /* the time of the report has begun */
	gboolean ended;	  /* a record after the time of the report was read */
	gint64 stop;	  /* merged time, ns */
	gint64 last;	  /* merged time of the last event, ns */
	guint64 records;  /* records read */
};

static gint64 add_times(gint64 a, gint64 b)
{
	gint64 sum;

	return __builtin_add_overflow(a, b, &sum) ? G_MAXINT64 : sum;
}

/* ---- classes ---- */

static KmtReplayClass *add_class(KmtReplay *replay, guint32 class_id)
{
	const KmtReplayOptions *o = &replay->options;
	KmtMatchKey key =
		kmt_match_keys_of_class(replay->state->keys, class_id);
	KmtMatchSize size =
		kmt_match_keys_size_of_class(replay->state->keys, class_id);
	const KmtInputCpuFile *file = o->capture->files->pdata[key.file];
	KmtReplayClass *class = g_new(KmtReplayClass, 1);

	*class = (KmtReplayClass){
		.call_site = key.call_site,
		.tag_time = key.tag_time,
		.bytes_req = size.req,
		.bytes_alloc = size.alloc,
		.gfp_flags = key.gfp_flags,
		.cache = key.cache,
		.kind = key.type,
		.is_selected =
			kmt_filter_matches_key(o->filter, &key, file->cpu,
					       o->symbolizer) &&
			kmt_filter_matches_size(o->filter, size.req),
	};
	if (class_id >= replay->classes->len)
		g_ptr_array_set_size(replay->classes, (gint)class_id + 1);
	replay->classes->pdata[class_id] = class;
	return class;
}

static const KmtReplayClass *class_of(KmtReplay *replay, guint32 class_id)
{
	if (class_id < replay->classes->len && replay->classes->pdata[class_id])
		return replay->classes->pdata[class_id];
	return add_class(replay, class_id);
}

/* ---- events ---- */

static void call_consumers(const KmtReplay *replay, const KmtReplayEvent *event)
{
	const struct KmtReplayState *state = replay->state;
	guint i;

	for (i = 0; i < state->n_consumers; i++)
		if (state->consumers[i].on_event)
			state->consumers[i].on_event(state->consumers[i].user,
						     replay, event);
}

static void change_live(KmtReplayKind *kind, guint64 change, gboolean is_alloc,
			gint64 now, gboolean inside)
{
	kind->live += change;
	if (!is_alloc || !inside || kind->live <= kind->peak)
		return;
	kind->peak = kind->live;
	kind->peak_time = now;
	kind->peak_number++;
}

/* Add the effect of an event to the live bytes of its kinds. */
static void count(KmtReplay *replay, const KmtReplayEvent *event)
{
	gboolean is_alloc = event->op == KMT_REPLAY_ALLOC;
	guint64 change = event->class->bytes_alloc;
	gboolean inside = replay->state->inside;
	guint kind = event->class->kind;

	if (!event->class->is_selected || event->op == KMT_REPLAY_DEFER)
		return;
	if (!is_alloc)
		change = -change;
	change_live(&replay->kinds[kind], change, is_alloc, event->now, inside);
	if (kmt_kind_is_slab(kind))
		change_live(&replay->kinds[KMT_KIND_SLAB], change, is_alloc,
			    event->now, inside);
}

/* Deliver an event of the object of a slot. */
static void deliver(KmtReplay *replay, KmtReplayEvent *event)
{
	const KmtReplayObject *object = kmt_replay_object(replay, event->slot);
	const KmtInputCpuFile *file =
		replay->options.capture->files->pdata[event->file];

	event->cpu = file->cpu;
	event->is_inside = replay->state->inside != FALSE;
	event->object = object;
	event->class = class_of(replay, object->class_id);
	call_consumers(replay, event);
	count(replay, event);
}

/* Deliver the end of the object that has the properties of *key. */
static void end_object(KmtReplay *replay, KmtReplayEvent *event,
		       const KmtReplayObject *key)
{
	KmtReplayObjects *objects = &replay->state->slots;

	event->slot = kmt_replay_objects_find(objects, key);
	if (event->slot == KMT_REPLAY_NO_SLOT)
		return;
	deliver(replay, event);
	kmt_replay_objects_remove(objects, event->slot);
	replay->n_live = objects->n_live;
}

static void begin_object(KmtReplay *replay, KmtReplayEvent *event,
			 const KmtReplayObject *object)
{
	KmtReplayObjects *objects = &replay->state->slots;

	event->op = KMT_REPLAY_ALLOC;
	event->slot = kmt_replay_objects_add(objects, object);
	replay->n_live = objects->n_live;
	deliver(replay, event);
}

/* Set the task of an event from its record. */
static void set_task(const KmtReplay *replay, KmtReplayEvent *event,
		     const KmtInputRawEvent *record)
{
	KmtInputRecordOwner owner;

	if (!replay->tables)
		return;
	kmt_input_record_owner((const guint8 *)record, FALSE, &owner);
	event->pid = owner.pid;
	event->has_task = !(owner.flags &
			    (KMEMTRACE_FLAG_HARDIRQ | KMEMTRACE_FLAG_SOFTIRQ));
}

/* Replay an event that the matcher decided at once. */
static void step(KmtReplay *replay, const KmtMatchEvent *item)
{
	KmtReplayEvent event = {.file = item->file,
				.now = item->now,
				.call_site = item->event->call_site};
	KmtReplayObject object;

	if (item->op == KMT_MATCH_STEP_NONE)
		return;
	set_task(replay, &event, item->event);
	object = (KmtReplayObject){.ptr = item->event->ptr,
				   .class_id = item->class_id,
				   .kind = item->type};
	if (item->op == KMT_MATCH_STEP_ALLOC) {
		object.alloc_time = item->now;
		object.alloc_file = item->file;
		object.alloc_pid = event.pid;
		object.has_alloc_task = event.has_task;
		begin_object(replay, &event, &object);
	} else {
		object.alloc_time = item->alloc_time;
		object.alloc_file = item->alloc_file;
		event.op = KMT_REPLAY_FREE;
		end_object(replay, &event, &object);
	}
}

/* Deliver the DEFER of the object that has the properties of *key. */
static void defer_object(KmtReplay *replay, KmtReplayEvent *event,
			 const KmtReplayObject *key)
{
	KmtReplayObject *object;

	event->slot = kmt_replay_objects_find(&replay->state->slots, key);
	if (event->slot == KMT_REPLAY_NO_SLOT)
		return;
	object = &g_array_index(replay->objects, KmtReplayObject, event->slot);
	object->is_deferred = TRUE;
	object->defer_time = event->now;
	object->defer_site = event->call_site;
	object->defer_file = event->file;
	event->op = KMT_REPLAY_DEFER;
	deliver(replay, event);
}

/* Replay a decision that belongs to the record of item. item is NULL after the
 * last record. */
static void slow_event(KmtReplay *replay, const KmtMatchSlowEvent *slow,
		       const KmtMatchEvent *item)
{
	KmtReplayObject object;
	KmtReplayEvent event = {.file = slow->file,
				.now = slow->now,
				.call_site = slow->call_site};

	if (!kmt_match_slow_event_has_object(slow))
		return;
	object = (KmtReplayObject){.ptr = slow->object.ptr,
				   .alloc_time = slow->object.timestamp,
				   .class_id = slow->object.class_id,
				   .alloc_file = slow->object.file,
				   .kind = slow->object.type};
	/* The record of a delayed decision is no longer known. */
	if (item && !slow->delayed)
		set_task(replay, &event, item->event);
	switch (slow->op) {
	case KMT_MATCH_SLOW_ALLOC:
		object.alloc_pid = event.pid;
		object.has_alloc_task = event.has_task;
		begin_object(replay, &event, &object);
		break;
	case KMT_MATCH_SLOW_FREE:
		event.op = KMT_REPLAY_FREE;
		end_object(replay, &event, &object);
		break;
	case KMT_MATCH_SLOW_REPLACED:
		event.op = KMT_REPLAY_REPLACED;
		end_object(replay, &event, &object);
		break;
	case KMT_MATCH_SLOW_DEFER:
		if (slow->class == KMT_MATCH_DEFER_FIRST)
			defer_object(replay, &event, &object);
		break;
	default: /* no effect on the live objects */
		break;
	}
}

/* ---- time ---- */

static void begin_span(KmtReplay *replay)
{
	struct KmtReplayState *state = replay->state;
	guint i;

	state->inside = TRUE;
	for (i = 0; i < KMT_N_KINDS; i++) {
		KmtReplayKind *kind = &replay->kinds[i];

		kind->peak = kind->live;
		kind->peak_time = replay->begin;
		kind->peak_number++;
	}
	for (i = 0; i < state->n_consumers; i++)
		if (state->consumers[i].on_begin)
			state->consumers[i].on_begin(state->consumers[i].user,
						     replay, replay->begin);
}

static void first_record(KmtReplay *replay, gint64 now)
{
	struct KmtReplayState *state = replay->state;

	state->started = TRUE;
	replay->begin = add_times(now, replay->options.start);
	state->stop = replay->options.stop == G_MAXINT64
			      ? G_MAXINT64
			      : add_times(now, replay->options.stop);
}

/* Advance to the record of an item. Return FALSE if the record is after the
 * time of the report. */
static gboolean advance(KmtReplay *replay, const KmtMatchEvent *item)
{
	struct KmtReplayState *state = replay->state;

	if (!state->started)
		first_record(replay, item->now);
	if (item->now > state->stop) {
		state->ended = TRUE;
		return FALSE;
	}
	if (!state->inside && item->now >= replay->begin)
		begin_span(replay);
	state->last = item->now;
	return TRUE;
}

static void consume(gpointer user, const KmtMatchedBlock *matched)
{
	KmtReplay *replay = user;
	struct KmtReplayState *state = replay->state;
	guint i, next = 0;

	for (i = 0; i < matched->n && !state->ended; i++) {
		const KmtMatchEvent *item = matched->items[i];

		if (!advance(replay, item))
			break;
		while (next < matched->n_slow_events &&
		       matched->slow_events[next]->index == i)
			slow_event(replay, matched->slow_events[next++], item);
		step(replay, item);
	}
	/* The decisions after the last record of the block. If the replay has
	 * stopped, they belong to records after its time. */
	if (kmt_match_merge_stopped(kmt_match_pipeline_merge(state->pipeline)))
		state->ended |= !matched->n;
	while (!state->ended && next < matched->n_slow_events)
		slow_event(replay, matched->slow_events[next++], NULL);
	state->records += matched->n;
	if (replay->options.progress)
		replay->options.progress(state->records);
}

static void end_span(KmtReplay *replay)
{
	struct KmtReplayState *state = replay->state;
	guint i;

	if (!state->started)
		return;
	if (!state->inside)
		begin_span(replay);
	replay->end = state->ended ? state->stop : state->last;
	for (i = 0; i < state->n_consumers; i++)
		if (state->consumers[i].on_end)
			state->consumers[i].on_end(state->consumers[i].user,
						   replay, replay->end);
}

/* ---- replay ---- */

static KmtMatchKeys *new_keys(const KmtReplay *replay)
{
	const KmtReplayOptions *o = &replay->options;
	KmtMatchKeyParts parts = kmt_filter_parts(o->filter) |
				 KMT_MATCH_KEY_CACHE | KMT_MATCH_KEY_GFP;
	gboolean has_tags = o->tag_ends && o->tag_ends->len;
	KmtMatchKeys *keys;

	if (has_tags)
		parts |= KMT_MATCH_KEY_TAG;
	keys = kmt_match_keys_new(parts, o->capture, replay->tables);
	if (has_tags)
		kmt_match_keys_set_tag_ends(
			keys, (const KmtMatchTagEnd *)(void *)o->tag_ends->data,
			o->tag_ends->len);
	return keys;
}

KmtReplay *kmt_replay_run(const KmtReplayOptions *options,
			  const KmtReplayConsumer *consumers, guint n)
{
	KmtReplay *replay = g_new0(KmtReplay, 1);
	struct KmtReplayState *state = g_new0(struct KmtReplayState, 1);
	KmtMatchPipelineOptions pipeline_options = {
		.jobs = options->jobs,
		.clock_tolerance_ns = options->clock_tolerance_ns,
		.stop_ns = options->stop,
	};

	replay->options = *options;
	replay->state = state;
	replay->classes = g_ptr_array_new_with_free_func(g_free);
	if (kmt_input_capture_has_owners(options->capture))
		replay->tables = state->tables =
			kmt_input_tables_new(options->capture);
	state->keys = new_keys(replay);
	state->consumers = consumers;
	state->n_consumers = n;
	kmt_replay_objects_init(&state->slots);
	replay->objects = state->slots.objects;
	pipeline_options.keys = state->keys;
	state->pipeline = kmt_match_pipeline_new(
		options->capture, &pipeline_options, consume, replay);
	kmt_match_pipeline_run(state->pipeline);
	end_span(replay);
	g_clear_pointer(&state->pipeline, kmt_match_pipeline_free);
	return replay;
}

void kmt_replay_free(KmtReplay *replay)
{
	if (!replay)
		return;
	kmt_replay_objects_clear(&replay->state->slots);
	kmt_match_keys_free(replay->state->keys);
	kmt_input_tables_free(replay->state->tables);
	g_free(replay->state);
	g_ptr_array_unref(replay->classes);
	g_free(replay);
}
