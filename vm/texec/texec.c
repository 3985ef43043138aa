// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A thread that is not the first of its process allocates kernel memory under
 * its own name and calls exec(), which gives it the pid of the first thread.
 */
#include <pthread.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

static void *work_and_exec(void *unused)
{
	int i, fds[2];

	prctl(PR_SET_NAME, "a second\nname");
	for (i = 0; i < 100; i++) {
		if (pipe(fds))
			return "pipe";
		close(fds[0]);
		close(fds[1]);
	}
	execl("/bin/true", "true", NULL);
	return "exec";
}

int main(void)
{
	void *failed = "create";
	pthread_t thread;

	if (!pthread_create(&thread, NULL, work_and_exec, NULL))
		pthread_join(thread, &failed);
	perror(failed);
	return 1;
}
