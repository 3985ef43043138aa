// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Make the kernel fail the first allocation of an operation on FILE, then the
 * second, and so on until the operation completes without a fault (fail-nth,
 * see Documentation/fault-injection of the kernel). If the operation fails, the
 * error must be ENOMEM, and each file WATCHED and the number and size of the
 * tracer's vmalloc areas must be unchanged. If the operation succeeds in spite
 * of the fault, it is undone.
 *
 *	failnth FILE TEXT UNDO [WATCHED]...
 *		write TEXT; write UNDO to undo it
 *	failnth FILE TEXT "" [WATCHED]...
 *		write TEXT; nothing to undo
 *	failnth FILE "" "" [WATCHED]...
 *		read the complete file
 *	failnth MODULE.ko "" "" [WATCHED]...
 *		load the module; unload it to undo
 *	failnth -k ...
 *		do not check the vmalloc areas, because a failed operation may
 *		retain memory
 *
 * Exit status: 0 all checks passed, 1 a check failed, 2 the test could not run.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FAULTS_MAX 2000
#define STATE_MAX  (256 * 1024)

static char **watched;
static bool watch_areas = true;
static char before[STATE_MAX], after[STATE_MAX];

static void die(const char *what, const char *on)
{
	fprintf(stderr, "failnth: %s %s: %s\n", what, on, strerror(errno));
	exit(2);
}

/*
 * Append a line with the number and the total size of the tracer's vmalloc
 * areas to the state.
 */
static size_t add_areas(char *state, size_t fill)
{
	char line[512];
	FILE *file = fopen("/proc/vmallocinfo", "r");
	unsigned long bytes = 0, areas = 0;

	if (!file)
		die("cannot open", "/proc/vmallocinfo");
	while (fgets(line, sizeof(line), file)) {
		unsigned long size;

		if (!strstr(line, "kmemtrace"))
			continue;
		if (sscanf(line, "%*s %lu", &size) == 1) {
			bytes += size;
			areas++;
		}
	}
	fclose(file);
	return fill + (size_t)snprintf(state + fill, STATE_MAX - fill,
				       "%lu areas, %lu bytes\n", areas, bytes);
}

static void read_state(char *state)
{
	size_t fill = 0;
	char **path;

	for (path = watched; *path; path++) {
		int fd = open(*path, O_RDONLY);
		ssize_t n;

		fill += (size_t)snprintf(state + fill, STATE_MAX - fill,
					 "%s:\n", *path);
		while (fd >= 0 && fill < STATE_MAX - 1024 &&
		       (n = read(fd, state + fill, STATE_MAX - 1024 - fill)) > 0)
			fill += (size_t)n;
		if (fd >= 0)
			close(fd);
	}
	if (watch_areas)
		fill = add_areas(state, fill);
	state[fill] = '\0';
}

/* Print the first line in which the two states differ. */
static void print_difference(void)
{
	const char *a = before, *b = after;

	while (*a && *b && strcspn(a, "\n") == strcspn(b, "\n") &&
	       !strncmp(a, b, strcspn(a, "\n"))) {
		a += strcspn(a, "\n") + 1;
		b += strcspn(b, "\n") + 1;
	}
	printf("  was: %.*s\n  is:  %.*s\n", (int)strcspn(a, "\n"), a,
	       (int)strcspn(b, "\n"), b);
}

/*
 * Let the n-th next allocation of this task fail; n 0: no allocation. *left
 * receives the number of allocations that were left until the fault that was
 * set before, 0 if this fault has occurred. left may be NULL. Return 0, or -1
 * on failure.
 */
static int fail_nth(int fd, int n, int *left)
{
	char text[32];
	ssize_t len;

	if (left) {
		len = pread(fd, text, sizeof(text) - 1, 0);
		if (len <= 0)
			return -1;
		text[len] = '\0';
		*left = atoi(text);
	}
	len = snprintf(text, sizeof(text), "%d", n);
	return pwrite(fd, text, (size_t)len, 0) == len ? 0 : -1;
}

static const char *path, *text, *undo;
static char module[64];

/* Perform the operation. Return 0 or a positive errno. */
static int operate(void)
{
	char block[4096];
	int fd, err = 0;
	ssize_t n;

	if (!module[0] && !*text) {
		fd = open(path, O_RDONLY);
		if (fd < 0)
			return errno;
		while ((n = read(fd, block, sizeof(block))) > 0)
			;
		err = n < 0 ? errno : 0;
		close(fd);
		return err;
	}
	if (module[0]) {
		fd = open(path, O_RDONLY);
		if (fd < 0)
			return errno;
		err = syscall(SYS_finit_module, fd, "", 0) ? errno : 0;
		close(fd);
		return err;
	}
	fd = open(path, O_WRONLY);
	if (fd < 0)
		return errno;
	if (write(fd, text, strlen(text)) < 0)
		err = errno;
	close(fd);
	return err;
}

static void undo_operation(void)
{
	int fd;

	if (module[0]) {
		if (syscall(SYS_delete_module, module, O_NONBLOCK))
			die("cannot unload", module);
		return;
	}
	if (!*undo)
		return;
	fd = open(path, O_WRONLY);
	if (fd < 0 || write(fd, undo, strlen(undo)) < 0)
		die("cannot undo", path);
	close(fd);
}

static void name_module(void)
{
	const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	char *c;

	snprintf(module, sizeof(module), "%.*s", (int)strlen(base) - 3, base);
	for (c = module; *c; c++)
		if (*c == '-')
			*c = '_';
}

/*
 * Check an operation that failed with err. without_fault: it failed before the
 * fault occurred. Return the number of failed checks.
 */
static int check_refused(int fault, int err, bool without_fault)
{
	int wrong = 0;

	if (err != ENOMEM || without_fault) {
		printf("fault %d%s: %s\n", fault,
		       without_fault ? ", not reached" : "", strerror(err));
		wrong++;
	}
	read_state(after);
	if (strcmp(before, after)) {
		printf("fault %d left a change:\n", fault);
		print_difference();
		wrong++;
	}
	return wrong;
}

int main(int argc, char **argv)
{
	int n, left = 0, refused = 0, wrong = 0, fd;

	if (argc > 1 && !strcmp(argv[1], "-k")) {
		watch_areas = false;
		argv++;
		argc--;
	}
	if (argc < 4) {
		fprintf(stderr,
			"usage: failnth [-k] FILE TEXT UNDO [WATCHED]...\n");
		return 2;
	}
	path = argv[1];
	text = argv[2];
	undo = argv[3];
	watched = argv + 4;
	if (strlen(path) > 3 && !strcmp(path + strlen(path) - 3, ".ko"))
		name_module();
	fd = open("/proc/thread-self/fail-nth", O_RDWR);
	if (fd < 0)
		die("cannot open", "/proc/thread-self/fail-nth");
	for (n = 1; n <= FAULTS_MAX; n++) {
		int err;

		read_state(before);
		if (fail_nth(fd, n, NULL))
			die("cannot arm", "fail-nth");
		err = operate();
		if (fail_nth(fd, 0, &left))
			die("cannot disarm", "fail-nth");
		if (!err) {
			undo_operation();
		} else {
			refused += !left;
			wrong += check_refused(n, err, left);
		}
		if (left)
			break;
	}
	printf("%s %s: %d faults, %d refused, %d wrong\n", path, text, n - 1,
	       refused, wrong);
	return wrong || n > FAULTS_MAX;
}
