// SPDX-License-Identifier: GPL-2.0-or-later
/* One translation unit: the inner loop needs all parts of the model inlined. */
#include "config.h"

#include <string.h>

#include "bench/model.h"
#include "lib/base/multiply.h"

/* ---- allocation classes and call sites ---- */

typedef struct {
	guint8 type;
	guint32 size; /* allocated bytes */
	guint32 lost; /* cache: allocated minus requested bytes of an object */
} Class;

#define KMALLOC(size)                                                          \
	{                                                                      \
		KMEMTRACE_TYPE_KMALLOC, size, 0                                \
	}
#define CACHE(size, lost)                                                      \
	{                                                                      \
		KMEMTRACE_TYPE_CACHE, size, lost                               \
	}
#define PAGES(order)                                                           \
	{                                                                      \
		KMEMTRACE_TYPE_PAGES, 4096 << (order), 0                       \
	}

/*
 * Each call site draws one element. A size that many call sites use occurs in
 * several elements; each element has its own addresses (see Slab).
 */
static const Class classes[] = {
	KMALLOC(8),	KMALLOC(16),	KMALLOC(32),	KMALLOC(32),
	KMALLOC(64),	KMALLOC(64),	KMALLOC(64),	KMALLOC(96),
	KMALLOC(128),	KMALLOC(192),	KMALLOC(256),	KMALLOC(512),
	KMALLOC(512),	KMALLOC(1024),	KMALLOC(2048),	KMALLOC(4096),
	KMALLOC(4096),	KMALLOC(8192),	CACHE(40, 0),	CACHE(56, 0),
	CACHE(64, 8),	CACHE(72, 0),	CACHE(104, 0),	CACHE(128, 16),
	CACHE(136, 0),	CACHE(192, 0),	CACHE(192, 0),	CACHE(192, 8),
	CACHE(200, 0),	CACHE(232, 0),	CACHE(256, 24), CACHE(256, 24),
	CACHE(336, 0),	CACHE(568, 0),	CACHE(640, 8),	CACHE(704, 40),
	CACHE(1088, 0), CACHE(1152, 0), CACHE(2112, 0), CACHE(4096, 0),
	PAGES(0),	PAGES(0),	PAGES(0),	PAGES(0),
	PAGES(0),	PAGES(0),	PAGES(1),	PAGES(2),
	PAGES(3),	PAGES(9),
};
#define N_CLASSES   G_N_ELEMENTS(classes)
#define FIRST_PAGES 40

/* Each CPU has a range of addresses, and each element of classes[] has a part
 * of the range. */
#define LINEAR_BASE  G_GUINT64_CONSTANT(0xffff888000000000)
#define LINEAR_BITS  46
#define CLASS_BITS   6
#define N_FREE_SITES 512
G_STATIC_ASSERT(N_CLASSES <= 1 << CLASS_BITS);

#define TEXT_BASE	 G_GUINT64_CONSTANT(0xffffffff81000000)
#define TEXT_STRIDE	 0x1230
#define FREE_SITE_STRIDE 0x2c

/* Number of call sites: [slab or pages][short-lived or long-lived]. */
static const guint n_sites[2][2] = {{1500, 300}, {150, 50}};
#define N_SITES 2000

/* A call site. The struct is small, because each event reads one. */
typedef struct {
	guint32 call_site; /* offset from TEXT_BASE */
	guint32 free_site; /* offset of the first of two freeing sites */
	guint32 gfp;
	guint32 size;	   /* allocated bytes */
	guint32 req;	   /* minimum of the requested bytes */
	guint32 spread;	   /* the requested bytes are below req + spread */
	guint8 medium_256; /* share of objects of medium lifetime, in 1/256 */
	guint8 class;
	guint8 type;
} Site;

/*
 * Walker's alias method: draw a site by its probability in constant time. A
 * random number up to threshold selects sites[1], a larger one sites[0]. An
 * array replaces a branch, which the processor would often mispredict.
 */
typedef struct {
	guint32 threshold;
	guint16 sites[2];
} Alias;

typedef struct {
	Alias *entries;
	guint n;
} Choice;

/* ---- objects ---- */

typedef struct {
	guint64 ptr;
	guint32 site;
	guint32 cpu;
} ModelObject;

typedef struct {
	ModelObject *objects;
	guint64 n, capacity;
} Pool;

/* The addresses of a class on one CPU. */
typedef struct {
	guint64 *freed; /* a stack: the last freed address is on top */
	guint32 n, capacity;
	guint64 fresh; /* first address that was never used */
	guint64 limit;
} Slab;

#define ALWAYS_INLINE inline __attribute__((always_inline))

/* Lifetime of an object. Each CPU has a pool of objects for each lifetime. */
enum { BRIEF, MEDIUM, LASTING, N_SPANS };

typedef struct {
	Pool pools[N_SPANS];
	gboolean freeing;
	Slab slabs[N_CLASSES];
} ModelCpu;

/* Maximum number of short-lived objects of a CPU. */
#define MAX_DEPTH 64
/*
 * Share of a CPU's frees of its own objects, in 1/256, that free a long-lived
 * object, if the CPU has one.
 */
#define LASTING_256 4
#define MAX_MEDIUM  2048
/* Number of events between two updates of BenchModel.ramp. */
#define STEP 128
G_STATIC_ASSERT(BENCH_ROUND % STEP == 0);

/* State that each event changes; a local copy stays in registers. */
typedef struct {
	guint64 random;
	gint64 now; /* ns */
	gint64 live;
	guint cpu;
} State;

struct BenchModel {
	BenchParams params;
	State state;
	Site sites[N_SITES];
	Choice choices[2][2];
	ModelCpu *cpus;
	BenchTotals totals[BENCH_N_KINDS + 1]; /* the last element is never
						* read, see slab_totals() */
	/* Target number of live objects, and its increase per event until
	 * params.live is reached; fixed point with 32 fractional bits. */
	guint64 ramp, slope;
	guint medium_target; /* number of MEDIUM objects that each CPU keeps */
	guint32 cross_64k;   /* frees of other CPUs' objects, in 1/65536 */
	guint32 pages_64k;   /* allocations of pages, in 1/65536 */
	guint32 gap;	     /* consecutive events are 1 to gap ns apart */
	gboolean full;
};

/* ---- random numbers ---- */

/* Return the next random number (wyrand). */
static ALWAYS_INLINE guint64 draw(State *s)
{
	guint64 low, high;

	s->random += G_GUINT64_CONSTANT(0xa0761d6478bd642f);
	low = kmt_multiply(s->random,
			   s->random ^ G_GUINT64_CONSTANT(0xe7037ed1a0b428db),
			   &high);
	return low ^ high;
}

/* Return a number from 0 to n - 1 from 32 random bits. */
static inline guint32 below(guint32 bits, guint32 n)
{
	return (guint32)((guint64)bits * n >> 32);
}

static void choice_init(Choice *choice, guint first, guint n)
{
	g_autofree double *p = g_new(double, n);
	g_autofree guint *small = g_new(guint, n);
	g_autofree guint *large = g_new(guint, n);
	guint n_small = 0, n_large = 0, i;
	double sum = 0;

	choice->n = n;
	choice->entries = g_new(Alias, n);
	for (i = 0; i < n; i++)
		sum += 1.0 / (i + 1);
	for (i = 0; i < n; i++) {
		p[i] = n / (i + 1.0) / sum;
		choice->entries[i] =
			(Alias){G_MAXUINT32,
				{(guint16)(first + i), (guint16)(first + i)}};
		if (p[i] < 1)
			small[n_small++] = i;
		else
			large[n_large++] = i;
	}
	while (n_small && n_large) {
		guint s = small[--n_small], l = large[n_large - 1];

		choice->entries[s].threshold = (guint32)(p[s] * G_MAXUINT32);
		choice->entries[s].sites[0] = (guint16)(first + l);
		p[l] -= 1 - p[s];
		if (p[l] < 1) {
			n_large--;
			small[n_small++] = l;
		}
	}
}

static inline guint choose(const Choice *choice, guint32 bits)
{
	guint64 product = (guint64)bits * choice->n;
	const Alias *a = &choice->entries[product >> 32];

	return a->sites[(guint32)product <= a->threshold];
}

/* ---- initialisation ---- */

static void site_init(BenchModel *m, guint i, gboolean pages)
{
	static const guint32 gfp[] = {0xcc0, 0xcc0, 0xdc0, 0xa20, 0x400cc0};
	Site *site = &m->sites[i];
	guint64 r = draw(&m->state);
	const Class *class;
	guint below_it;

	site->call_site =
		i * TEXT_STRIDE + 5 + below((guint32)r, TEXT_STRIDE - 6);
	r = draw(&m->state);
	site->free_site =
		(N_SITES + (guint)(r % N_FREE_SITES)) * TEXT_STRIDE + 0x57;
	r = draw(&m->state);
	site->gfp = pages ? 0x1100cca : gfp[r % G_N_ELEMENTS(gfp)];
	/* One site in four has many objects of medium lifetime. */
	site->medium_256 = (r >> 8 & 3) ? 12 : 108;
	site->class = (guint8)(pages ? FIRST_PAGES + (r >> 32) % (N_CLASSES -
								  FIRST_PAGES)
				     : (r >> 32) % FIRST_PAGES);
	class = &classes[site->class];
	site->type = class->type;
	site->size = class->size;
	site->req = class->size - class->lost;
	site->spread = 1;
	if (class->type != KMEMTRACE_TYPE_KMALLOC)
		return;
	/* Request more than fits into the next smaller class. */
	below_it = class->size > 8 ? class->size / 2 : 0;
	if (class->size == 128 || class->size == 192)
		below_it = class->size - 32;
	site->req = below_it + 1 +
		    (guint32)(r >> 16 & 0xffff) % (class->size - below_it);
	if (r >> 10 & 1)
		site->spread = class->size - site->req + 1;
}

static guint bits_for(guint n)
{
	guint bits = 0;

	while (1u << bits < n)
		bits++;
	return bits;
}

static void cpu_init(BenchModel *m, guint cpu)
{
	guint cpu_shift = LINEAR_BITS - bits_for(m->params.cpus);
	guint class_shift = cpu_shift - CLASS_BITS;
	guint64 base = LINEAR_BASE + ((guint64)cpu << cpu_shift);
	guint64 size = G_GUINT64_CONSTANT(1) << class_shift;
	guint i;

	for (i = 0; i < N_CLASSES; i++) {
		Slab *slab = &m->cpus[cpu].slabs[i];

		slab->fresh = base + i * size;
		slab->limit =
			slab->fresh + size / classes[i].size * classes[i].size;
	}
}

BenchModel *bench_model_new(const BenchParams *params)
{
	BenchModel *m = g_new0(BenchModel, 1);
	guint64 live = params->live << 31;
	guint pages, lasting, i, first = 0;

	m->params = *params;
	m->state.random = params->seed;
	m->state.now = G_GINT64_CONSTANT(1000000000);
	m->cross_64k =
		params->cpus > 1 ? params->cross_percent * 65536 / 100 : 0;
	m->pages_64k = params->pages_percent * 65536 / 100;
	if (params->events)
		/* (params->live << 33) / events: ramp reaches params->live
		 * after half of the events. slope is at most one object per
		 * event, so ramp needs more than half of the events if
		 * params->live exceeds half of the number of events.
		 * params->live has at most 33 bits. */
		m->slope = MIN((live / params->events << 2) +
				       (live % params->events << 2) /
					       params->events,
			       G_GUINT64_CONSTANT(1) << 32);
	m->gap = MAX(4000 / params->cpus, 4);
	m->medium_target =
		(guint)CLAMP(params->events / 64 / params->cpus, 4, MAX_MEDIUM);
	for (pages = 0; pages < 2; pages++)
		for (lasting = 0; lasting < 2; lasting++) {
			guint n = n_sites[pages][lasting];

			choice_init(&m->choices[pages][lasting], first, n);
			for (i = first; i < first + n; i++)
				site_init(m, i, pages != 0);
			first += n;
		}
	g_assert(first == N_SITES);
	m->cpus = g_new0(ModelCpu, params->cpus);
	for (i = 0; i < params->cpus; i++)
		cpu_init(m, i);
	return m;
}

void bench_model_free(BenchModel *m)
{
	guint i, j;

	if (!m)
		return;
	for (i = 0; i < m->params.cpus; i++) {
		ModelCpu *cpu = &m->cpus[i];

		for (j = 0; j < N_SPANS; j++)
			g_free(cpu->pools[j].objects);
		for (j = 0; j < N_CLASSES; j++)
			g_free(cpu->slabs[j].freed);
	}
	for (i = 0; i < 2; i++)
		for (j = 0; j < 2; j++)
			g_free(m->choices[i][j].entries);
	g_free(m->cpus);
	g_free(m);
}

/* ---- events ---- */

static inline void pool_push(Pool *pool, ModelObject object)
{
	if (G_UNLIKELY(pool->n == pool->capacity)) {
		pool->capacity = MAX(pool->capacity * 2, 64);
		pool->objects =
			g_renew(ModelObject, pool->objects, pool->capacity);
	}
	pool->objects[pool->n++] = object;
}

static inline ModelObject pool_take(Pool *pool, guint64 i)
{
	ModelObject object = pool->objects[i];

	pool->objects[i] = pool->objects[--pool->n];
	return object;
}

/*
 * Remove an object from a pool: short-lived objects in reverse order, others at
 * random.
 */
static inline ModelObject take(ModelCpu *cpu, guint span, guint32 bits)
{
	Pool *pool = &cpu->pools[span];
	/* The pool has fewer than 2^32 objects, so every object can be drawn.
	 */
	guint64 random = (guint64)bits * pool->n >> 32;

	return pool_take(pool, span == BRIEF ? pool->n - 1 : random);
}

static inline guint64 slab_alloc(BenchModel *m, Slab *slab, guint32 size)
{
	if (G_LIKELY(slab->n))
		return slab->freed[--slab->n];
	if (G_UNLIKELY(slab->fresh == slab->limit))
		m->full = TRUE;
	slab->fresh += size;
	return slab->fresh - size;
}

static inline void slab_free(Slab *slab, guint64 ptr)
{
	if (G_UNLIKELY(slab->n == slab->capacity)) {
		slab->capacity = MAX(slab->capacity * 2, 16);
		slab->freed = g_renew(guint64, slab->freed, slab->capacity);
	}
	slab->freed[slab->n++] = ptr;
}

/*
 * Return the requested bytes. They depend on the address, so that a free can
 * compute them.
 */
static inline guint32 requested(const Site *site, guint64 ptr)
{
	return site->req +
	       below((guint32)(ptr >> 3) * 0x9e3779b1u, site->spread);
}

/* Return the totals of BENCH_SLAB, to which kmalloc and cache are added. For
 * pages, return totals that are never read. */
static BenchTotals *slab_totals(BenchModel *m, guint type)
{
	return &m->totals[type == KMEMTRACE_TYPE_PAGES ? BENCH_N_KINDS
						       : BENCH_SLAB];
}

static void account_alloc(BenchTotals *t, const Site *site, guint32 req)
{
	t->allocs++;
	t->bytes_requested += req;
	t->bytes_allocated += site->size;
	t->live_bytes_requested += req;
	t->live_bytes_allocated += site->size;
	t->peak_bytes_allocated =
		MAX(t->peak_bytes_allocated, t->live_bytes_allocated);
}

static void account_free(BenchTotals *t, const Site *site, ModelObject object,
			 guint cpu)
{
	t->frees++;
	t->cross_cpu_frees += object.cpu != cpu;
	t->live_bytes_requested -= requested(site, object.ptr);
	t->live_bytes_allocated -= site->size;
}

static ALWAYS_INLINE void emit_alloc(BenchModel *m, const State *s,
				     BenchSink *sink, gboolean lasting,
				     guint64 bits, gboolean account)
{
	gboolean pages = (bits & 0xffff) < m->pages_64k;
	guint i = choose(&m->choices[pages][lasting], (guint32)(bits >> 32));
	const Site *site = &m->sites[i];
	ModelCpu *c = &m->cpus[s->cpu];
	guint64 ptr = slab_alloc(m, &c->slabs[site->class], site->size);
	guint32 req = requested(site, ptr);
	guint span = (bits >> 16 & 0xff) < site->medium_256 ? MEDIUM : BRIEF;
	struct kmemtrace_event *e;

	pool_push(&c->pools[lasting ? LASTING : span],
		  (ModelObject){ptr, i, s->cpu});
	if (account) {
		account_alloc(&m->totals[site->type], site, req);
		account_alloc(slab_totals(m, site->type), site, req);
	}
	e = bench_sink_next(sink, s->cpu);
	e->event_id = KMEMTRACE_EVENT_ALLOC;
	e->type_id = site->type;
	e->event_size = KMEMTRACE_EVENT_SIZE_V1;
	e->node = KMEMTRACE_NODE_NONE;
	e->call_site = TEXT_BASE + site->call_site;
	e->ptr = ptr;
	e->bytes_req = req;
	e->bytes_alloc = site->size;
	e->gfp_flags = site->gfp;
	e->timestamp = s->now;
}

static ALWAYS_INLINE void emit_free(BenchModel *m, const State *s,
				    BenchSink *sink, ModelObject object,
				    guint64 bits, gboolean account)
{
	const Site *site = &m->sites[object.site];
	struct kmemtrace_event *e;

	slab_free(&m->cpus[object.cpu].slabs[site->class], object.ptr);
	if (account) {
		account_free(&m->totals[site->type], site, object, s->cpu);
		account_free(slab_totals(m, site->type), site, object, s->cpu);
	}
	e = bench_sink_next(sink, s->cpu);
	e->event_id = KMEMTRACE_EVENT_FREE;
	e->type_id = site->type;
	e->event_size = KMEMTRACE_EVENT_SIZE_V1;
	e->node = KMEMTRACE_NODE_NONE;
	e->call_site = TEXT_BASE + site->free_site +
		       (bits >> 31 & 1) * FREE_SITE_STRIDE;
	e->ptr = object.ptr;
	e->bytes_req = 0;
	e->bytes_alloc = 0;
	e->gfp_flags = 0;
	e->timestamp = s->now;
}

/*
 * Choose the object that the CPU frees next, and remove it from its pool.
 * Return FALSE if the pool is empty.
 */
static ALWAYS_INLINE gboolean pick(BenchModel *m, guint cpu, guint64 bits,
				   ModelObject *object)
{
	ModelCpu *c = &m->cpus[cpu];
	guint span = BRIEF;

	if ((bits & 0xffff) < m->cross_64k) {
		guint other =
			below((guint32)bits * 0x85ebca6bu, m->params.cpus - 1);
		ModelCpu *o = &m->cpus[other + (other >= cpu)];

		span = o->pools[MEDIUM].n ? MEDIUM : BRIEF;
		if (o->pools[span].n) {
			*object = take(o, span, (guint32)(bits >> 32));
			return TRUE;
		}
		span = BRIEF;
	}
	span = c->pools[MEDIUM].n > m->medium_target ? MEDIUM : span;
	if ((bits >> 16 & 0xff) < LASTING_256 && c->pools[LASTING].n)
		span = LASTING;
	if (!c->pools[span].n)
		return FALSE;
	*object = take(c, span, (guint32)(bits >> 32));
	return TRUE;
}

static gboolean has_objects(const ModelCpu *cpu)
{
	guint span;

	for (span = 0; span < N_SPANS; span++)
		if (cpu->pools[span].n)
			return TRUE;
	return FALSE;
}

/* Return the first CPU, starting at this one, that has an object to free. */
static guint find_objects(const BenchModel *m, guint cpu)
{
	while (!has_objects(&m->cpus[cpu]))
		cpu = (cpu + 1) % m->params.cpus;
	return cpu;
}

/* Remove any live object of the CPU. */
static ModelObject pick_any(ModelCpu *cpu, guint64 bits)
{
	guint span = BRIEF;

	while (!cpu->pools[span].n)
		span++;
	return take(cpu, span, (guint32)(bits >> 32));
}

/*
 * Return whether the next event should be a free. Allocations and frees come
 * in bursts.
 */
static inline gboolean wants_free(ModelCpu *cpu, guint bits)
{
	cpu->freeing ^= !(bits & 3);
	cpu->freeing |= cpu->pools[BRIEF].n >= MAX_DEPTH;
	return cpu->freeing;
}

/*
 * Make the next @n of the @left events that remain. If @forced, each event
 * first checks whether all remaining events are needed to reach params.live.
 */
static ALWAYS_INLINE void run_some(BenchModel *m, BenchSink *sink, guint64 left,
				   guint n, gboolean forced, gboolean account)
{
	gint64 target = (gint64)m->params.live;
	gint64 lasting = (gint64)(m->ramp >> 32);
	guint cpus = m->params.cpus;
	State s = m->state;

	for (; n; n--, left--) {
		guint64 bits = draw(&s);
		guint64 more = bits * G_GUINT64_CONSTANT(0x9fb21c651e98df25);
		guint next = below((guint32)(more >> 32), cpus);
		ModelObject object;

		s.now += 1 + below((guint32)more, m->gap);
		s.cpu ^= (s.cpu ^ next) & -(guint)(more & 1);
		if (forced && s.live - target >= (gint64)left) {
			s.cpu = find_objects(m, s.cpu);
			object = pick_any(&m->cpus[s.cpu], bits);
			emit_free(m, &s, sink, object, bits, account);
			s.live--;
		} else if (s.live < lasting ||
			   (forced && target - s.live >= (gint64)left)) {
			emit_alloc(m, &s, sink, TRUE, bits, account);
			s.live++;
		} else if (wants_free(&m->cpus[s.cpu], (guint)more >> 1) &&
			   pick(m, s.cpu, bits, &object)) {
			emit_free(m, &s, sink, object, bits, account);
			s.live--;
		} else {
			emit_alloc(m, &s, sink, FALSE, bits, account);
			s.live++;
		}
	}
	m->state = s;
}

static void run_all(BenchModel *m, BenchSink *sink)
{
	guint64 left = m->params.events, end = m->params.live << 32;
	guint n;

	for (; left && !sink->error && !m->full; left -= n) {
		guint64 surplus =
			(guint64)ABS(m->state.live - (gint64)m->params.live);

		if (sink->pipes && left % BENCH_ROUND == 0)
			bench_sink_flush_all(sink);
		n = left % STEP ? left % STEP : STEP;
		m->ramp = MIN(m->ramp + n * m->slope, end);
		if (m->params.account)
			run_some(m, sink, left, n, TRUE, TRUE);
		else if (surplus + 2 * STEP >= left)
			run_some(m, sink, left, n, TRUE, FALSE);
		else
			run_some(m, sink, left, n, FALSE, FALSE);
	}
}

gboolean bench_model_run(BenchModel *m, BenchSink *sink, GError **error)
{
	guint i;

	run_all(m, sink);
	for (i = 0; i < BENCH_N_KINDS; i++)
		m->totals[i].live_objects =
			m->totals[i].allocs - m->totals[i].frees;
	if (!m->full)
		return TRUE;
	g_set_error(error, BENCH_ERROR, 0,
		    "no address is left for another object: use fewer CPUs, "
		    "or fewer live objects");
	return FALSE;
}

const BenchTotals *bench_model_totals(const BenchModel *m, guint kind)
{
	return &m->totals[kind];
}

void bench_model_kallsyms(const BenchModel *m, FILE *out)
{
	guint i;

	fprintf(out, "%016" G_GINT64_MODIFIER "x T _text\n", TEXT_BASE);
	fprintf(out, "%016" G_GINT64_MODIFIER "x T _stext\n", TEXT_BASE);
	for (i = 0; i < N_SITES + N_FREE_SITES; i++)
		fprintf(out, "%016" G_GINT64_MODIFIER "x T %s_%04u\n",
			TEXT_BASE + (guint64)i * TEXT_STRIDE,
			i < N_SITES ? "allocate" : "release",
			i < N_SITES ? i : i - N_SITES);
	fprintf(out, "%016" G_GINT64_MODIFIER "x T _etext\n",
		TEXT_BASE + (guint64)i * TEXT_STRIDE);
}
