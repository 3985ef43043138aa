// SPDX-License-Identifier: GPL-2.0-only
/* Per-CPU memory. */
#include "kmt_gap.h"

#include <linux/percpu.h>

#define for_each_cpu_bytes(bytes) ((bytes) * num_possible_cpus())

static noinline void gap_alloc_percpu(void)
{
	u64 __percpu *counters[N];
	unsigned long i;

	for (i = 0; i < N; i++)
		counters[i] = alloc_percpu(u64);
	for (i = 0; i < N; i++)
		free_percpu(counters[i]);
	say_alloc("percpu", N, for_each_cpu_bytes(N * sizeof(u64)), GFP_KERNEL);
	say_freed("percpu", N, __func__);
}

/* The requested size is odd; the allocator rounds it up. */
static noinline void gap_alloc_percpu_odd(size_t size)
{
	free_percpu(__alloc_percpu(size, 1));
	say_alloc("percpu", 1, for_each_cpu_bytes(size), GFP_KERNEL);
	say_freed("percpu", 1, __func__);
}

static noinline void gap_alloc_percpu_gfp(void)
{
	u64 __percpu *counter;

	local_irq_disable();
	counter = alloc_percpu_gfp(u64, GFP_NOWAIT);
	free_percpu(counter);
	local_irq_enable();
	say_alloc("percpu", !!counter, for_each_cpu_bytes(sizeof(u64)),
		  GFP_NOWAIT);
	say_freed("percpu", !!counter, __func__);
}

static noinline void gap_alloc_percpu_fails(size_t size)
{
	if (__alloc_percpu_gfp(size, 8, GFP_KERNEL | __GFP_NOWARN))
		pr_err("%zu bytes for each CPU were there\n", size);
	free_percpu(NULL);
	say_alloc("percpu", 0, 0, 0);
	say_freed("percpu", 0, "*");
}

void gap_percpus(void)
{
	gap_path(gap_alloc_percpu());
	gap_path(gap_alloc_percpu_odd(13));
	gap_path(gap_alloc_percpu_gfp());
	gap_path(gap_alloc_percpu_fails(1 << 20));
}
