// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test of kmemtrace, the tracer of kernel memory, on the running kernel: switch tracing
 * on in debugfs, let the kernel make known allocations, and compare the records.
 *
 * The test needs root, tracing that is off, and no snapshot.  It restores the settings
 * that it changes; unread records and spare buffers are dropped.
 *
 * One unit: the build of selftests links one file for each program, and the tests share
 * the functions that read files and records.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/kmemtrace_abi.h>

#include "../kselftest.h"

#define DEBUGFS		"/sys/kernel/debug"
#define KMEMTRACE	DEBUGFS "/kmemtrace/"

/*
 * A pipe has an array with a struct pipe_buffer for each of its pages.  kmalloc()
 * allocates an array of this size for a pipe of PIPE_PAGES pages.
 */
#define PIPE_PAGES	32
#define PIPE_ARRAY	(PIPE_PAGES * (sizeof(long) == 8 ? 40 : 24))
#define PIPES		100

/* Geometry of a buffer that the test lets overflow. */
#define SMALL_SUBBUFS	2
#define SMALL_RECORDS	64

#define MAX_CPUS	1024

static unsigned int abi, record_size;
static uint32_t self;

/* The settings before the test. */
static char old_mode[32], old_subbufs[32], old_subbuf_size[32], old_filter[8192];
static char old_kmalloc[32];

/* For each CPU, the records that the current test has read. */
static struct cpu_records {
	char *data;
	size_t bytes;
} cpus[MAX_CPUS];

/* --- Files ------------------------------------------------------------------------ */

/* Read a file to @text, without the newline at its end.  Return 0 or -errno. */
static int read_text(const char *name, char *text, size_t size)
{
	char path[256];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), KMEMTRACE "%s", name);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return -errno;
	n = read(fd, text, size - 1);
	if (n < 0)
		n = -errno;
	close(fd);
	if (n < 0)
		return n;
	text[n] = '\0';
	if (n && text[n - 1] == '\n')
		text[n - 1] = '\0';
	return 0;
}

/* Write @text to a file by one write().  Return 0 or -errno. */
static int write_text(const char *name, const char *text)
{
	char path[256];
	int fd, err = 0;

	snprintf(path, sizeof(path), KMEMTRACE "%s", name);
	fd = open(path, O_WRONLY);
	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		err = -errno;
	close(fd);
	return err;
}

static int write_number(const char *name, unsigned int value)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", value);
	return write_text(name, text);
}

static long read_number(const char *name)
{
	char text[64];

	return read_text(name, text, sizeof(text)) ? -1 : strtol(text, NULL, 10);
}

/* Return the sum of the events in the file overruns, in lines "cpu<n> <events>". */
static unsigned long long read_overruns(void)
{
	unsigned long long sum = 0, events;
	char text[65536], *line = text;

	if (read_text("overruns", text, sizeof(text)))
		return 0;
	while (line && sscanf(line, "cpu%*u %llu", &events) == 1) {
		sum += events;
		line = strchr(line, '\n');
		line += !!line;
	}
	return sum;
}

/*
 * Append all unread records of the files cpu<n> in @dir, "" or "snapshot/", to cpus.
 * Return false if an open file cannot be read or contains a part of a record; a file
 * that cannot be opened is skipped.
 */
static bool read_records(const char *dir)
{
	char name[32], path[256];
	unsigned int cpu;
	bool whole = true;

	for (cpu = 0; cpu < MAX_CPUS; cpu++) {
		struct cpu_records *c = &cpus[cpu];
		ssize_t n;
		int fd;

		snprintf(name, sizeof(name), "%scpu%u", dir, cpu);
		snprintf(path, sizeof(path), KMEMTRACE "%s", name);
		fd = open(path, O_RDONLY);
		if (fd < 0)
			continue;
		do {
			char *data = realloc(c->data, c->bytes + 1024 * record_size);

			if (!data)
				ksft_exit_fail_msg("no memory for the records\n");
			c->data = data;
			n = read(fd, c->data + c->bytes, 1024 * record_size);
			if (n > 0)
				c->bytes += n;
		} while (n > 0);
		whole = whole && n == 0 && c->bytes % record_size == 0;
		close(fd);
	}
	return whole;
}

static void forget_records(void)
{
	unsigned int cpu;

	for (cpu = 0; cpu < MAX_CPUS; cpu++) {
		free(cpus[cpu].data);
		cpus[cpu] = (struct cpu_records) {};
	}
}

/* Return the bytes of all records. */
static size_t count_bytes(void)
{
	unsigned int cpu;
	size_t bytes = 0;

	for (cpu = 0; cpu < MAX_CPUS; cpu++)
		bytes += cpus[cpu].bytes;
	return bytes;
}

/* Return record @i of a CPU, or NULL after the last one. */
static const struct kmemtrace_event_v2 *record(unsigned int cpu, size_t i)
{
	return (i + 1) * record_size <= cpus[cpu].bytes ?
	       (const void *)(cpus[cpu].data + i * record_size) : NULL;
}

/* A position in the records of all CPUs; all zeros before the first record. */
struct cursor {
	unsigned int cpu;
	size_t i, next;		/* indices of the last returned and the next record */
};

/* Move on by one record.  Return it, or NULL after the last record of the last CPU. */
static const struct kmemtrace_event_v2 *next_record(struct cursor *c)
{
	const struct kmemtrace_event_v2 *e;

	for (; c->cpu < MAX_CPUS; c->cpu++, c->next = 0) {
		e = record(c->cpu, c->next);
		if (!e)
			continue;
		c->i = c->next++;
		return e;
	}
	return NULL;
}

/* --- Sessions --------------------------------------------------------------------- */

static bool start(void)
{
	forget_records();
	return write_number("enabled", 1) == 0;
}

/* End the session, and read the records that are left. */
static bool stop(void)
{
	return write_number("enabled", 0) == 0 && read_records("");
}

/* Make and close @n pipes, one by one, each with an array of PIPE_ARRAY bytes. */
static bool make_pipes(unsigned int n)
{
	int fds[2], size = PIPE_PAGES * getpagesize();
	bool good = true;

	while (n-- && good) {
		if (pipe(fds))
			return false;
		good = fcntl(fds[0], F_SETPIPE_SZ, size) == size;
		close(fds[0]);
		close(fds[1]);
	}
	return good;
}

/* Let another process make and close @n pipes. */
static bool make_pipes_elsewhere(unsigned int n)
{
	pid_t child = fork();
	int status;

	if (!child)
		_exit(!make_pipes(n));
	return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/* Return whether a record is that of an array which make_pipes() has allocated. */
static bool is_array(const struct kmemtrace_event_v2 *e)
{
	return e->v1.event_id == KMEMTRACE_EVENT_ALLOC &&
	       e->v1.type_id == KMEMTRACE_TYPE_KMALLOC &&
	       e->v1.bytes_req == PIPE_ARRAY && (abi < 2 || e->pid == self);
}

static unsigned int count_arrays(void)
{
	const struct kmemtrace_event_v2 *e;
	struct cursor c = {};
	unsigned int n = 0;

	while ((e = next_record(&c)))
		n += is_array(e);
	return n;
}

/* Return whether the next record of the CPU with the address of record @i is a free. */
static bool is_freed(unsigned int cpu, size_t i)
{
	uint64_t ptr = record(cpu, i)->v1.ptr;
	const struct kmemtrace_event_v2 *e;

	while ((e = record(cpu, ++i)))
		if (e->v1.ptr == ptr && e->v1.type_id <= KMEMTRACE_TYPE_CACHE)
			return e->v1.event_id == KMEMTRACE_EVENT_FREE;
	return false;
}

/* --- Tests ------------------------------------------------------------------------ */

static void test_format(void)
{
	ksft_test_result(abi == 1 ? record_size == KMEMTRACE_EVENT_SIZE_V1 :
			 record_size == KMEMTRACE_EVENT_SIZE_V2 ||
			 record_size == KMEMTRACE_EVENT_SIZE_V2S,
			 "format: version %u, %u bytes\n", abi, record_size);
}

static void test_invalid(void)
{
	static const char *const values[][2] = {
		{ "enabled", "2" }, { "filter", "colour=red" }, { "mode", "sometimes" },
		{ "subbufs", "1" }, { "subbuf_size", "0" }, { "reset", "0" },
		{ "trigger", "never" }, { "events/kmalloc/enabled", "maybe" },
	};
	unsigned int i, refused = 0;

	for (i = 0; i < ARRAY_SIZE(values); i++) {
		int err = write_text(values[i][0], values[i][1]);

		if (err == -EINVAL)
			refused++;
		else
			ksft_print_msg("%s: '%s': %d\n", values[i][0], values[i][1], err);
	}
	ksft_test_result(refused == ARRAY_SIZE(values), "invalid values are refused\n");
}

static void test_records(void)
{
	unsigned int n = 0, freed = 0, bad = 0;
	const struct kmemtrace_event_v2 *e;
	struct cursor c = {};
	size_t bytes;
	bool good;

	good = start() && make_pipes(PIPES) && stop();
	while ((e = next_record(&c))) {
		const struct kmemtrace_event_v2 *before = c.i ? record(c.cpu, c.i - 1) : NULL;

		bad += e->v1.event_size != record_size || !e->v1.event_id ||
		       (before && e->v1.timestamp < before->v1.timestamp);
		if (!is_array(e))
			continue;
		n++;
		freed += is_freed(c.cpu, c.i);
		bad += !e->v1.call_site || !e->v1.gfp_flags ||
		       e->v1.bytes_alloc < e->v1.bytes_req;
	}
	ksft_print_msg("%u arrays of pipes, %u freed, %u bad records\n", n, freed, bad);
	ksft_test_result(good && n == PIPES && freed == PIPES && !bad,
			 "records: each allocation and its free\n");
	bytes = count_bytes();
	good = make_pipes(PIPES) && read_records("");
	ksft_test_result(good && bytes && count_bytes() == bytes,
			 "records: none after tracing is off\n");
}

/* Let a buffer overflow, read the buffer, and make a LOST record by further events. */
static void test_lost(void)
{
	const struct kmemtrace_event_v2 *e;
	unsigned long long reported = 0, lost;
	struct cursor c = {};
	unsigned int n;
	bool good;

	good = write_number("subbuf_size", SMALL_RECORDS * record_size) == 0 &&
	       write_number("subbufs", SMALL_SUBBUFS) == 0 &&
	       write_text("mode", "discard") == 0 && start() && make_pipes(PIPES) &&
	       read_records("") && make_pipes(2) && stop();
	lost = read_overruns();
	while ((e = next_record(&c))) {
		const struct kmemtrace_event_lost *l = (const void *)e;

		if (e->v1.event_id != KMEMTRACE_EVENT_LOST)
			continue;
		good = good && l->events && l->since <= l->timestamp;
		reported += l->events;
	}
	n = count_arrays();
	ksft_print_msg("%llu events lost, %llu in LOST records, %u arrays of pipes\n",
		       lost, reported, n);
	ksft_test_result(good && lost > PIPES && n < PIPES + 2 && reported <= lost &&
			 (abi < 2 || reported), "lost events are counted\n");
}

/* In overwrite mode the newest records remain. */
static void test_overwrite(void)
{
	unsigned int n;
	bool good;

	good = write_text("mode", "overwrite") == 0 && start() && make_pipes(PIPES) && stop();
	n = count_arrays();
	ksft_print_msg("%u of the last arrays\n", n);
	good = good && n && n < PIPES && read_overruns() > PIPES;
	write_text("mode", old_mode);
	write_text("subbuf_size", old_subbuf_size);
	good = write_text("subbufs", old_subbufs) == 0 && good;
	ksft_test_result(good, "overwrite: the newest records remain\n");
}

/* Return whether a record is that of @text, written to the file marker. */
static bool is_marker(const struct kmemtrace_event_v2 *e, const char *text)
{
	const struct kmemtrace_event_mark *m = (const void *)e;

	return e->v1.event_id == KMEMTRACE_EVENT_MARK &&
	       m->mark == KMEMTRACE_MARK_MARKER && m->pid == self &&
	       m->payload[0] == strlen(text) && !memcmp(&m->payload[1], text, strlen(text));
}

static void test_marker(void)
{
	static const char *const texts[] = { "kselftest one", "second line" };
	const struct kmemtrace_event_v2 *e;
	struct cursor c = {};
	unsigned int n = 0;
	bool good;

	if (abi < 2) {
		ksft_test_result_skip("marks: not in version 1\n");
		return;
	}
	good = write_text("marker", "too early\n") == -EBADF && start() &&
	       write_text("marker", "kselftest one\nsecond line\n") == 0 &&
	       write_text("marker", "bell\a\n") == -EINVAL && stop();
	while ((e = next_record(&c)))
		if (n < ARRAY_SIZE(texts) && is_marker(e, texts[n]))
			n++;
	ksft_test_result(good && n == ARRAY_SIZE(texts), "marks: lines of the file marker\n");
}

static void test_filter(void)
{
	const struct kmemtrace_event_v2 *e;
	struct cursor c = {};
	unsigned int other = 0;
	char text[64];
	bool good;

	snprintf(text, sizeof(text), "pid=%u size=%u-", self, (unsigned int)PIPE_ARRAY);
	good = write_text("filter", text) == 0 && start() && make_pipes(PIPES) &&
	       make_pipes_elsewhere(PIPES) && stop();
	while ((e = next_record(&c)))
		other += e->v1.event_id == KMEMTRACE_EVENT_ALLOC &&
			 (e->v1.bytes_alloc < PIPE_ARRAY || (abi > 1 && e->pid != self));
	write_text("filter", "none");
	ksft_print_msg("%u arrays, %u other allocations\n", count_arrays(), other);
	ksft_test_result(good && count_arrays() == PIPES && !other,
			 "filter: only the allocations that pass\n");
}

static void test_switch(void)
{
	const struct kmemtrace_event_v2 *e;
	unsigned int kmallocs = 0, others = 0;
	struct cursor c = {};
	bool good;

	good = write_number("events/kmalloc/enabled", 0) == 0 && start() &&
	       make_pipes(PIPES) && stop();
	good = write_number("events/kmalloc/enabled", 1) == 0 && good;
	while ((e = next_record(&c))) {
		if (e->v1.event_id == KMEMTRACE_EVENT_ALLOC &&
		    e->v1.type_id == KMEMTRACE_TYPE_KMALLOC)
			kmallocs++;
		else
			others++;
	}
	ksft_test_result(good && !kmallocs && others > PIPES,
			 "events: a disabled event has no records\n");
}

static void test_snapshot(void)
{
	unsigned int before, after;
	char text[1024] = "";
	bool good;

	good = start() && make_pipes(PIPES) && write_number("snapshot/take", 1) == 0 &&
	       make_pipes(PIPES / 2) && read_text("snapshot/take", text, sizeof(text)) == 0 &&
	       !strncmp(text, "state: taken\n", 13) && stop();
	after = count_arrays();
	forget_records();
	good = read_records("snapshot/") && good;
	before = count_arrays();
	ksft_print_msg("%u arrays in the snapshot, %u after it\n", before, after);
	good = write_number("snapshot/take", 0) == 0 && good;
	ksft_test_result(good && before == PIPES && after == PIPES / 2,
			 "snapshot: each record is there or in the live buffers\n");
}

/* --- Cgroups ---------------------------------------------------------------------- */

#define CGROUP		"kselftest-kmemtrace"

/* Make a task in the cgroup in directory @dir, which makes and closes @n pipes. */
static pid_t make_pipes_in(const char *dir, unsigned int n)
{
	char path[256];
	pid_t child;
	int fd, status;

	snprintf(path, sizeof(path), "%s/cgroup.procs", dir);
	child = fork();
	if (!child) {
		fd = open(path, O_WRONLY);
		_exit(fd < 0 || write(fd, "0", 1) != 1 || !make_pipes(n));
	}
	return child > 0 && waitpid(child, &status, 0) == child && !status ? child : -1;
}

/* Remove a cgroup.  A task leaves its cgroup a moment after its parent knows of its end. */
static bool remove_cgroup(const char *dir)
{
	unsigned int i;

	for (i = 0; i < 500; i++) {
		if (!rmdir(dir))
			return true;
		usleep(10000);
	}
	return false;
}

/*
 * Search the table cgroups for the time from @from to @until that task @pid spent in
 * CGROUP.  Return false if the table does not have exactly one such time.
 */
static bool find_times(pid_t pid, unsigned long long *from, unsigned long long *until)
{
	FILE *table = fopen(KMEMTRACE "cgroups", "r");
	unsigned long long last = 0, time;
	char line[8192], path[4096];
	unsigned int n = 0;
	int of;

	while (table && fgets(line, sizeof(line), table)) {
		if (sscanf(line, "%d %llu %4095s", &of, &time, path) != 3 || of != pid)
			continue;
		if (strlen(path) > strlen(CGROUP) &&
		    !strcmp(path + strlen(path) - strlen(CGROUP) - 1, "/" CGROUP)) {
			*from = last;
			*until = time;
			n++;
		}
		last = time;
	}
	if (table)
		fclose(table);
	return n == 1;
}

/* The table has a task in a cgroup that is removed during the session. */
static void test_cgroups(void)
{
	unsigned long long from = 0, until = 0;
	const struct kmemtrace_event_v2 *e;
	char mnt[] = "/tmp/kmemtrace-XXXXXX", dir[64];
	unsigned int inside = 0, others = 0;
	struct cursor c = {};
	pid_t old = self;
	bool good;

	if (access(KMEMTRACE "cgroups", F_OK)) {
		ksft_test_result_skip("cgroups: not in this kernel\n");
		return;
	}
	if (!mkdtemp(mnt) || mount("none", mnt, "cgroup2", 0, NULL)) {
		ksft_test_result_skip("cgroups: cannot mount cgroup2\n");
		return;
	}
	snprintf(dir, sizeof(dir), "%s/" CGROUP, mnt);
	good = mkdir(dir, 0700) == 0 && start();
	self = make_pipes_in(dir, PIPES);
	good = remove_cgroup(dir) && good && stop() && find_times(self, &from, &until);
	while ((e = next_record(&c))) {
		if (!is_array(e))
			continue;
		if ((uint64_t)e->v1.timestamp > from && (uint64_t)e->v1.timestamp <= until)
			inside++;
		else
			others++;
	}
	self = old;
	umount(mnt);
	rmdir(mnt);
	ksft_print_msg("%u arrays in the cgroup, %u others\n", inside, others);
	ksft_test_result(good && from && inside == PIPES && !others,
			 "cgroups: a task in a removed cgroup\n");
}

static void restore(void)
{
	write_number("enabled", 0);
	write_text("events/kmalloc/enabled", old_kmalloc);
	write_text("filter", *old_filter ? old_filter : "none");
	write_text("mode", old_mode);
	write_text("subbuf_size", old_subbuf_size);
	write_text("subbufs", old_subbufs);
}

/* Run on one CPU, so that its buffer has all events of the test in their order. */
static void use_one_cpu(void)
{
	unsigned int cpu = 0;
	cpu_set_t set;

	syscall(SYS_getcpu, &cpu, NULL, NULL);
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		ksft_exit_fail_msg("sched_setaffinity: %s\n", strerror(errno));
}

int main(void)
{
	char state[1024] = "";

	ksft_print_header();
	if (geteuid())
		ksft_exit_skip("needs root\n");
	if (access(DEBUGFS "/.", X_OK) == 0 && access(KMEMTRACE, F_OK))
		mount("debugfs", DEBUGFS, "debugfs", 0, NULL);
	if (access(KMEMTRACE, F_OK))
		ksft_exit_skip("the kernel has no kmemtrace (CONFIG_KMEMTRACE)\n");
	if (read_number("enabled") == -1)
		ksft_exit_skip("the kernel refuses the files of kmemtrace (lockdown)\n");
	if (read_number("enabled"))
		ksft_exit_skip("tracing is on; it would be disturbed\n");
	if (read_text("snapshot/take", state, sizeof(state)) == 0 &&
	    !strncmp(state, "state: taken\n", 13))
		ksft_exit_skip("there is a snapshot; it would be lost\n");
	abi = read_number("abi_version");
	record_size = read_number("record_size");
	if (record_size < KMEMTRACE_EVENT_SIZE_V1 || record_size > 4096)
		ksft_exit_fail_msg("record_size is %u\n", record_size);
	if (read_text("mode", old_mode, sizeof(old_mode)) ||
	    read_text("subbufs", old_subbufs, sizeof(old_subbufs)) ||
	    read_text("subbuf_size", old_subbuf_size, sizeof(old_subbuf_size)) ||
	    read_text("filter", old_filter, sizeof(old_filter)) ||
	    read_text("events/kmalloc/enabled", old_kmalloc, sizeof(old_kmalloc)))
		ksft_exit_fail_msg("cannot read the settings\n");
	self = syscall(SYS_gettid);
	use_one_cpu();
	write_text("filter", "none");
	atexit(restore);
	write_number("events/kmalloc/enabled", 1);

	ksft_set_plan(11);
	test_format();
	test_invalid();
	test_records();
	test_filter();
	test_switch();
	test_marker();
	test_snapshot();
	test_cgroups();
	test_lost();
	test_overwrite();
	ksft_finished();
}
