// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "kmemtraced/error-advice.h"
#include "lib/capture/error.h"

/* Advice for the user, by error code. */
static const char *const advice[KMT_DAEMON_N_ERRORS] = {
	[KMT_DAEMON_ERROR_NO_DEBUGFS] =
		"mount it with 'mount -t debugfs none /sys/kernel/debug', or "
		"specify its mount point with -r",
	[KMT_DAEMON_ERROR_NO_KMEMTRACE] =
		"boot a kernel with the kmemtrace patches that was built with "
		"CONFIG_KMEMTRACE=y, or record with -s bpf or -s ftrace",
	[KMT_DAEMON_ERROR_PERMISSION] =
		"run kmemtraced as root; the source bpf needs the capabilities "
		"CAP_BPF and CAP_PERFMON only",
	[KMT_DAEMON_ERROR_LOCKDOWN] =
		"the kernel may be locked down: see "
		"/sys/kernel/security/lockdown, and boot without lockdown or "
		"Secure Boot",
	[KMT_DAEMON_ERROR_ABI] =
		"use the kmemtraced that belongs to this kernel's patches",
	[KMT_DAEMON_ERROR_CONTROL] =
		"kmemtraced does not support the files of this kernel's "
		"kmemtrace: use the kmemtraced that belongs to this kernel's "
		"patches",
	[KMT_DAEMON_ERROR_BUSY] = "end that one first",
	[KMT_DAEMON_ERROR_ENABLE] =
		"see the kernel's messages with 'dmesg | grep kmemtrace'; if "
		"memory is short, boot with a smaller kmemtrace.subbufs",
	[KMT_DAEMON_ERROR_DISABLE] =
		"the kernel may still be tracing: switch it off with "
		"'echo 0 > /sys/kernel/debug/kmemtrace/enabled'",
	[KMT_DAEMON_ERROR_EXISTS] =
		"choose another directory with -D, or replace that capture "
		"with -f",
	[KMT_DAEMON_ERROR_DIRECTORY] =
		"choose a directory with -D that can be written and whose "
		"parent exists",
	[KMT_DAEMON_ERROR_UNSAFE] =
		"choose a directory of your own with -D, or the name of a new "
		"one in a directory of your own",
	[KMT_DAEMON_ERROR_FOREIGN] =
		"choose another directory with -D, or move that file away",
	[KMT_DAEMON_ERROR_DIRECTORY_BUSY] =
		"end that one first, or choose another directory with -D",
	[KMT_DAEMON_ERROR_DISK_FULL] =
		"make room there, or choose a directory on another file "
		"system with -D",
	[KMT_DAEMON_ERROR_WRITE] =
		"choose a directory on another file system with -D",
	[KMT_DAEMON_ERROR_READ] = "see the kernel's messages with 'dmesg'",
	[KMT_DAEMON_ERROR_CPU_GONE] =
		"record again without unloading kmemtrace",
	[KMT_DAEMON_ERROR_ABANDONED] = "record again for a complete capture",
	[KMT_DAEMON_ERROR_INTERRUPTED] = "nothing was recorded",
	[KMT_DAEMON_ERROR_RESOURCES] =
		"free some memory, use smaller buffers (-b), or raise the "
		"limits of 'ulimit'",
	[KMT_DAEMON_ERROR_SOURCE] =
		"sources are 'relay' (a kernel with kmemtrace), 'bpf' "
		"(programs "
		"in any kernel with BTF), and 'ftrace' (any kernel's "
		"tracepoints); see kmemtraced(8)",
	[KMT_DAEMON_ERROR_NO_TRACEFS] =
		"mount it with 'mount -t tracefs none /sys/kernel/tracing' "
		"(the kernel needs CONFIG_EVENT_TRACING), or specify its mount "
		"point with -t",
	[KMT_DAEMON_ERROR_TRACEFS] =
		"kmemtraced does not support the files of this kernel's "
		"tracefs: see the kernel's messages with 'dmesg'",
	[KMT_DAEMON_ERROR_LEFT] =
		"end the processes that use its files ('fuser -v' lists them), "
		"and remove it with rmdir",
	[KMT_DAEMON_ERROR_NO_TRACEPOINT] =
		"the kernel needs CONFIG_EVENT_TRACING; a kernel with "
		"kmemtrace needs no tracepoints",
	[KMT_DAEMON_ERROR_FIELD] =
		"this kernel's tracepoints have changed beyond what kmemtraced "
		"can follow: use a newer kmemtraced, or a kernel with "
		"kmemtrace",
	[KMT_DAEMON_ERROR_NO_LIBRARY] =
		"install libtraceevent-dev (libtraceevent-devel), configure "
		"and make again",
	[KMT_DAEMON_ERROR_BPF] =
		"record the tracepoints of this kernel with -s ftrace",
	[KMT_DAEMON_ERROR_PROCESS] = "specify the numbers of running processes",
	[KMT_DAEMON_ERROR_REFUSED] = "see the reason with 'dmesg', and the "
				     "syntax of filters in kmemtraced(8)",
	[KMT_DAEMON_ERROR_FILTER] = "the syntax of filters is in kmemtraced(8)",
	[KMT_DAEMON_ERROR_CGROUPS] =
		"list the cgroups with 'systemd-cgls', and name the path of a "
		"cgroup above those that matter",
	[KMT_DAEMON_ERROR_NO_CGROUPS] =
		"mount it with 'mount -t cgroup2 none /sys/fs/cgroup', or "
		"select the tasks with -p",
	[KMT_DAEMON_ERROR_RESET] =
		"record again, and leave 'enabled' and 'reset' in debugfs "
		"alone meanwhile",
	[KMT_DAEMON_ERROR_INTERFERED] =
		"record again, and leave that directory alone meanwhile",
	[KMT_DAEMON_ERROR_FROZEN] =
		"run it again, with another directory (-D) or -f",
	[KMT_DAEMON_ERROR_NO_SNAPSHOTS] =
		"boot a kernel whose kmemtrace supports snapshots",
	[KMT_DAEMON_ERROR_NO_SNAPSHOT] =
		"take one, while tracing is on, with "
		"'echo 1 > /sys/kernel/debug/kmemtrace/snapshot/take', or set "
		"a "
		"trigger: see kmemtraced(8)",
	[KMT_DAEMON_ERROR_STOPPED] =
		"save the events recorded before with kmemtraced, without -S",
	[KMT_DAEMON_ERROR_REPLACED] = "run it again",
	[KMT_DAEMON_ERROR_STREAM] =
		"--stream needs a pipe, a socket, or a file that the program "
		"which starts kmemtraced has opened for writing",
	[KMT_DAEMON_ERROR_NO_ZSTD] =
		"install libzstd1 (libzstd; to build kmemtraced, libzstd-dev "
		"or libzstd-devel), or record without --compress",
};

/*
 * State of the capture, by code of an error that can occur before or during the
 * recording. If there is no capture, the message is "nothing was recorded"
 * instead.
 */
static const char *const capture_states[KMT_DAEMON_N_ERRORS] = {
	[KMT_DAEMON_ERROR_DISK_FULL] =
		"the records in the capture are complete and can be read",
	[KMT_DAEMON_ERROR_WRITE] =
		"the records in the capture are complete and can be read",
	[KMT_DAEMON_ERROR_READ] = "the records read before are saved",
	[KMT_DAEMON_ERROR_COMMAND] =
		"the records of the trace that was on already are saved",
	[KMT_DAEMON_ERROR_CPU_GONE] = "the records read before are saved",
	[KMT_DAEMON_ERROR_ABANDONED] =
		"the records in the capture are complete, but the last ones "
		"are missing",
};

const char *kmtd_error_advice(const GError *error)
{
	return error->domain == KMT_DAEMON_ERROR ? advice[error->code] : NULL;
}

const char *kmtd_error_capture_state(const GError *error)
{
	return error->domain == KMT_DAEMON_ERROR ? capture_states[error->code]
						 : NULL;
}
