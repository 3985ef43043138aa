// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The threads of the pipeline: each thread repeatedly runs the stage for which
 * most blocks wait.
 *
 * A turn is the work of one stage on one block. The lock orders the turns: a
 * stage sees everything that the previous stage wrote into the block, because a
 * thread acquires the lock after its turn and before the next.
 */
#include "config.h"

#include <pthread.h>
#include <sched.h>

#include "lib/input/frame-queue.h"
#include "lib/match/pipeline-private.h"

/* If fewer blocks are merged but not yet matched by all shards, the next merge
 * is urgent. */
#define MIN_QUEUED_BLOCKS 2

/* Time for which a thread spins before it sleeps: several turns of a stage,
 * because waking a thread takes longer on a busy machine. The shorter time
 * applies if there are more threads than processors. */
#define SPIN_US	      300
#define SPIN_SHORT_US 20

/* Spins between two reads of the clock. */
#define SPINS_PER_CLOCK_READ 1000

/* A thread. Number 0 is the caller of kmt_match_pipeline_run(). */
typedef struct {
	KmtMatchPipeline *pipeline;
	guint number;
	pthread_t thread;
} Worker;

guint kmt_match_n_processors(void)
{
	cpu_set_t all;

	return sched_getaffinity(0, sizeof(all), &all) < 0
		       ? g_get_num_processors()
		       : (guint)CPU_COUNT(&all);
}

static inline void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#endif
}

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

/* Return the number of blocks that every shard has matched. */
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
	KmtMatchPipelineBlock *work = &p->ring[p->consumed % p->n_ring];

	p->consuming = TRUE;
	g_mutex_unlock(&p->lock);
	kmt_match_stage_consume(p, work);
	lock(p);
	p->consumed++;
	p->consuming = FALSE;
}

static void run_match(KmtMatchPipeline *p, KmtMatchShard *shard)
{
	KmtMatchPipelineBlock *work = &p->ring[shard->done % p->n_ring];

	shard->busy = TRUE;
	g_mutex_unlock(&p->lock);
	kmt_match_stage_match(p, shard, work);
	lock(p);
	shard->done++;
	shard->busy = FALSE;
}

static void run_merge(KmtMatchPipeline *p)
{
	KmtMatchPipelineBlock *work = &p->ring[p->merged % p->n_ring];
	gboolean more;

	p->merging = TRUE;
	g_mutex_unlock(&p->lock);
	more = kmt_match_stage_merge(p, work);
	lock(p);
	p->merging = FALSE;
	if (more)
		p->merged++;
	else
		p->at_end = TRUE;
}

/*
 * Decompress a frame that the merge will soon need. Return FALSE if the merge
 * needs none, or if enough frames are decompressed.
 */
static gboolean read_ahead(KmtMatchPipeline *p)
{
	KmtInputReadAhead job;

	if (!kmt_input_read_ahead_begin(p->capture, 2 * p->n_threads, &job))
		return FALSE;
	g_mutex_unlock(&p->lock);
	kmt_input_read_ahead_run(&job);
	lock(p);
	return TRUE;
}

/*
 * Return the urgency of a stage for a thread; 0: the thread does not run the
 * stage. waiting is the number of blocks that wait for the stage. home, modulo
 * the number of threads, is the thread whose processor probably has the data of
 * the stage in its cache. For that thread, the urgency is waiting. For another
 * thread, it is 1 if all blocks of the ring wait, otherwise 0.
 */
static guint64 urgency(const KmtMatchPipeline *p, guint64 waiting, guint home,
		       guint thread)
{
	return home % p->n_threads == thread ? waiting : waiting / p->n_ring;
}

/*
 * Run the stage for which most blocks wait, so that each stage rarely lacks
 * input. The last thread is the home of merging and consuming. Return FALSE if
 * no stage can run.
 */
static gboolean run_urgent_stage(KmtMatchPipeline *p, guint thread)
{
	guint64 most = 0, waiting;
	guint last = p->n_threads - 1;
	gboolean merges = FALSE;
	KmtMatchShard *shard = NULL;
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
		return read_ahead(p);
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

void kmt_match_run_threads(KmtMatchPipeline *p)
{
	guint n = p->n_threads, i;
	g_autofree Worker *workers = g_new0(Worker, n);

	for (i = 0; i < n; i++)
		workers[i] = (Worker){.pipeline = p, .number = i};
	p->has_enough_cpus = kmt_match_n_processors() >= n;
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
}
