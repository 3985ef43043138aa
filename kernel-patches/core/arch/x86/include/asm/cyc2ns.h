/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The factors with which native_sched_clock() converts the TSC to nanoseconds, for code
 * that cannot afford the call of sched_clock().
 */
#ifndef _ASM_X86_CYC2NS_H
#define _ASM_X86_CYC2NS_H

#include <linux/compiler.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/percpu.h>
#include <linux/seqlock.h>

#include <asm/timer.h>
#include <asm/tsc.h>

struct cyc2ns {
	struct cyc2ns_data data[2];	/*  0 + 2*16 = 32 */
	seqcount_latch_t   seq;		/* 32 + 4    = 36 */

}; /* fits one cacheline */

DECLARE_PER_CPU_ALIGNED(struct cyc2ns, cyc2ns);

/* A copy of the factors with which a CPU converts its TSC to nanoseconds. */
struct cyc2ns_copy {
	u64		mul;
	u64		offset;		/* in nanoseconds */
	u32		shift;		/* at most 63 */
	unsigned int	seq;		/* cyc2ns.seq at the copy, or CYC2NS_NO_COPY */
};

/* No value of cyc2ns.seq, which would reach UINT_MAX after 2^31 changes. */
#define CYC2NS_NO_COPY	UINT_MAX

/*
 * Copy the factors of this CPU to @copy if sched_clock() is the TSC with these factors;
 * otherwise make @copy invalid.  Context: any, preemption off.
 */
static inline void cyc2ns_copy(struct cyc2ns_copy *copy)
{
	struct cyc2ns_data *data;
	unsigned int seq;

	copy->seq = CYC2NS_NO_COPY;
	if (!using_native_sched_clock())
		return;
	do {
		seq = this_cpu_read(cyc2ns.seq.seqcount.sequence);
		data = this_cpu_ptr(&cyc2ns.data[seq & 1]);
		copy->mul = READ_ONCE(data->cyc2ns_mul);
		copy->offset = READ_ONCE(data->cyc2ns_offset);
		copy->shift = READ_ONCE(data->cyc2ns_shift);
	} while (unlikely(seq != this_cpu_read(cyc2ns.seq.seqcount.sequence)));
	/* The factors are 0 until the TSC becomes the clock. */
	if (copy->mul)
		copy->seq = seq;
}

/*
 * Return (@tsc * @mul) >> @shift.  @shift: at most 63.
 *
 * The kernel's mul_u64_u32_shr() also handles a shift of 64 and more, and its 128-bit
 * variable makes gcc align the stack of each function that inlines it.
 */
static __always_inline u64 cyc2ns_mul_shr(u64 tsc, u64 mul, u32 shift)
{
#ifdef CONFIG_X86_64
	u64 high;

	asm("mulq %[mul]" : "+a" (tsc), "=d" (high) : [mul] "rm" (mul) : "cc");
	asm("shrdq %%cl, %[high], %[low]"
	    : [low] "+r" (tsc) : [high] "r" (high), "c" (shift) : "cc");
	return tsc;
#else
	return mul_u64_u32_shr(tsc, mul, shift);
#endif
}

#endif /* _ASM_X86_CYC2NS_H */
