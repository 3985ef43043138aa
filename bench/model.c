// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>

#include "bench/model.h"

/* ---- what there is to allocate ---- */

typedef struct {
	guint8 type;
	guint32 size; /* bytes given */
	guint32 lost; /* of a cache: bytes of each object that nobody asked for
		       */
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

/* Often used ones are there more than once for the share they have. */
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

/* Addresses: those of a CPU, of which each class has its part. */
#define LINEAR_BASE  G_GUINT64_CONSTANT(0xffff888000000000)
#define LINEAR_BITS  46
#define CLASS_BITS   6
#define CPU_BITS     12
#define INDEX_BITS   32
#define SITE_BITS    11
#define N_FREE_SITES 512
G_STATIC_ASSERT(N_CLASSES <= 1 << CLASS_BITS);
G_STATIC_ASSERT(BENCH_MAX_CPUS <= 1 << CPU_BITS);

#define TEXT_BASE   G_GUINT64_CONSTANT(0xffffffff81000000)
#define TEXT_STRIDE 0x1230

/* How long what a site allocates lives. */
enum { BRIEF, LONG, N_SPANS };

/* [pages or not][span] */
static const guint n_sites[2][N_SPANS] = {{1500, 300}, {150, 50}};
#define N_SITES 2000
G_STATIC_ASSERT(N_SITES <= 1 << SITE_BITS);

typedef struct {
	guint64 address;
	guint64 free_sites[2];
	guint64 gfp;
	guint32 req;	    /* bytes asked for at least */
	guint32 spread;	    /* and up to so many more, but 1 */
	guint16 medium_256; /* how many of 256 are no short ones */
	guint8 class;
} Site;

/* Walker's alias method: a site with its probability in constant time. */
typedef struct {
	guint32 threshold;
	guint16 site;
	guint16 alias;
} Alias;

typedef struct {
	Alias *entries;
	guint n;
} Choice;

/* ---- what is allocated ---- */

/* site, CPU, and index among the addresses of the class: 55 bits. */
typedef guint64 Object;

static inline Object object_pack(guint site, guint cpu, guint32 index)
{
	return ((guint64)site << CPU_BITS | cpu) << INDEX_BITS | index;
}

static inline guint object_site(Object o)
{
	return (guint)(o >> (INDEX_BITS + CPU_BITS));
}

static inline guint object_cpu(Object o)
{
	return (guint)(o >> INDEX_BITS) & ((1 << CPU_BITS) - 1);
}

typedef struct {
	Object *objects;
	guint64 n, capacity;
} Pool;

typedef struct {
	guint32 *freed; /* indexes, the last freed last */
	guint32 n, capacity;
	guint32 fresh; /* the first that was never used */
	guint32 limit;
} Slab;

typedef struct {
	Pool brief, medium, lasting;
	Slab slabs[N_CLASSES];
} Cpu;

/* The brief objects of a CPU, at most. */
#define MAX_DEPTH 32
/* So many of 256 frees take one that would have lasted. */
#define LASTING_256 4
#define MAX_MEDIUM  2048

struct BenchModel {
	BenchParams params;
	guint64 random;
	gint64 now; /* ns */
	Site sites[N_SITES];
	Choice choices[2][N_SPANS];
	Cpu *cpus;
	BenchTotals totals[BENCH_N_KINDS];
	guint64 live;
	guint medium_target; /* of each CPU */
	guint cpu_shift;     /* of an address */
	guint class_shift;
	guint32 cross_64k; /* of 65536 */
	guint32 pages_64k;
	guint32 gap; /* ns between two events: 1 to this */
	gboolean full;
};

/* ---- chance ---- */

/* splitmix64 */
static inline guint64 draw(BenchModel *m)
{
	guint64 z = m->random += G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * G_GUINT64_CONSTANT(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * G_GUINT64_CONSTANT(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* 0 to n - 1, from 32 random bits. */
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
		choice->entries[i] = (Alias){G_MAXUINT32, (guint16)(first + i),
					     (guint16)(first + i)};
		if (p[i] < 1)
			small[n_small++] = i;
		else
			large[n_large++] = i;
	}
	while (n_small && n_large) {
		guint s = small[--n_small], l = large[n_large - 1];

		choice->entries[s].threshold = (guint32)(p[s] * G_MAXUINT32);
		choice->entries[s].alias = (guint16)(first + l);
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

	return (guint32)product <= a->threshold ? a->site : a->alias;
}

/* ---- setting up ---- */

static void site_init(BenchModel *m, guint i, gboolean pages)
{
	static const guint64 gfp[] = {0xcc0, 0xcc0, 0xdc0, 0xa20, 0x400cc0};
	Site *site = &m->sites[i];
	guint64 r = draw(m);
	const Class *class;
	guint below_it;

	site->address = TEXT_BASE + (guint64)i * TEXT_STRIDE + 5 +
			below((guint32)r, TEXT_STRIDE - 6);
	r = draw(m);
	site->free_sites[0] =
		TEXT_BASE +
		(N_SITES + (guint64)(r % N_FREE_SITES)) * TEXT_STRIDE + 0x57;
	site->free_sites[1] = site->free_sites[0] + 0x2c;
	r = draw(m);
	site->gfp = pages ? 0x1100cca : gfp[r % G_N_ELEMENTS(gfp)];
	/* One in four has many that live longer. */
	site->medium_256 = (r >> 8 & 3) ? 12 : 108;
	site->class = (guint8)(pages ? FIRST_PAGES + (r >> 32) % (N_CLASSES -
								  FIRST_PAGES)
				     : (r >> 32) % FIRST_PAGES);
	class = &classes[site->class];
	site->req = class->size - class->lost;
	site->spread = 1;
	if (class->type != KMEMTRACE_TYPE_KMALLOC)
		return;
	/* As much as does not fit into the next smaller one, at least. */
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

static void cpu_init(BenchModel *m, Cpu *cpu)
{
	guint i;

	for (i = 0; i < N_CLASSES; i++)
		cpu->slabs[i].limit =
			(guint32)MIN((G_GUINT64_CONSTANT(1) << m->class_shift) /
					     classes[i].size,
				     G_MAXUINT32);
}

BenchModel *bench_model_new(const BenchParams *params)
{
	BenchModel *m = g_new0(BenchModel, 1);
	guint pages, span, i, first = 0;

	m->params = *params;
	m->random = params->seed;
	m->now = G_GINT64_CONSTANT(1000000000);
	m->cpu_shift = LINEAR_BITS - bits_for(params->cpus);
	m->class_shift = m->cpu_shift - CLASS_BITS;
	m->cross_64k =
		params->cpus > 1 ? params->cross_percent * 65536 / 100 : 0;
	m->pages_64k = params->pages_percent * 65536 / 100;
	m->gap = MAX(4000 / params->cpus, 4);
	m->medium_target =
		(guint)CLAMP(params->events / 64 / params->cpus, 4, MAX_MEDIUM);
	for (pages = 0; pages < 2; pages++)
		for (span = 0; span < N_SPANS; span++) {
			guint n = n_sites[pages][span];

			choice_init(&m->choices[pages][span], first, n);
			for (i = first; i < first + n; i++)
				site_init(m, i, pages != 0);
			first += n;
		}
	g_assert(first == N_SITES);
	m->cpus = g_new0(Cpu, params->cpus);
	for (i = 0; i < params->cpus; i++)
		cpu_init(m, &m->cpus[i]);
	return m;
}

void bench_model_free(BenchModel *m)
{
	guint i, j;

	if (!m)
		return;
	for (i = 0; i < m->params.cpus; i++) {
		Cpu *cpu = &m->cpus[i];

		g_free(cpu->brief.objects);
		g_free(cpu->medium.objects);
		g_free(cpu->lasting.objects);
		for (j = 0; j < N_CLASSES; j++)
			g_free(cpu->slabs[j].freed);
	}
	for (i = 0; i < 2; i++)
		for (j = 0; j < N_SPANS; j++)
			g_free(m->choices[i][j].entries);
	g_free(m->cpus);
	g_free(m);
}

/* ---- events ---- */

static inline void pool_push(Pool *pool, Object object)
{
	if (G_UNLIKELY(pool->n == pool->capacity)) {
		pool->capacity = MAX(pool->capacity * 2, 64);
		pool->objects = g_renew(Object, pool->objects, pool->capacity);
	}
	pool->objects[pool->n++] = object;
}

/* Takes one out at random. */
static inline Object pool_take(Pool *pool, guint32 bits)
{
	/* More than 2^32 objects would not all be reached, and none has. */
	guint64 i = (guint64)bits * pool->n >> 32;
	Object object = pool->objects[i];

	pool->objects[i] = pool->objects[--pool->n];
	return object;
}

static inline guint32 slab_alloc(BenchModel *m, Slab *slab)
{
	if (slab->n)
		return slab->freed[--slab->n];
	if (G_UNLIKELY(slab->fresh == slab->limit)) {
		m->full = TRUE;
		return 0;
	}
	return slab->fresh++;
}

static inline void slab_free(Slab *slab, guint32 index)
{
	if (G_UNLIKELY(slab->n == slab->capacity)) {
		slab->capacity = MAX(slab->capacity * 2, 16);
		slab->freed = g_renew(guint32, slab->freed, slab->capacity);
	}
	slab->freed[slab->n++] = index;
}

static inline guint64 address_of(const BenchModel *m, guint cpu, guint class,
				 guint32 index)
{
	return LINEAR_BASE + ((guint64)cpu << m->cpu_shift) +
	       ((guint64) class << m->class_shift) +
	       (guint64)index * classes[class].size;
}

/* It depends on the object, so that the free knows it too. */
static inline guint32 requested(const Site *site, guint32 index)
{
	return site->req + below(index * 0x9e3779b1u, site->spread);
}

static inline void account_alloc(BenchTotals *t, guint32 req, guint32 size)
{
	t->allocs++;
	t->bytes_requested += req;
	t->bytes_allocated += size;
	t->live_bytes_requested += req;
	t->live_bytes_allocated += size;
	t->peak_bytes_allocated =
		MAX(t->peak_bytes_allocated, t->live_bytes_allocated);
}

static inline void account_free(BenchTotals *t, guint32 req, guint32 size,
				gboolean cross)
{
	t->frees++;
	t->cross_cpu_frees += cross;
	t->live_bytes_requested -= req;
	t->live_bytes_allocated -= size;
}

static void emit_alloc(BenchModel *m, BenchSink *sink, guint cpu, guint span,
		       guint64 bits)
{
	gboolean pages = (bits & 0xffff) < m->pages_64k;
	guint i = choose(&m->choices[pages][span], (guint32)(bits >> 32));
	const Site *site = &m->sites[i];
	const Class *class = &classes[site->class];
	Cpu *c = &m->cpus[cpu];
	guint32 index = slab_alloc(m, &c->slabs[site->class]);
	guint32 req = requested(site, index);
	Object object = object_pack(i, cpu, index);

	if (span == LONG)
		pool_push(&c->lasting, object);
	else if ((bits >> 16 & 0xff) < site->medium_256)
		pool_push(&c->medium, object);
	else
		pool_push(&c->brief, object);
	m->live++;
	account_alloc(&m->totals[class->type], req, class->size);
	if (!pages)
		account_alloc(&m->totals[BENCH_SLAB], req, class->size);
	*bench_sink_next(sink, cpu) = (struct kmemtrace_event){
		.event_id = KMEMTRACE_EVENT_ALLOC,
		.type_id = class->type,
		.event_size = KMEMTRACE_EVENT_SIZE_V1,
		.node = KMEMTRACE_NODE_NONE,
		.call_site = site->address,
		.ptr = address_of(m, cpu, site->class, index),
		.bytes_req = req,
		.bytes_alloc = class->size,
		.gfp_flags = site->gfp,
		.timestamp = m->now,
	};
}

static void emit_free(BenchModel *m, BenchSink *sink, guint cpu, Object object,
		      guint64 bits)
{
	const Site *site = &m->sites[object_site(object)];
	const Class *class = &classes[site->class];
	guint home = object_cpu(object);
	guint32 index = (guint32)object;
	guint32 req = requested(site, index);

	slab_free(&m->cpus[home].slabs[site->class], index);
	m->live--;
	account_free(&m->totals[class->type], req, class->size, home != cpu);
	if (class->type != KMEMTRACE_TYPE_PAGES)
		account_free(&m->totals[BENCH_SLAB], req, class->size,
			     home != cpu);
	*bench_sink_next(sink, cpu) = (struct kmemtrace_event){
		.event_id = KMEMTRACE_EVENT_FREE,
		.type_id = class->type,
		.event_size = KMEMTRACE_EVENT_SIZE_V1,
		.node = KMEMTRACE_NODE_NONE,
		.call_site = site->free_sites[bits >> 31 & 1],
		.ptr = address_of(m, home, site->class, index),
		.timestamp = m->now,
	};
}

/* The object that this CPU frees next.  FALSE: there is none. */
static gboolean pick(BenchModel *m, guint cpu, guint64 bits, Object *object)
{
	Cpu *c = &m->cpus[cpu];
	guint32 high = (guint32)(bits >> 32);

	if ((bits & 0xffff) < m->cross_64k) {
		/* Of the CPU that the same random bits make. */
		guint other =
			below((guint32)bits * 0x85ebca6bu, m->params.cpus - 1);
		Cpu *o = &m->cpus[other + (other >= cpu)];

		if (o->medium.n || o->brief.n) {
			*object = o->medium.n ? pool_take(&o->medium, high)
					      : o->brief.objects[--o->brief.n];
			return TRUE;
		}
	}
	if ((bits >> 16 & 0xff) < LASTING_256 && c->lasting.n)
		*object = pool_take(&c->lasting, high);
	else if (c->medium.n > m->medium_target)
		*object = pool_take(&c->medium, high);
	else if (c->brief.n)
		*object = c->brief.objects[--c->brief.n];
	else if (c->medium.n)
		*object = pool_take(&c->medium, high);
	else if (c->lasting.n)
		*object = pool_take(&c->lasting, high);
	else
		return FALSE;
	return TRUE;
}

static gboolean has_objects(const Cpu *cpu)
{
	return cpu->brief.n || cpu->medium.n || cpu->lasting.n;
}

/* The next CPU that has something to free. */
static guint find_objects(const BenchModel *m, guint cpu)
{
	while (!has_objects(&m->cpus[cpu]))
		cpu = (cpu + 1) % m->params.cpus;
	return cpu;
}

gboolean bench_model_run(BenchModel *m, BenchSink *sink, GError **error)
{
	guint64 left = m->params.events, target = m->params.live;
	/* What should be live now, 32 bits behind the point. */
	unsigned __int128 ramp = 0, end = (unsigned __int128)target << 32;
	guint64 slope =
		left ? (guint64)MIN(end * 2 / left, G_GUINT64_CONSTANT(1) << 32)
		     : 0;
	guint cpu = 0, run = 0;

	for (; left && !sink->error && !m->full; left--) {
		guint64 bits = draw(m), more = draw(m);
		Object object;

		m->now += 1 + below((guint32)more, m->gap);
		if (!run--) {
			cpu = below((guint32)(more >> 32), m->params.cpus);
			run = (guint)(more & 3) % 3;
		}
		if (ramp < end)
			ramp = MIN(ramp + slope, end);
		if (m->live >= target && m->live - target >= left) {
			cpu = find_objects(m, cpu);
			pick(m, cpu, bits, &object);
			emit_free(m, sink, cpu, object, bits);
			run = 0;
			continue;
		}
		if (m->live < (guint64)(ramp >> 32) ||
		    (target >= m->live && target - m->live >= left)) {
			emit_alloc(m, sink, cpu, LONG, bits);
			continue;
		}
		if ((m->cpus[cpu].brief.n >= MAX_DEPTH || more >> 63) &&
		    pick(m, cpu, bits, &object))
			emit_free(m, sink, cpu, object, bits);
		else
			emit_alloc(m, sink, cpu, BRIEF, bits);
	}
	m->totals[BENCH_KMALLOC].live_objects = 0;
	for (cpu = 0; cpu < BENCH_N_KINDS; cpu++)
		m->totals[cpu].live_objects =
			m->totals[cpu].allocs - m->totals[cpu].frees;
	if (!m->full)
		return TRUE;
	g_set_error(error, BENCH_ERROR, 0,
		    "no address is left for an object on CPU %u: take fewer "
		    "CPUs, or less live objects",
		    cpu);
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
