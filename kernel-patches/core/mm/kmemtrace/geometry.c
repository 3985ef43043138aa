// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmemtrace: number and size of the sub-buffers of each CPU, and the parameters of the
 * buffers on the kernel's command line.  An invalid parameter is logged, and the
 * default is used instead.
 */

#define pr_fmt(fmt) "kmemtrace: " fmt

#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/kstrtox.h>
#include <linux/mm.h>
#include <linux/printk.h>
#include <linux/sizes.h>
#include <linux/string.h>

#include "buffer.h"
#include "file_util.h"
#include "format.h"
#include "geometry.h"

/*
 * Defaults, per CPU: 20 sub-buffers of 8192 records.  The size of such a sub-buffer is
 * a multiple of the page size, as readers need that map the buffer or write with
 * O_DIRECT.
 */
#define KMEMTRACE_SUBBUF_RECORDS 8192
#define KMEMTRACE_SUBBUFS	20

/*
 * A single sub-buffer does not suffice: when it is full, the next record would
 * overwrite all records, or, in discard mode, be lost until all records are read.
 */
#define KMEMTRACE_SUBBUFS_MIN	2
#define KMEMTRACE_SUBBUFS_MAX	65536
#define KMEMTRACE_SUBBUF_SIZE_MAX SZ_256M

unsigned int kmemtrace_subbufs = KMEMTRACE_SUBBUFS;
unsigned int kmemtrace_subbuf_size;	/* 0 until kmemtrace_geometry_init() */

/*
 * Both values may be valid and their product too large: relay limits a buffer to
 * UINT_MAX bytes, and the buffers of all possible CPUs together are limited to half of
 * the memory.
 */
bool kmemtrace_geometry_fits(unsigned int subbufs, unsigned int subbuf_size)
{
	u64 bytes = (u64)subbufs * subbuf_size;

	return subbufs >= KMEMTRACE_SUBBUFS_MIN &&
	       subbufs <= KMEMTRACE_SUBBUFS_MAX &&
	       subbuf_size >= kmemtrace_record_size &&
	       subbuf_size <= KMEMTRACE_SUBBUF_SIZE_MAX &&
	       bytes <= UINT_MAX &&
	       bytes * num_possible_cpus() <=
	       (u64)totalram_pages() * PAGE_SIZE / 2;
}

/*
 * Set kmemtrace_subbuf_size and kmemtrace_subbufs to valid values.  A sub-buffer has a
 * whole number of records and therefore no padding.
 */
void __init kmemtrace_geometry_init(void)
{
	unsigned int size = KMEMTRACE_SUBBUF_RECORDS * kmemtrace_record_size;

	if (!kmemtrace_subbuf_size)
		kmemtrace_subbuf_size = size;
	if (kmemtrace_subbuf_size < kmemtrace_record_size) {
		pr_warn("kmemtrace.subbuf_size=%u is less than a record of %u bytes; using %u\n",
			kmemtrace_subbuf_size, kmemtrace_record_size, size);
		kmemtrace_subbuf_size = size;
	}
	kmemtrace_subbuf_size = rounddown(kmemtrace_subbuf_size,
					  kmemtrace_record_size);

	/* Defaults that do not fit are reported when the buffers are allocated. */
	if (kmemtrace_geometry_fits(kmemtrace_subbufs, kmemtrace_subbuf_size) ||
	    (kmemtrace_subbufs == KMEMTRACE_SUBBUFS &&
	     kmemtrace_subbuf_size == size))
		return;
	pr_warn("kmemtrace.subbufs=%u times kmemtrace.subbuf_size=%u is too much for this machine; using %u and %u\n",
		kmemtrace_subbufs, kmemtrace_subbuf_size, KMEMTRACE_SUBBUFS,
		size);
	kmemtrace_subbufs = KMEMTRACE_SUBBUFS;
	kmemtrace_subbuf_size = size;
}

static int __init kmemtrace_param_subbufs(char *str)
{
	unsigned int n;

	if (!str || kstrtouint(str, 0, &n) || n < KMEMTRACE_SUBBUFS_MIN ||
	    n > KMEMTRACE_SUBBUFS_MAX)
		pr_warn("kmemtrace.subbufs=%s is not a number from %u to %u; using %u\n",
			str ?: "", KMEMTRACE_SUBBUFS_MIN,
			KMEMTRACE_SUBBUFS_MAX, kmemtrace_subbufs);
	else
		kmemtrace_subbufs = n;
	return 0;
}
early_param("kmemtrace.subbufs", kmemtrace_param_subbufs);

int kmemtrace_parse_subbuf_size(const char *text, unsigned int *bytes)
{
	u64 size;

	if (kmemtrace_parse_bytes(text, &size) || !size ||
	    size > KMEMTRACE_SUBBUF_SIZE_MAX)
		return -EINVAL;
	*bytes = size;
	return 0;
}

static int __init kmemtrace_param_subbuf_size(char *str)
{
	unsigned int size;

	if (!str || kmemtrace_parse_subbuf_size(str, &size))
		pr_warn("kmemtrace.subbuf_size=%s is not a size of up to %u bytes; using the default\n",
			str ?: "", (unsigned int)KMEMTRACE_SUBBUF_SIZE_MAX);
	else
		kmemtrace_subbuf_size = size;
	return 0;
}
early_param("kmemtrace.subbuf_size", kmemtrace_param_subbuf_size);

static int __init kmemtrace_param_mode(char *str)
{
	if (str && !strcmp(str, "discard"))
		kmemtrace_overwrite = false;
	else if (str && !strcmp(str, "overwrite"))
		kmemtrace_overwrite = true;
	else
		pr_warn("kmemtrace.mode=%s is neither discard nor overwrite; using %s\n",
			str ?: "",
			kmemtrace_overwrite ? "overwrite" : "discard");
	return 0;
}
early_param("kmemtrace.mode", kmemtrace_param_mode);
