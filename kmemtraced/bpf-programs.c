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
		g_ptr_array_add(programs->links, link);
		g_hash_table_add(programs->attached,
				 g_strdup(bpf_program__name(program)));
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

void kmtd_bpf_programs_record(KmtdBpfPrograms *programs, gboolean on)
{
	__atomic_store_n(programs->recording, on != 0, __ATOMIC_SEQ_CST);
}

void kmtd_bpf_programs_detach(KmtdBpfPrograms *programs)
{
	g_ptr_array_set_size(programs->links, 0);
}

void kmtd_bpf_programs_wait(const KmtdBpfPrograms *programs, guint cpu, int fd)
{
	guint32 key = cpu;

	/* The kernel waits after it has replaced a map in a map, because a
	 * program may still use the old one. */
	bpf_map_update_elem(bpf_map__fd(programs->buffers), &key, &fd, BPF_ANY);
}

guint64 kmtd_bpf_programs_unbuffered(const KmtdBpfPrograms *programs, guint cpu)
{
	guint32 key = cpu;
	guint64 n = 0;

	bpf_map_lookup_elem(
		bpf_object__find_map_fd_by_name(programs->object, "unbuffered"),
		&key, &n);
	return n;
}

void kmtd_bpf_programs_close_inherited(KmtdBpfPrograms *programs)
{
	struct bpf_program *program;
	struct bpf_map *map;

	if (!programs->object)
		return;
	for (guint i = 0; i < programs->links->len; i++)
		close(bpf_link__fd(programs->links->pdata[i]));
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
