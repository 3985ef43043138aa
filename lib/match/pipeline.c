// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "lib/match/matcher-private.h"
#include "lib/match/pipeline.h"

/* Blocks in the ring per thread, so that a thread can work ahead of the others.
 * More blocks would exceed the processor's cache. */
#define BLOCKS_PER_THREAD 2
#define MAX_BLOCKS	  8

/* If fewer blocks are merged but not matched, the next merge is urgent. */
#define MIN_QUEUED_BLOCKS 2

/*
 * Number of records whose table entries are prefetched at once, because memory
 * latency bounds large captures. The unit tests use fewer.
 */
#ifndef KMT_MATCH_PREFETCH_BATCH
#define KMT_MATCH_PREFETCH_BATCH 128
#endif

/* Size of a cache line of the processor. */
#define CACHE_LINE_BYTES 64

/* Time for which a thread spins before it sleeps: several turns of a stage,
 * because waking a thread takes longer on a busy machine. The shorter time
 * applies if there are more threads than processors. */
#define SPIN_US	      300
#define SPIN_SHORT_US 20

/* More threads bring no gain: merging and counting take one thread each, and
 * many shards cost more than they save. The unit tests use more. */
#ifndef KMT_MATCH_MAX_THREADS
#define KMT_MATCH_MAX_THREADS MIN(16, n_processors())
#endif

/* Spins between two reads of the clock. */
#define SPINS_PER_CLOCK_READ 1000

static inline void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#endif
}

static guint n_processors(void)
{
	cpu_set_t all;

	return sched_getaffinity(0, sizeof(all), &all) < 0
		       ? g_get_num_processors()
		       : (guint)CPU_COUNT(&all);
}

/*
 * The events of one shard in one block. Shards write to different cache lines.
 */
typedef struct {
	KmtMatchEvent items[KMT_MATCH_BLOCK_RECORDS]
		__attribute__((aligned(CACHE_LINE_BYTES)));
	guint n;
	guint n_slow_events;
	GArray *slow_events; /* array of KmtMatchSlowEvent; only the first
			      * n_slow_events are valid */
} ShardBlock;

typedef struct {
	KmtMatchBlock block;
	KmtMatchOrder order;
	ShardBlock *shard_blocks;   /* one for each shard */
	GPtrArray *all_slow_events; /* of KmtMatchSlowEvent *, of all shards in
				     * order */
	guint32 n_classes;	    /* number of classes after the merge of the
				     * block */
} PipelineBlock;

typedef struct {
	KmtMatcher *matcher;
	guint number;
	PipelineBlock *work;	   /* the current block */
	const KmtMatchEvent *item; /* the current event; NULL after the last */
	/* Protected by the lock of the pipeline: */
	guint64 done; /* number of matched blocks */
	gboolean busy;
} Shard;

/* A thread. Number 0 is the caller of kmt_match_pipeline_run(). */
typedef struct {
	KmtMatchPipeline *pipeline;
	guint number;
	pthread_t thread;
} Worker;

struct KmtMatchPipeline {
	const KmtInputCapture *capture;
	KmtMatchConsumer consumer;
	gpointer user;
	guint n_shards, n_threads;
	gboolean has_enough_cpus; /* there are at least as many processors as
				   * threads */
	guint n_ring;
	KmtMatchMerge *merge;
	/* Used by the merge stage only: */
	KmtMatchKeys *keys;
	KmtMatchShardQueue queue;
	Shard *shards;
	PipelineBlock ring[MAX_BLOCKS]; /* the first n_ring are used */
	PipelineBlock end;		/* decisions after the last record */

	/* Number of finished turns, modulo 2^32. Written under the lock;
	 * spinning threads read it without the lock. */
	gint stage_runs;

	GMutex lock;
	GCond changed;
	/* Protected by the lock: */
	guint64 merged; /* number of merged blocks */
	guint64 consumed;
	gboolean merging, consuming; /* whether a thread executes the stage */
	gboolean waiting;	     /* whether a thread sleeps on changed */
	gboolean at_end;	     /* whether the merge has reached the end */
};

/* The lock protects a few instructions, so spin briefly before sleeping. */
static void lock(KmtMatchPipeline *p)
{
	guint i;

	for (i = 0; i < SPINS_PER_CLOCK_READ; i++) {
		if (g_mutex_trylock(&p->lock))
			return;
		relax();
	}
	g_mutex_lock(&p->lock);
}

/* ---- callbacks of the matcher ---- */

/*
 * Return the index of the first record in the block whose merged time exceeds
 * time. The search starts at the current event, because the record is close to
 * it.
 */
static guint index_after(const Shard *shard, gint64 time)
{
	const PipelineBlock *work = shard->work;
	guint to = shard->item ? shard->item->index : work->block.n;
	guint step = 1, from = to - MIN(to, step);

	while (from && work->order.items[from - 1]->now > time) {
		to = from - 1;
		step *= 2;
		from = to - MIN(to, step);
	}
	while (from < to) {
		guint middle = from + (to - from) / 2;

		if (work->order.items[middle]->now > time)
			to = middle;
		else
			from = middle + 1;
	}
	return from;
}

static KmtMatchSlowEvent *add_slow_event(Shard *shard, KmtMatchSlowOp op,
					 const struct kmemtrace_event *event,
					 const KmtMatchPosition *position)
{
	ShardBlock *shard_block = &shard->work->shard_blocks[shard->number];
	KmtMatchSlowEvent *slow_event;
	gint64 time;

	if (shard_block->n_slow_events == shard_block->slow_events->len)
		g_array_set_size(shard_block->slow_events,
				 2 * shard_block->n_slow_events + 16);
	slow_event = &g_array_index(shard_block->slow_events, KmtMatchSlowEvent,
				    shard_block->n_slow_events++);
	slow_event->op = (guint8)op;
	slow_event->mismatch = slow_event->class = slow_event->late_free = 0;
	slow_event->type = event->type_id;
	slow_event->file = (guint16)position->file->position;
	slow_event->ptr = event->ptr;
	slow_event->call_site = event->call_site;
	slow_event->now = event->timestamp;
	slow_event->deferred =
		kmt_matcher_is_deferred(shard->matcher, &time) != FALSE;
	slow_event->index = slow_event->deferred ? index_after(shard, time)
						 : shard->item->index;
	return slow_event;
}

static void on_alloc(gpointer user, const KmtMatchObject *object,
		     const struct kmemtrace_event *event,
		     const KmtMatchPosition *position)
{
	add_slow_event(user, KMT_MATCH_SLOW_ALLOC, event, position)->object =
		*object;
}

static void on_free(gpointer user, const KmtMatchObject *object,
		    const struct kmemtrace_event *event,
		    const KmtMatchPosition *position, gboolean mismatch)
{
	KmtMatchSlowEvent *slow_event =
		add_slow_event(user, KMT_MATCH_SLOW_FREE, event, position);

	slow_event->object = *object;
	slow_event->mismatch = mismatch != FALSE;
}

static void on_replaced(gpointer user, const KmtMatchObject *object,
			const struct kmemtrace_event *event,
			const KmtMatchPosition *position)
{
	add_slow_event(user, KMT_MATCH_SLOW_REPLACED, event, position)->object =
		*object;
}

static void on_double(gpointer user, const KmtMatchObject *old_object,
		      const struct kmemtrace_event *event,
		      const KmtMatchPosition *position,
		      KmtMatchDoubleAlloc class,
		      const struct kmemtrace_event *free_event)
{
	KmtMatchSlowEvent *slow_event =
		add_slow_event(user, KMT_MATCH_SLOW_DOUBLE, event, position);

	slow_event->object = *old_object;
	slow_event->class = (guint8) class;
	slow_event->late_free = free_event != NULL;
}

static void on_unmatched(gpointer user, const struct kmemtrace_event *event,
			 const KmtMatchPosition *position,
			 KmtMatchUnmatched class)
{
	add_slow_event(user, KMT_MATCH_SLOW_UNMATCHED, event, position)->class =
		(guint8) class;
}

static const KmtMatchOps match_ops = {
	.on_alloc = on_alloc,
	.on_free = on_free,
	.on_replaced = on_replaced,
	.on_double = on_double,
	.on_unmatched = on_unmatched,
};

/* ---- stages ---- */

static gboolean is_remote(const KmtMatchPipeline *p, const KmtMatchEvent *item)
{
	const KmtInputCpuFile *file = p->capture->files->pdata[item->file];

	return file->node >= 0 && item->event->node != file->node;
}

/* Set the allocation class of each ALLOC. */
static void assign_classes(KmtMatchPipeline *p)
{
	KmtMatchEvent *const *allocs = p->queue.order->allocs;
	const KmtMatchKeyParts parts = p->keys->parts;
	const guint n = p->queue.n_allocs;
	KmtMatchKeys *keys = p->keys;
	guint i;

	for (i = 0; i < n; i++) {
		const KmtInputRawEvent *event = allocs[i]->event;
		KmtMatchEvent *item = allocs[i];

		item->class_id =
			kmt_match_keys_class(keys, parts, event, item->file);
		if (G_UNLIKELY(event->node >= 0))
			item->remote = is_remote(p, item);
	}
}

/* Merge a block. Return FALSE at the end. */
static gboolean stage_merge(KmtMatchPipeline *p, PipelineBlock *work)
{
	KmtMatchShardQueue *queue = &p->queue;
	guint i;

	queue->order = &work->order;
	queue->items = work->shard_blocks[0].items;
	for (i = 0; i < p->n_shards; i++)
		queue->next[i] = work->shard_blocks[i].items;
	if (!kmt_match_merge_fill(p->merge, &work->block, queue))
		return FALSE;
	for (i = 0; i < p->n_shards; i++)
		work->shard_blocks[i].n =
			(guint)(queue->next[i] - work->shard_blocks[i].items);
	if (p->n_shards == 1)
		work->shard_blocks[0].n = queue->n;
	assign_classes(p);
	work->n_classes = p->keys->classes->n;
	return TRUE;
}

/* Find the probable entries of a batch of events, and prefetch their memory. */
static void prefetch_entries(KmtMatchTable *table, const KmtMatchEvent *items,
			     guint n, KmtMatchEntry **entries)
{
	const KmtMatchSlotGroup *groups[KMT_MATCH_PREFETCH_BATCH];
	guint missed[KMT_MATCH_PREFETCH_BATCH], n_missed = 0, k;

	for (k = 0; k < n; k++) {
		guint64 hash = items[k].hash;

		entries[k] = *kmt_match_table_cached_entry(table, hash);
		/* Without a branch, because a cache miss cannot be predicted.
		 */
		missed[n_missed] = k;
		n_missed += entries[k]->hash != hash;
	}
	for (k = 0; k < n_missed; k++)
		groups[k] = kmt_match_table_prefetch_slot(
			table, items[missed[k]].hash);
	for (k = 0; k < n_missed; k++) {
		guint64 hash = items[missed[k]].hash;

		entries[missed[k]] = *kmt_match_table_cached_entry(table,
								   hash) =
			kmt_match_table_prefetch_entry(table, hash, groups[k]);
	}
}

static void match(Shard *shard, KmtMatchEvent *items, guint n,
		  KmtMatchEntry **entries)
{
	KmtMatcher *m = shard->matcher;
	guint64 n_closed = m->table.n_closed;
	guint k;

	for (k = 0; k < n; k++) {
		KmtMatchEvent *item = &items[k];

		if (G_LIKELY(kmt_match_fast_path(m, item, entries[k],
						 &n_closed)))
			continue;
		m->table.n_closed = n_closed;
		shard->item = item;
		kmt_match_slow_path(m, entries[k], item);
		n_closed = m->table.n_closed;
	}
	m->table.n_closed = n_closed;
}

static void stage_match(Shard *shard, PipelineBlock *work)
{
	ShardBlock *shard_block = &work->shard_blocks[shard->number];
	KmtMatchTable *table = &shard->matcher->table;
	KmtMatchEntry *entries[2][KMT_MATCH_PREFETCH_BATCH];
	KmtMatchEvent *items = shard_block->items;
	guint left = shard_block->n, n, n_next, now = 0;

	shard->work = work;
	shard_block->n_slow_events = 0;
	n = MIN(left, KMT_MATCH_PREFETCH_BATCH);
	prefetch_entries(table, items, n, entries[now]);
	for (; n; left -= n, items += n, n = n_next, now = !now) {
		n_next = MIN(left - n, KMT_MATCH_PREFETCH_BATCH);
		prefetch_entries(table, items + n, n_next, entries[!now]);
		match(shard, items, n, entries[now]);
	}
	shard->item = NULL;
	kmt_matcher_advance(shard->matcher,
			    work->order.items[work->block.n - 1]->now);
}

static gboolean is_before(const KmtMatchSlowEvent *a,
			  const KmtMatchSlowEvent *b)
{
	return a->index < b->index ||
	       (a->index == b->index && a->deferred > b->deferred);
}

/*
 * Merge the slow events of all shards. The events of one shard are in order,
 * and different shards have different addresses.
 */
static void order_slow_events(const KmtMatchPipeline *p, PipelineBlock *work)
{
	g_autofree guint *next = NULL;
	guint i, n = 0;

	for (i = 0; i < p->n_shards; i++)
		n += work->shard_blocks[i].n_slow_events;
	g_ptr_array_set_size(work->all_slow_events, (gint)n);
	if (p->n_shards == 1) {
		for (i = 0; i < n; i++)
			work->all_slow_events->pdata[i] = &g_array_index(
				work->shard_blocks[0].slow_events,
				KmtMatchSlowEvent, i);
		return;
	}
	next = g_new0(guint, p->n_shards);
	for (n = 0; n < work->all_slow_events->len; n++) {
		const KmtMatchSlowEvent *first = NULL;
		guint from = 0;

		for (i = 0; i < p->n_shards; i++) {
			const ShardBlock *shard_block = &work->shard_blocks[i];
			const KmtMatchSlowEvent *slow_event;

			if (next[i] == shard_block->n_slow_events)
				continue;
			slow_event = &g_array_index(shard_block->slow_events,
						    KmtMatchSlowEvent, next[i]);
			if (first && !is_before(slow_event, first))
				continue;
			first = slow_event;
			from = i;
		}
		work->all_slow_events->pdata[n] = (gpointer)first;
		next[from]++;
	}
}

static void stage_consume(KmtMatchPipeline *p, PipelineBlock *work)
{
	KmtMatchedBlock matched = {.n = work->block.n,
				   .items = work->order.items,
				   .n_classes = work->n_classes};

	order_slow_events(p, work);
	matched.slow_events =
		(const KmtMatchSlowEvent **)work->all_slow_events->pdata;
	matched.n_slow_events = work->all_slow_events->len;
	p->consumer(p->user, &matched);
	kmt_match_merge_release(p->merge, &work->block);
}

/* ---- threads ---- */

/*
 * Return the number of blocks that every shard has matched.
 *
 * A turn is the work of one stage on one block. The lock orders the turns: a
 * stage sees everything that the previous stage wrote into the block, because
 * each stage acquires the lock after its turn and before the next.
 */
static guint64 n_matched_by_all(const KmtMatchPipeline *p)
{
	guint64 done = G_MAXUINT64;
	guint i;

	for (i = 0; i < p->n_shards; i++)
		done = MIN(done, p->shards[i].done);
	return done;
}

static void run_consume(KmtMatchPipeline *p)
{
	PipelineBlock *work = &p->ring[p->consumed % p->n_ring];

	p->consuming = TRUE;
	g_mutex_unlock(&p->lock);
	stage_consume(p, work);
	lock(p);
	p->consumed++;
	p->consuming = FALSE;
}

static void run_match(KmtMatchPipeline *p, Shard *shard)
{
	PipelineBlock *work = &p->ring[shard->done % p->n_ring];

	shard->busy = TRUE;
	g_mutex_unlock(&p->lock);
	stage_match(shard, work);
	lock(p);
	shard->done++;
	shard->busy = FALSE;
}

static void run_merge(KmtMatchPipeline *p)
{
	PipelineBlock *work = &p->ring[p->merged % p->n_ring];
	gboolean more;

	p->merging = TRUE;
	g_mutex_unlock(&p->lock);
	more = stage_merge(p, work);
	lock(p);
	p->merging = FALSE;
	if (more)
		p->merged++;
	else
		p->at_end = TRUE;
}

/* Return the number of blocks that wait for a stage, as a thread weighs them.
 * Stages whose data is in the cache of another thread's processor (its home)
 * count only if they lag far behind. */
static guint64 urgency(const KmtMatchPipeline *p, guint64 waiting, guint home,
		       guint thread)
{
	return home % p->n_threads == thread ? waiting : waiting / p->n_ring;
}

/*
 * Run the stage for which most blocks wait, so that each stage always has
 * input. The last thread is the home of merging and consuming. Return FALSE if
 * no stage can run.
 */
static gboolean run_urgent_stage(KmtMatchPipeline *p, guint thread)
{
	guint64 most = 0, waiting;
	guint last = p->n_threads - 1;
	gboolean merges = FALSE;
	Shard *shard = NULL;
	guint i;

	if (!p->merging && !p->at_end) {
		most = p->consumed + p->n_ring - p->merged;
		if (most && p->merged - n_matched_by_all(p) < MIN_QUEUED_BLOCKS)
			most = p->n_ring;
		most = urgency(p, most, last, thread);
		merges = most > 0;
	}
	for (i = 0; i < p->n_shards; i++) {
		waiting = urgency(p, p->merged - p->shards[i].done, i, thread);
		if (p->shards[i].busy || waiting <= most)
			continue;
		most = waiting;
		shard = &p->shards[i];
	}
	waiting = urgency(p, n_matched_by_all(p) - p->consumed, last, thread);
	if (!p->consuming && waiting > 0 && waiting >= most)
		run_consume(p);
	else if (shard)
		run_match(p, shard);
	else if (merges)
		run_merge(p);
	else
		return FALSE;
	return TRUE;
}

/*
 * Wait until another thread finishes a turn. Return FALSE if none does so
 * within the spin time.
 */
static gboolean spin_until_progress(KmtMatchPipeline *p)
{
	gint turns = g_atomic_int_get(&p->stage_runs);
	gint64 until = g_get_monotonic_time() +
		       (p->has_enough_cpus ? SPIN_US : SPIN_SHORT_US);
	guint i;

	g_mutex_unlock(&p->lock);
	do {
		for (i = 0; i < SPINS_PER_CLOCK_READ &&
			    g_atomic_int_get(&p->stage_runs) == turns;
		     i++)
			relax();
	} while (i == SPINS_PER_CLOCK_READ && g_get_monotonic_time() < until);
	lock(p);
	return g_atomic_int_get(&p->stage_runs) != turns;
}

/* Run stages until all blocks are consumed. */
static void run_stages(KmtMatchPipeline *p, guint thread)
{
	lock(p);
	while (!p->at_end || p->consumed < p->merged) {
		if (run_urgent_stage(p, thread)) {
			g_atomic_int_inc(&p->stage_runs);
			if (p->waiting)
				g_cond_broadcast(&p->changed);
			p->waiting = FALSE;
		} else if (!spin_until_progress(p)) {
			p->waiting = TRUE;
			g_cond_wait(&p->changed, &p->lock);
		}
	}
	g_mutex_unlock(&p->lock);
}

static void *run_worker(void *data)
{
	const Worker *worker = data;

	pthread_setname_np(pthread_self(), "match");
	run_stages(worker->pipeline, worker->number);
	return NULL;
}

void kmt_match_pipeline_run(KmtMatchPipeline *p)
{
	guint n = p->n_threads, i;
	g_autofree Worker *workers = g_new0(Worker, n);

	for (i = 0; i < n; i++)
		workers[i] = (Worker){.pipeline = p, .number = i};
	p->has_enough_cpus = n_processors() >= n;
	for (i = 1; i < n && pthread_create(&workers[i].thread, NULL,
					    run_worker, &workers[i]) == 0;
	     i++)
		;
	/* If not all threads could be started, continue with fewer. */
	lock(p);
	p->n_threads = i;
	g_mutex_unlock(&p->lock);
	run_stages(p, 0);
	for (i = 1; i < p->n_threads; i++)
		pthread_join(workers[i].thread, NULL);
	for (i = 0; i < p->n_shards; i++) {
		p->shards[i].work = &p->end;
		kmt_matcher_finish(p->shards[i].matcher);
	}
	stage_consume(p, &p->end);
	kmt_match_merge_drain(p->merge);
}

/* ---- creation and destruction ---- */

static void block_init(PipelineBlock *work, guint n_shards)
{
	guint i;

	kmt_match_block_init(&work->block);
	work->shard_blocks =
		g_aligned_alloc(n_shards, sizeof(ShardBlock), CACHE_LINE_BYTES);
	for (i = 0; i < n_shards; i++) {
		work->shard_blocks[i].n = work->shard_blocks[i].n_slow_events =
			0;
		work->shard_blocks[i].slow_events =
			g_array_new(FALSE, FALSE, sizeof(KmtMatchSlowEvent));
	}
	if (n_shards == 1)
		kmt_match_order_init_identity(&work->order,
					      work->shard_blocks[0].items);
	work->all_slow_events = g_ptr_array_new();
}

static void block_clear(PipelineBlock *work, guint n_shards)
{
	guint i;

	for (i = 0; i < n_shards; i++)
		g_array_unref(work->shard_blocks[i].slow_events);
	g_aligned_free(work->shard_blocks);
	g_ptr_array_unref(work->all_slow_events);
	kmt_match_block_clear(&work->block);
}

KmtMatchPipeline *kmt_match_pipeline_new(const KmtInputCapture *capture,
					 const KmtMatchPipelineOptions *options,
					 KmtMatchConsumer consumer,
					 gpointer user)
{
	const guint threads = CLAMP(options->jobs, 1, KMT_MATCH_MAX_THREADS);
	const KmtMatchOptions match_options = {
		.clock_tolerance_ns = options->clock_tolerance_ns,
		.keys = options->keys,
		.hash_seed = kmt_hash_odd_seed(),
		.shards =
			options->shards ? options->shards : MAX(2, threads) - 1,
	};
	KmtMatchPipeline *p = g_new0(KmtMatchPipeline, 1);
	guint i;

	p->capture = capture;
	p->consumer = consumer;
	p->user = user;
	p->n_threads = threads;
	p->n_ring = MIN(MAX_BLOCKS, BLOCKS_PER_THREAD * p->n_threads);
	p->n_shards = match_options.shards;
	p->keys = options->keys;
	p->queue = (KmtMatchShardQueue){
		.seed = match_options.hash_seed,
		.n_shards = p->n_shards,
		.next = g_new(KmtMatchEvent *, p->n_shards)};
	p->merge = kmt_match_merge_new(capture);
	kmt_match_merge_stop_after(p->merge, options->stop_ns,
				   CLAMP(options->clock_tolerance_ns, 0,
					 KMT_MATCH_CLOCK_TOLERANCE_MAX_NS));
	p->shards = g_new0(Shard, p->n_shards);
	for (i = 0; i < p->n_shards; i++) {
		Shard *shard = &p->shards[i];

		shard->number = i;
		shard->matcher = kmt_matcher_new(capture, &match_options,
						 &match_ops, shard);
	}
	for (i = 0; i < p->n_ring; i++)
		block_init(&p->ring[i], p->n_shards);
	block_init(&p->end, p->n_shards);
	g_mutex_init(&p->lock);
	g_cond_init(&p->changed);
	return p;
}

void kmt_match_pipeline_free(KmtMatchPipeline *p)
{
	guint i;

	if (!p)
		return;
	for (i = 0; i < p->n_ring; i++)
		block_clear(&p->ring[i], p->n_shards);
	block_clear(&p->end, p->n_shards);
	for (i = 0; i < p->n_shards; i++)
		kmt_matcher_free(p->shards[i].matcher);
	kmt_match_merge_free(p->merge);
	g_free(p->queue.next);
	g_mutex_clear(&p->lock);
	g_cond_clear(&p->changed);
	g_free(p->shards);
	g_free(p);
}

const KmtMatchMerge *kmt_match_pipeline_merge(const KmtMatchPipeline *p)
{
	return p->merge;
}

void kmt_match_pipeline_foreach_live(KmtMatchPipeline *p,
				     void (*func)(gpointer user,
						  const KmtMatchObject *object),
				     gpointer user)
{
	guint i;

	for (i = 0; i < p->n_shards; i++)
		kmt_matcher_foreach_live(p->shards[i].matcher, func, user);
}
