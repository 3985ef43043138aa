// SPDX-License-Identifier: GPL-2.0-or-later
/* Maps of the source "bpf", and the errors of its system calls. */
#include "config.h"

#include <errno.h>

#include <bpf/bpf.h>

#include "kmemtraced/bpf-private.h"
#include "lib/capture/error.h"

void kmtd_bpf_set_error(GError **error, int code, const char *what)
{
	if (code == EPERM || code == EACCES)
		g_set_error(error, KMT_DAEMON_ERROR,
			    KMT_DAEMON_ERROR_PERMISSION,
			    "the kernel does not permit to %s", what);
	else
		kmt_capture_set_errno(error,
				      code == ENOMEM
					      ? KMT_DAEMON_ERROR_RESOURCES
					      : KMT_DAEMON_ERROR_BPF,
				      code, "cannot %s", what);
}

struct bpf_map *kmtd_bpf_find_map(struct bpf_object *object, const char *suffix)
{
	struct bpf_map *map;

	bpf_object__for_each_map(
		map, object) if (g_str_has_suffix(bpf_map__name(map),
						  suffix)) return map;
	return NULL;
}

int kmtd_bpf_create_buffer(guint32 n_slots)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);

	return bpf_map_create(BPF_MAP_TYPE_ARRAY, "kmemtrace_cpu",
			      sizeof(guint32), sizeof(struct kmtd_bpf_record),
			      n_slots, &options);
}
