// SPDX-License-Identifier: GPL-2.0-or-later
/* Attaches the programs of the source "bpf", and makes their buffers. */
#include "config.h"

#include <errno.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "kmemtraced/bpf-private.h"
#include "lib/capture/error.h"

/* Return whether the program is attached to a function. */
static gboolean is_hook(const struct bpf_program *program)
{
	enum bpf_attach_type type = bpf_program__expected_attach_type(program);

	return type == BPF_TRACE_FENTRY || type == BPF_TRACE_FEXIT;
}

void kmtd_bpf_programs_add_link(KmtdBpfPrograms *programs, const char *name,
				struct bpf_link *link)
{
	g_hash_table_insert(programs->links, g_strdup(name), link);
	g_hash_table_add(programs->attached, g_strdup(name));
}

/*
 * Attach a program. Return FALSE and set an error on failure; a hook that
 * cannot be attached is left out.
 */
static gboolean attach(KmtdBpfPrograms *programs, struct bpf_program *program,
		       GError **error)
{
	struct bpf_link *link;

	if (!bpf_program__autoload(program) ||
	    !bpf_program__autoattach(program))
		return TRUE;
	link = bpf_program__attach(program);
	if (link) {
		kmtd_bpf_programs_add_link(programs, bpf_program__name(program),
					   link);
		return TRUE;
	}
	if (is_hook(program))
		return TRUE;
	kmtd_bpf_set_error(error, errno, "attach a BPF program");
	return FALSE;
}

/*
 * The first program of an event must run before the second one. The kernel runs
 * the programs of a tracepoint in the order in which they were attached, and
 * those of a function in the reverse order.
 */
gboolean kmtd_bpf_programs_attach(KmtdBpfPrograms *programs, GError **error)
{
	struct bpf_program *program = NULL;

	bpf_object__for_each_program(
		program, programs->object) if (!is_hook(program) &&
					       !attach(programs, program,
						       error)) return FALSE;
	while ((program = bpf_object__prev_program(programs->object, program)))
		if (is_hook(program) && !attach(programs, program, error))
			return FALSE;
	return TRUE;
}

void kmtd_bpf_programs_record(KmtdBpfPrograms *programs,
			      enum kmtd_bpf_recording recording)
{
	__atomic_store_n(&programs->state->recording, (guint32)recording,
			 __ATOMIC_SEQ_CST);
}

gboolean kmtd_bpf_programs_describe(KmtdBpfPrograms *programs, guint32 *tgid,
				    GError **error)
{
	const struct bpf_program *program = bpf_object__find_program_by_name(
		programs->object, "describe_machine");
	guint64 arguments = 0;
	LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = &arguments,
		    .ctx_size_in = sizeof(arguments));

	if (bpf_prog_test_run_opts(bpf_program__fd(program), &options)) {
		kmtd_bpf_set_error(error, errno, "run a BPF program");
		return FALSE;
	}
	*tgid = options.retval;
	return TRUE;
}

void kmtd_bpf_programs_detach(KmtdBpfPrograms *programs)
{
	g_hash_table_remove_all(programs->links);
}

void kmtd_bpf_programs_wait(const KmtdBpfPrograms *programs, guint cpu, int fd)
{
	guint32 key = cpu;

	/* The kernel waits after it has replaced a map in a map, because a
	 * program may still use the old one. */
	bpf_map_update_elem(bpf_map__fd(programs->buffers), &key, &fd, BPF_ANY);
}

guint64 kmtd_bpf_programs_take_unbuffered(const KmtdBpfPrograms *programs,
					  guint cpu)
{
	int map =
		bpf_object__find_map_fd_by_name(programs->object, "unbuffered");
	guint32 key = cpu;
	guint64 n = 0, zero = 0;

	bpf_map_lookup_elem(map, &key, &n);
	bpf_map_update_elem(map, &key, &zero, BPF_ANY);
	return n;
}

void kmtd_bpf_programs_close_inherited(KmtdBpfPrograms *programs)
{
	struct bpf_program *program;
	struct bpf_map *map;
	GHashTableIter links;
	gpointer link;

	if (!programs->object)
		return;
	g_hash_table_iter_init(&links, programs->links);
	while (g_hash_table_iter_next(&links, NULL, &link))
		close(bpf_link__fd(link));
	bpf_object__for_each_program(
		program, programs->object) if (bpf_program__fd(program) >= 0)
		close(bpf_program__fd(program));
	bpf_object__for_each_map(map,
				 programs->object) if (bpf_map__fd(map) >= 0)
		close(bpf_map__fd(map));
}

int kmtd_bpf_programs_add_buffer(KmtdBpfPrograms *programs, guint cpu,
				 GError **error)
{
	int fd = kmtd_bpf_create_buffer(programs->n_slots);
	guint32 key = cpu;

	if (fd >= 0 && bpf_map_update_elem(bpf_map__fd(programs->buffers), &key,
					   &fd, BPF_ANY) == 0)
		return fd;
	kmt_capture_set_errno(error, KMT_DAEMON_ERROR_RESOURCES, errno,
			      "cannot create the buffer of CPU %u", cpu);
	if (fd >= 0)
		close(fd);
	return -1;
}
