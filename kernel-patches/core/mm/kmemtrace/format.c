// SPDX-License-Identifier: GPL-2.0-only
/* kmemtrace: the version and the size of the records. */

#define pr_fmt(fmt) "kmemtrace: " fmt

#include <linux/cache.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/kstrtox.h>
#include <linux/printk.h>

#include "format.h"

unsigned int kmemtrace_abi __ro_after_init = KMEMTRACE_ABI_VERSION;
unsigned int kmemtrace_record_size __ro_after_init =
	sizeof(struct kmemtrace_event_v2);

void __init kmemtrace_format_init(void)
{
	if (kmemtrace_abi < 2)
		kmemtrace_record_size = sizeof(struct kmemtrace_event);
}

static int __init kmemtrace_param_abi(char *str)
{
	unsigned int version;

	if (!str || kstrtouint(str, 10, &version) || !version ||
	    version > KMEMTRACE_ABI_VERSION)
		pr_warn("kmemtrace.abi=%s is not a version from 1 to %u; using %u\n",
			str ?: "", KMEMTRACE_ABI_VERSION, kmemtrace_abi);
	else
		kmemtrace_abi = version;
	return 0;
}
early_param("kmemtrace.abi", kmemtrace_param_abi);
