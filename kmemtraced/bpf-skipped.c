// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The runs of programs that the kernel skipped, in the source "bpf", because a
 * program would have interrupted itself, and the events that were lost thereby.
 */
#include "config.h"

#include <unistd.h>

#include <bpf/bpf.h>

#include "kmemtraced/bpf-private.h"

/* Time between two looks at the counters of skipped events. The reader waits
 * for two looks, so that it can report a loss at its place among the records.
 */
#define LOOK_INTERVAL_NS 20000000

static guint32 program_id(const struct bpf_program *program, guint64 *n_skipped)
{
	struct bpf_prog_info info = {0};
	guint32 n_bytes = sizeof(info);

	if (bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &n_bytes))
		return 0;
	*n_skipped = info.recursion_misses;
	return info.id;
}

/* Return whether skipped runs of the program are lost events, unless the second
 * program replaces it. */
static gboolean is_counted(const struct bpf_program *program)
{
	return bpf_program__autoload(program) &&
	       g_str_has_suffix(bpf_program__name(program), "_first");
}

/* Let the iterator of programs run once. */
static gboolean run_iterator(struct bpf_program *iterator)
{
	struct bpf_link *link = bpf_program__attach_iter(iterator, NULL);
	char buffer[64];
	int fd = link ? bpf_iter_create(bpf_link__fd(link)) : -1;
	gboolean done = fd >= 0 && read(fd, buffer, sizeof(buffer)) == 0;

	if (fd >= 0)
		close(fd);
	bpf_link__destroy(link);
	return done;
}

/*
 * Find the kernel's counters of skipped runs. Without them,
 * kmtd_bpf_programs_skipped() uses the sums over all CPUs.
 */
void kmtd_bpf_find_counters(KmtdBpfPrograms *programs)
{
	struct bpf_program *program,
		*iterator = bpf_object__find_program_by_name(programs->object,
							     "find_counters"),
		*counter = bpf_object__find_program_by_name(programs->object,
							    "count_skipped");
	int map = bpf_object__find_map_fd_by_name(programs->object, "counted");
	guint32 key = 0;

	programs->count_skipped_fd = -1;
	if (!iterator || !counter)
		return;
	bpf_object__for_each_program(program, programs->object)
	{
		struct {
			guint32 id, reserved;
			guint64 stats;
		} counted = {0};
		guint64 ignored;

		if (!is_counted(program))
			continue;
		counted.id = program_id(program, &ignored);
		bpf_map_update_elem(map, &key, &counted, BPF_ANY);
		key++;
	}
	if (run_iterator(iterator))
		programs->count_skipped_fd = bpf_program__fd(counter);
}

guint64 kmtd_bpf_programs_skipped(const KmtdBpfPrograms *programs)
{
	struct bpf_program *program;
	guint64 total = 0;

	bpf_object__for_each_program(program, programs->object)
	{
		guint64 n = 0;

		if (is_counted(program) && program_id(program, &n))
			total += n;
	}
	return total;
}

gboolean kmtd_bpf_programs_skipped_on(const KmtdBpfPrograms *programs,
				      guint cpu, gboolean is_first_cpu,
				      guint64 *n)
{
	guint64 args = 0;
	LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = &args,
		    .ctx_size_in = sizeof(args), .flags = BPF_F_TEST_RUN_ON_CPU,
		    .cpu = cpu);

	if (programs->count_skipped_fd < 0) {
		*n = is_first_cpu ? kmtd_bpf_programs_skipped(programs) : 0;
		return TRUE;
	}
	if (bpf_prog_test_run_opts(programs->count_skipped_fd, &options))
		return FALSE;
	*n = options.retval;
	return TRUE;
}

/* ---- lost events of a stream ---- */

static guint64 count_replaced_on(const KmtdBpf *bpf, guint cpu)
{
	return __atomic_load_n(&bpf->programs.controls[cpu].n_replaced,
			       __ATOMIC_RELAXED);
}

static guint64 count_all_replaced(const KmtdBpf *bpf)
{
	guint64 n = 0;

	for (guint cpu = 0; cpu < bpf->programs.n_possible; cpu++)
		n += count_replaced_on(bpf, cpu);
	return n;
}

/*
 * Return the balance of a stream, with that before the start. While the CPU is
 * offline, its skipped runs are not known, and the balance stays.
 */
static gint64 count_balance(const KmtdBpfStream *stream)
{
	const KmtdBpf *bpf = stream->bpf;
	gboolean by_cpu = bpf->programs.count_skipped_fd >= 0;
	guint64 n_skipped, n_replaced;

	if (!kmtd_bpf_programs_skipped_on(&bpf->programs, stream->cpu,
					  stream->is_first, &n_skipped))
		return atomic_load(&stream->balance) + stream->balance_before;
	n_replaced = by_cpu		? count_replaced_on(bpf, stream->cpu)
		     : stream->is_first ? count_all_replaced(bpf)
					: 0;
	return (gint64)(n_skipped - n_replaced);
}

void kmtd_bpf_stream_begin(KmtdBpfStream *stream)
{
	stream->balance_before = count_balance(stream);
}

static void update_balance(KmtdBpfStream *stream)
{
	atomic_store(&stream->balance,
		     count_balance(stream) - stream->balance_before);
}

void kmtd_bpf_streams_begin(KmtdBpf *bpf)
{
	bpf->n_skipped_before = kmtd_bpf_programs_skipped(&bpf->programs);
	for (guint i = 0; i < bpf->streams->len; i++)
		kmtd_bpf_stream_begin(bpf->streams->pdata[i]);
}

void kmtd_bpf_streams_end(KmtdBpf *bpf)
{
	guint64 n_unbuffered = 0;
	gint64 rest = (gint64)(kmtd_bpf_programs_skipped(&bpf->programs) -
			       bpf->n_skipped_before - count_all_replaced(bpf));

	for (guint i = 0; i < bpf->streams->len; i++) {
		KmtdBpfStream *stream = bpf->streams->pdata[i];

		update_balance(stream);
		rest -= atomic_load(&stream->balance);
	}
	for (guint cpu = 0; cpu < bpf->programs.n_possible; cpu++)
		n_unbuffered +=
			kmtd_bpf_programs_take_unbuffered(&bpf->programs, cpu);
	atomic_store(&bpf->rest, rest);
	atomic_store(&bpf->n_unbuffered, n_unbuffered);
	atomic_store(&bpf->is_over, TRUE);
}

/*
 * The stream is about to report @n skipped events. Return how many of them a
 * second program has recorded on another CPU, to which the task was moved.
 */
static guint64 take_replaced(KmtdBpfStream *stream, guint64 n)
{
	KmtdBpf *bpf = stream->bpf;
	guint64 taken = 0;

	g_mutex_lock(&bpf->balance_lock);
	for (guint cpu = 0; cpu < bpf->programs.n_possible && taken < n;
	     cpu++) {
		KmtdBpfStream *other = atomic_load(&bpf->by_cpu[cpu]);
		gint64 spare = other ? -atomic_load(&other->balance) -
					       atomic_load(&other->given)
				     : 0;

		if (spare <= 0)
			continue;
		spare = MIN(spare, (gint64)(n - taken));
		atomic_fetch_add(&other->given, spare);
		taken += (guint64)spare;
	}
	g_mutex_unlock(&bpf->balance_lock);
	return taken;
}

void kmtd_bpf_stream_look(KmtdBpfStream *stream, gint64 time, gboolean all)
{
	KmtdBpf *bpf = stream->bpf;
	gboolean is_over = atomic_load(&bpf->is_over);
	gint64 balance;
	guint64 n, n_lost, n_taken, n_unbuffered = 0;

	if (!all && time - stream->looked_ns[0] < LOOK_INTERVAL_NS)
		return;
	if (!is_over)
		update_balance(stream);
	balance = atomic_load(&stream->balance) + atomic_load(&stream->given);
	if (stream->is_first && is_over) {
		balance += atomic_load(&bpf->rest);
		n_unbuffered = atomic_exchange(&bpf->n_unbuffered, 0);
	}
	n = (guint64)MAX(balance, 0);
	n_lost = all ? n : MIN(n, stream->n_skipped_last);
	stream->n_skipped_last = n;
	n_lost -= MIN(n_lost, stream->n_skipped_settled);
	n_taken = n_lost ? take_replaced(stream, n_lost) : 0;
	stream->n_skipped_settled += n_lost;
	n_lost -= n_taken;
	if (n_lost + n_unbuffered && stream->n_to_report == 0)
		stream->lost_ns = stream->looked_ns[1];
	stream->n_to_report += n_lost + n_unbuffered;
	stream->n_skipped_reported += n_lost;
	stream->looked_ns[1] = all ? G_MAXINT64 : stream->looked_ns[0];
	stream->looked_ns[0] = time;
}
