// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "lib/match/matcher-private.h"
#include "lib/match/pipeline.h"

/* Blocks on their way: so many for each thread, that none waits for another's
 * next one; no more, or they are not in the processor's cache any more. */
#define RING_EACH 2
#define RING	  8

/* With less before it, matching would have to wait soon. */
#define FEED 2

/*
 * Large captures are bound by the time that memory takes.  So what is needed of
 * the table is asked for a batch before.  The tests take few.
 */
#ifndef BATCH
#define BATCH 128
#endif

/* Of the processor's cache. */
#define LINE 64

/* A thread that waits does so this long before it sleeps: some turns, as on a
 * busy machine it takes longer than that to be woken.  But if there are more of
 * them than processors, others need this one. */
#define SPIN_US	      300
#define SPIN_SHORT_US 20

/* More threads gain nothing: merging and adding up take one thread each, and
 * many shards cost more than they save.  The tests use more. */
#ifndef KMT_MAX_THREADS
#define KMT_MAX_THREADS MIN(16, n_processors())
#endif

/* Between looks at the clock. */
#define SPINS 1000

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

/* Shards write to different lines of the processor's cache. */
typedef struct {
	KmtItem items[KMT_BLOCK_RECORDS] __attribute__((aligned(LINE)));
	guint n;
	guint n_extras;
	GArray *extras; /* of KmtExtra; n_extras of them, the rest is room */
} Share;

typedef struct {
	KmtBlock block;
	KmtOrder order;
	Share *shares;	       /* one for each shard */
	GPtrArray *all_extras; /* of KmtExtra *, in their order */
	guint32 n_lots;	       /* when it was merged */
} Work;

typedef struct {
	KmtMatcher *matcher;
	guint number;
	Work *work;	     /* that it is on */
	const KmtItem *item; /* the record that is fed; NULL after the last */
	/* Under the pipeline's lock: */
	guint64 done; /* blocks */
	gboolean busy;
} Shard;

/* A thread.  Number 0 is that of whoever runs the pipeline. */
typedef struct {
	KmtPipeline *pipeline;
	guint number;
	pthread_t thread;
	gint cpu;      /* that it was on lately, or is to be; below 0: any */
	cpu_set_t all; /* that it may be on; if it was told where to begin */
} Worker;

struct KmtPipeline {
	const KmtCapture *capture;
	KmtConsumer consumer;
	gpointer user;
	guint n_shards, n_threads;
	Worker *workers; /* n_workers, though not all may have started */
	guint n_workers;
	gboolean roomy; /* there are as many processors */
	guint n_ring;
	gboolean (*idle)(gpointer user);
	gpointer idle_user;
	KmtMerge *merge;
	/* Of the stage that merges: */
	KmtCells *cells;
	KmtOutlet outlet;
	Shard *shards;
	Work ring[RING]; /* n_ring of them */
	Work end;	 /* for what is decided after the last record */

	/* Turns that were done, modulo 2^32: written under the lock, read by
	 * those who spin without it. */
	gint turns;

	GMutex lock;
	GCond changed;
	/* Under the lock: */
	guint64 merged; /* blocks */
	guint64 consumed;
	gboolean merging, consuming; /* a thread is at it */
	gboolean waiting;	     /* some thread is, for a turn */
	gboolean at_end;	     /* there is no further block */
};

/* It is held for a moment only. */
static void lock(KmtPipeline *p)
{
	guint i;

	for (i = 0; i < SPINS; i++) {
		if (g_mutex_trylock(&p->lock))
			return;
		relax();
	}
	g_mutex_lock(&p->lock);
}

/* ---- what the matcher tells by calls ---- */

/*
 * The first record of the block that merged time went beyond time with.  It is
 * not far before the one that is fed, if any is.
 */
static guint place_after(const Shard *shard, gint64 time)
{
	const Work *work = shard->work;
	guint to = shard->item ? shard->item->place : work->block.n;
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

static KmtExtra *add_extra(Shard *shard, KmtExtraOp op,
			   const struct kmemtrace_event *event,
			   const KmtPosition *position)
{
	Share *share = &shard->work->shares[shard->number];
	KmtExtra *extra;
	gint64 time;

	if (share->n_extras == share->extras->len)
		g_array_set_size(share->extras, 2 * share->n_extras + 16);
	extra = &g_array_index(share->extras, KmtExtra, share->n_extras++);
	extra->op = (guint8)op;
	extra->mismatch = extra->class = extra->late_free = 0;
	extra->type = event->type_id;
	extra->file = (guint16)position->file->position;
	extra->ptr = event->ptr;
	extra->call_site = event->call_site;
	extra->now = event->timestamp;
	extra->late = kmt_matcher_is_late(shard->matcher, &time) != FALSE;
	extra->place =
		extra->late ? place_after(shard, time) : shard->item->place;
	return extra;
}

static void on_alloc(gpointer user, const KmtObject *object,
		     const struct kmemtrace_event *event,
		     const KmtPosition *position)
{
	add_extra(user, KMT_EXTRA_ALLOC, event, position)->object = *object;
}

static void on_free(gpointer user, const KmtObject *object,
		    const struct kmemtrace_event *event,
		    const KmtPosition *position, gboolean mismatch)
{
	KmtExtra *extra = add_extra(user, KMT_EXTRA_FREE, event, position);

	extra->object = *object;
	extra->mismatch = mismatch != FALSE;
}

static void on_replaced(gpointer user, const KmtObject *object,
			const struct kmemtrace_event *event,
			const KmtPosition *position)
{
	add_extra(user, KMT_EXTRA_REPLACED, event, position)->object = *object;
}

static void on_double(gpointer user, const KmtObject *old_object,
		      const struct kmemtrace_event *event,
		      const KmtPosition *position, KmtDouble class,
		      const struct kmemtrace_event *free_event)
{
	KmtExtra *extra = add_extra(user, KMT_EXTRA_DOUBLE, event, position);

	extra->object = *old_object;
	extra->class = (guint8) class;
	extra->late_free = free_event != NULL;
}

static void on_unmatched(gpointer user, const struct kmemtrace_event *event,
			 const KmtPosition *position, KmtUnmatched class)
{
	add_extra(user, KMT_EXTRA_UNMATCHED, event, position)->class =
		(guint8) class;
}

static const KmtMatchOps match_ops = {
	.on_alloc = on_alloc,
	.on_free = on_free,
	.on_replaced = on_replaced,
	.on_double = on_double,
	.on_unmatched = on_unmatched,
};

/* ---- the stages ---- */

static gboolean is_remote(const KmtPipeline *p, const KmtItem *item)
{
	const KmtCpuFile *file = p->capture->files->pdata[item->file];

	return file->node >= 0 && item->event->node != file->node;
}

/* What ALLOCs are of. */
static void give_lots(KmtPipeline *p)
{
	KmtItem *const *allocs = p->outlet.order->allocs;
	const KmtCellParts parts = p->cells->parts;
	const guint n = p->outlet.n_allocs;
	KmtCells *cells = p->cells;
	guint i;

	for (i = 0; i < n; i++) {
		const KmtRawEvent *event = allocs[i]->event;
		KmtItem *item = allocs[i];

		item->lot = kmt_cells_lot(cells, parts, event, item->file);
		if (G_UNLIKELY(event->node >= 0))
			item->remote = is_remote(p, item);
	}
}

/* Returns FALSE at the end. */
static gboolean stage_merge(KmtPipeline *p, Work *work)
{
	KmtOutlet *outlet = &p->outlet;
	guint i;

	outlet->order = &work->order;
	outlet->items = work->shares[0].items;
	for (i = 0; i < p->n_shards; i++)
		outlet->next[i] = work->shares[i].items;
	if (!kmt_merge_fill(p->merge, &work->block, outlet))
		return FALSE;
	for (i = 0; i < p->n_shards; i++)
		work->shares[i].n =
			(guint)(outlet->next[i] - work->shares[i].items);
	if (p->n_shards == 1)
		work->shares[0].n = outlet->n;
	give_lots(p);
	work->n_lots = p->cells->lots->n;
	return TRUE;
}

/* Finds what may be the entries of a batch of a shard's records, and asks for
 * their memory. */
static void ask(KmtObjTable *table, const KmtItem *items, guint n,
		KmtEntry **entries)
{
	const KmtSlotGroup *groups[BATCH];
	guint asked[BATCH], n_asked = 0, k;

	for (k = 0; k < n; k++) {
		guint64 hash = items[k].hash;

		entries[k] = *kmt_obj_front(table, hash);
		/* No branch: it is hard to foretell. */
		asked[n_asked] = k;
		n_asked += entries[k]->hash != hash;
	}
	for (k = 0; k < n_asked; k++)
		groups[k] = kmt_obj_prefetch_slot(table, items[asked[k]].hash);
	for (k = 0; k < n_asked; k++) {
		guint64 hash = items[asked[k]].hash;

		entries[asked[k]] = *kmt_obj_front(table, hash) =
			kmt_obj_prefetch_entry(table, hash, groups[k]);
	}
}

static void match(Shard *shard, KmtItem *items, guint n, KmtEntry **entries)
{
	KmtMatcher *m = shard->matcher;
	guint64 n_closed = m->table.n_closed;
	guint k;

	for (k = 0; k < n; k++) {
		KmtItem *item = &items[k];

		if (G_LIKELY(kmt_match_step(m, item, entries[k], &n_closed)))
			continue;
		m->table.n_closed = n_closed;
		shard->item = item;
		kmt_match_slowly(m, entries[k], item);
		n_closed = m->table.n_closed;
	}
	m->table.n_closed = n_closed;
}

static void stage_match(Shard *shard, Work *work)
{
	Share *share = &work->shares[shard->number];
	KmtObjTable *table = &shard->matcher->table;
	KmtEntry *entries[2][BATCH];
	KmtItem *items = share->items;
	guint left = share->n, n, n_next, now = 0;

	shard->work = work;
	share->n_extras = 0;
	n = MIN(left, BATCH);
	ask(table, items, n, entries[now]);
	for (; n; left -= n, items += n, n = n_next, now = !now) {
		n_next = MIN(left - n, BATCH);
		ask(table, items + n, n_next, entries[!now]);
		match(shard, items, n, entries[now]);
	}
	shard->item = NULL;
	kmt_matcher_advance(shard->matcher,
			    work->order.items[work->block.n - 1]->now);
}

static gboolean is_before(const KmtExtra *a, const KmtExtra *b)
{
	return a->place < b->place ||
	       (a->place == b->place && a->late > b->late);
}

/* One shard's are in order, others' are of other addresses. */
static void order_extras(const KmtPipeline *p, Work *work)
{
	g_autofree guint *next = NULL;
	guint i, n = 0;

	for (i = 0; i < p->n_shards; i++)
		n += work->shares[i].n_extras;
	g_ptr_array_set_size(work->all_extras, (gint)n);
	if (p->n_shards == 1) {
		for (i = 0; i < n; i++)
			work->all_extras->pdata[i] = &g_array_index(
				work->shares[0].extras, KmtExtra, i);
		return;
	}
	next = g_new0(guint, p->n_shards);
	for (n = 0; n < work->all_extras->len; n++) {
		const KmtExtra *first = NULL;
		guint from = 0;

		for (i = 0; i < p->n_shards; i++) {
			const Share *share = &work->shares[i];
			const KmtExtra *extra;

			if (next[i] == share->n_extras)
				continue;
			extra = &g_array_index(share->extras, KmtExtra,
					       next[i]);
			if (first && !is_before(extra, first))
				continue;
			first = extra;
			from = i;
		}
		work->all_extras->pdata[n] = (gpointer)first;
		next[from]++;
	}
}

static void stage_consume(KmtPipeline *p, Work *work)
{
	KmtMatched matched = {.n = work->block.n,
			      .items = work->order.items,
			      .n_lots = work->n_lots};

	order_extras(p, work);
	matched.extras = (const KmtExtra **)work->all_extras->pdata;
	matched.n_extras = work->all_extras->len;
	p->consumer(p->user, &matched);
	kmt_merge_release(p->merge, &work->block);
}

/* ---- the threads ---- */

/*
 * What runs: a stage's turn with a block.  The lock orders the stages: what one
 * wrote into a block before it took the lock, the next one sees.
 */
static guint64 matched_by_all(const KmtPipeline *p)
{
	guint64 done = G_MAXUINT64;
	guint i;

	for (i = 0; i < p->n_shards; i++)
		done = MIN(done, p->shards[i].done);
	return done;
}

static void turn_consume(KmtPipeline *p)
{
	Work *work = &p->ring[p->consumed % p->n_ring];

	p->consuming = TRUE;
	g_mutex_unlock(&p->lock);
	stage_consume(p, work);
	lock(p);
	p->consumed++;
	p->consuming = FALSE;
}

static void turn_match(KmtPipeline *p, Shard *shard)
{
	Work *work = &p->ring[shard->done % p->n_ring];

	shard->busy = TRUE;
	g_mutex_unlock(&p->lock);
	stage_match(shard, work);
	lock(p);
	shard->done++;
	shard->busy = FALSE;
}

static void turn_merge(KmtPipeline *p)
{
	Work *work = &p->ring[p->merged % p->n_ring];
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

/* How many blocks wait for a stage, for a thread.  What another one has in its
 * cache is not for this one, unless that lags. */
static guint64 urgency(const KmtPipeline *p, guint64 waiting, guint home,
		       guint thread)
{
	return home % p->n_threads == thread ? waiting : waiting / p->n_ring;
}

/*
 * Does the turn that most blocks wait for, so that there are always some before
 * each stage and nobody has to wait.  The last thread is the home of what comes
 * before matching and after it.  Returns FALSE if there is none.
 */
static gboolean do_turn(KmtPipeline *p, guint thread)
{
	guint64 most = 0, waiting;
	guint last = p->n_threads - 1;
	gboolean merges = FALSE;
	Shard *shard = NULL;
	guint i;

	if (!p->merging && !p->at_end) {
		most = p->consumed + p->n_ring - p->merged;
		if (most && p->merged - matched_by_all(p) < FEED)
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
	waiting = urgency(p, matched_by_all(p) - p->consumed, last, thread);
	if (!p->consuming && waiting > 0 && waiting >= most)
		turn_consume(p);
	else if (shard)
		turn_match(p, shard);
	else if (merges)
		turn_merge(p);
	else
		return FALSE;
	return TRUE;
}

/* Waits for somebody's turn to end.  Returns FALSE if none did in a while. */
static gboolean spin(KmtPipeline *p)
{
	gint turns = g_atomic_int_get(&p->turns);
	gint64 until =
		g_get_monotonic_time() + (p->roomy ? SPIN_US : SPIN_SHORT_US);
	guint i;

	g_mutex_unlock(&p->lock);
	while (p->idle && g_atomic_int_get(&p->turns) == turns &&
	       p->idle(p->idle_user))
		;
	do {
		for (i = 0; i < SPINS && g_atomic_int_get(&p->turns) == turns;
		     i++)
			relax();
	} while (i == SPINS && g_get_monotonic_time() < until);
	lock(p);
	return g_atomic_int_get(&p->turns) != turns;
}

/*
 * Two threads that wait for each other are of use on two processors only, and
 * the scheduler may leave both on one, with another idle, for longer than all
 * of it takes.  So each begins on one that none of the others is on, and goes
 * to such a one if it wakes where another is; otherwise it is free.  Whoever
 * sets at that moment where they may run is not heard.
 */

/* The one to go to; below 0: there is no need, or no other.  all: those that
 * there are. */
static gint find_processor(const KmtPipeline *p, guint thread, cpu_set_t *all)
{
	gint cpu = sched_getcpu();
	cpu_set_t others;
	guint i;

	CPU_ZERO(&others);
	for (i = 0; i < p->n_workers; i++) {
		gint other = g_atomic_int_get(&p->workers[i].cpu);

		if (i != thread && other >= 0 && other < CPU_SETSIZE)
			CPU_SET(other, &others);
	}
	if (!p->roomy || cpu < 0 || cpu >= CPU_SETSIZE ||
	    !CPU_ISSET(cpu, &others) ||
	    sched_getaffinity(0, sizeof(*all), all) < 0)
		return -1;
	for (i = 1; i < CPU_SETSIZE; i++) {
		gint next = (cpu + (gint)i) % CPU_SETSIZE;

		if (CPU_ISSET(next, all) && !CPU_ISSET(next, &others))
			return next;
	}
	return -1;
}

static void leave_processor(const KmtPipeline *p, guint thread)
{
	cpu_set_t all, one;
	gint cpu = find_processor(p, thread, &all);

	if (cpu < 0)
		return;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one) == 0)
		sched_setaffinity(0, sizeof(all), &all);
}

/* Each thread is the home of some stages. */
static void work_on(KmtPipeline *p, guint thread)
{
	gint *cpu = &p->workers[thread].cpu;

	lock(p);
	while (!p->at_end || p->consumed < p->merged) {
		g_atomic_int_set(cpu, sched_getcpu());
		if (do_turn(p, thread)) {
			g_atomic_int_inc(&p->turns);
			if (p->waiting)
				g_cond_broadcast(&p->changed);
			p->waiting = FALSE;
		} else if (!spin(p)) {
			p->waiting = TRUE;
			g_atomic_int_set(cpu, -1);
			g_cond_wait(&p->changed, &p->lock);
			g_mutex_unlock(&p->lock);
			leave_processor(p, thread);
			lock(p);
		}
	}
	g_mutex_unlock(&p->lock);
}

static void *run_worker(void *data)
{
	const Worker *worker = data;

	pthread_setname_np(pthread_self(), "match");
	if (worker->cpu >= 0)
		sched_setaffinity(0, sizeof(worker->all), &worker->all);
	work_on(worker->pipeline, worker->number);
	return NULL;
}

/* Where it is to begin, from its first moment: it may not run for some ms where
 * the one who starts it goes on. */
static gboolean start_worker(Worker *worker)
{
	pthread_attr_t attr;
	cpu_set_t one;
	int r;

	pthread_attr_init(&attr);
	r = find_processor(worker->pipeline, worker->number, &worker->all);
	g_atomic_int_set(&worker->cpu, r);
	if (r >= 0) {
		CPU_ZERO(&one);
		CPU_SET(r, &one);
		pthread_attr_setaffinity_np(&attr, sizeof(one), &one);
	}
	r = pthread_create(&worker->thread, &attr, run_worker, worker);
	pthread_attr_destroy(&attr);
	if (r == 0)
		return TRUE;
	/* It may be that nobody may say where. */
	g_atomic_int_set(&worker->cpu, -1);
	return pthread_create(&worker->thread, NULL, run_worker, worker) == 0;
}

void kmt_pipeline_run(KmtPipeline *p)
{
	guint n = p->n_threads, i;
	g_autofree Worker *workers = g_new0(Worker, n);

	for (i = 0; i < n; i++)
		workers[i] = (Worker){.pipeline = p, .number = i, .cpu = -1};
	workers[0].cpu = sched_getcpu();
	p->workers = workers;
	p->n_workers = n;
	p->roomy = n_processors() >= n;
	for (i = 1; i < n && start_worker(&workers[i]); i++)
		;
	/* The machine may have no more: these have to do. */
	lock(p);
	p->n_threads = i;
	g_mutex_unlock(&p->lock);
	work_on(p, 0);
	for (i = 1; i < p->n_threads; i++)
		pthread_join(workers[i].thread, NULL);
	for (i = 0; i < p->n_shards; i++) {
		p->shards[i].work = &p->end;
		kmt_matcher_finish(p->shards[i].matcher);
	}
	stage_consume(p, &p->end);
	kmt_merge_drain(p->merge);
}

/* ---- birth and death ---- */

static void work_init(Work *work, guint n_shards)
{
	guint i;

	kmt_block_init(&work->block);
	work->shares = g_aligned_alloc(n_shards, sizeof(Share), LINE);
	for (i = 0; i < n_shards; i++) {
		work->shares[i].n = work->shares[i].n_extras = 0;
		work->shares[i].extras =
			g_array_new(FALSE, FALSE, sizeof(KmtExtra));
	}
	if (n_shards == 1)
		kmt_order_is(&work->order, work->shares[0].items);
	work->all_extras = g_ptr_array_new();
}

static void work_clear(Work *work, guint n_shards)
{
	guint i;

	for (i = 0; i < n_shards; i++)
		g_array_unref(work->shares[i].extras);
	g_aligned_free(work->shares);
	g_ptr_array_unref(work->all_extras);
	kmt_block_clear(&work->block);
}

KmtPipeline *kmt_pipeline_new(const KmtCapture *capture,
			      const KmtPipelineOptions *options,
			      KmtConsumer consumer, gpointer user)
{
	const guint threads = CLAMP(options->jobs, 1, KMT_MAX_THREADS);
	const KmtMatchOptions match_options = {
		.clock_tolerance_ns = options->clock_tolerance_ns,
		.cells = options->cells,
		.hash_seed = kmt_hash_odd_seed(),
		.shards =
			options->shards ? options->shards : MAX(2, threads) - 1,
	};
	KmtPipeline *p = g_new0(KmtPipeline, 1);
	guint i;

	p->capture = capture;
	p->consumer = consumer;
	p->user = user;
	p->n_threads = threads;
	p->n_ring = MIN(RING, RING_EACH * p->n_threads);
	p->n_shards = match_options.shards;
	p->cells = options->cells;
	p->idle = options->idle;
	p->idle_user = options->idle_user;
	p->outlet = (KmtOutlet){.seed = match_options.hash_seed,
				.n_shards = p->n_shards,
				.next = g_new(KmtItem *, p->n_shards)};
	p->merge = kmt_merge_new(capture);
	kmt_merge_stop_after(p->merge, options->stop_ns,
			     CLAMP(options->clock_tolerance_ns, 0,
				   KMT_CLOCK_TOLERANCE_MAX_NS));
	p->shards = g_new0(Shard, p->n_shards);
	for (i = 0; i < p->n_shards; i++) {
		Shard *shard = &p->shards[i];

		shard->number = i;
		shard->matcher = kmt_matcher_new(capture, &match_options,
						 &match_ops, shard);
	}
	for (i = 0; i < p->n_ring; i++)
		work_init(&p->ring[i], p->n_shards);
	work_init(&p->end, p->n_shards);
	g_mutex_init(&p->lock);
	g_cond_init(&p->changed);
	return p;
}

void kmt_pipeline_free(KmtPipeline *p)
{
	guint i;

	if (!p)
		return;
	for (i = 0; i < p->n_ring; i++)
		work_clear(&p->ring[i], p->n_shards);
	work_clear(&p->end, p->n_shards);
	for (i = 0; i < p->n_shards; i++)
		kmt_matcher_free(p->shards[i].matcher);
	kmt_merge_free(p->merge);
	g_free(p->outlet.next);
	g_mutex_clear(&p->lock);
	g_cond_clear(&p->changed);
	g_free(p->shards);
	g_free(p);
}

const KmtMerge *kmt_pipeline_merge(const KmtPipeline *p)
{
	return p->merge;
}

void kmt_pipeline_foreach_live(KmtPipeline *p,
			       void (*func)(gpointer user,
					    const KmtObject *object),
			       gpointer user)
{
	guint i;

	for (i = 0; i < p->n_shards; i++)
		kmt_matcher_foreach_live(p->shards[i].matcher, func, user);
}
