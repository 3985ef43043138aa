// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A preloaded monotonic clock that is STEP_NS later at each call, so that any
 * operation takes long.
 */
#include "config.h"

#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define STEP_NS	 400000000ll
#define NS_PER_S 1000000000ll

int clock_gettime(clockid_t clock, struct timespec *t)
{
	static atomic_llong calls;
	long long ns;

	if (syscall(SYS_clock_gettime, clock, t) < 0)
		return -1;
	if (clock != CLOCK_MONOTONIC)
		return 0;
	ns = t->tv_nsec + ++calls * STEP_NS;
	t->tv_sec += (time_t)(ns / NS_PER_S);
	t->tv_nsec = (long)(ns % NS_PER_S);
	return 0;
}
