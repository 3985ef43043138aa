// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The runs of programs that the kernel skipped, in the source "bpf", because a
 * program would have interrupted itself.
 */
#include "config.h"

#include <unistd.h>

#include <bpf/bpf.h>

#include "kmemtraced/bpf-private.h"

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

guint64 kmtd_bpf_programs_skipped_on(const KmtdBpfPrograms *programs, guint cpu,
				     gboolean is_first_cpu)
{
	guint64 args = 0;
	LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = &args,
		    .ctx_size_in = sizeof(args), .flags = BPF_F_TEST_RUN_ON_CPU,
		    .cpu = cpu);

	if (programs->count_skipped_fd >= 0)
		return bpf_prog_test_run_opts(programs->count_skipped_fd,
					      &options)
			       ? 0
			       : options.retval;
	return is_first_cpu ? kmtd_bpf_programs_skipped(programs) : 0;
}
