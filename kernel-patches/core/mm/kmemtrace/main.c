// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmemtrace: records every allocation and free of slab objects, pages, per-CPU memory,
 * and vmalloc areas.
 *
 * Probes on the kmem tracepoints of slab objects, and on those of
 * <trace/events/kmemtrace.h> for all other paths, write records of
 * <linux/kmemtrace_abi.h> into buffers, which user space reads in debugfs.
 *
 * The object files, apart from tests, tracepoints, and compat_pages, form layers, of
 * which the lowest comes first; each file refers only to files of its own layer and of
 * lower layers:
 *
 *	format, clock, guard		records, time, and the state of a CPU
 *	view, buffer, reader, memory	sets of buffers
 *	file_util, geometry		helpers of files, and the size of the buffers
 *	tags				call sites from allocation tags
 *	operation, writer, recording	an event becomes a record or is lost (writer.h)
 *	session				on and off; calls the features of higher layers
 *	switch, probe			events that are switched separately
 *	slab, pages, percpu, vmalloc	hooks and probes of the allocators
 *	kfree_rcu			hook and probes of kfree_rcu()
 *	unwind, stacks, caches, tasks	what records refer to by number
 *	cgroup_paths, cgroups		the cgroups of tasks
 *	mark_format, mark_record, marks	annotations
 *	filter_parse, filter		which events are recorded
 *	snapshot			which records are kept
 *	counter, held, trigger_parse, trigger	when a snapshot is taken
 *	files, geometry_files, info, debugfs	what user space sees
 *	main				the order of all features at boot
 */

#define pr_fmt(fmt) "kmemtrace: " fmt

#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/kmemtrace.h>
#include <linux/printk.h>
#include <linux/string.h>

#include "features.h"
#include "format.h"
#include "geometry.h"
#include "recording.h"
#include "view.h"

static bool kmemtrace_boot_enabled __initdata =
	IS_ENABLED(CONFIG_KMEMTRACE_DEFAULT_ENABLED);

static int __init kmemtrace_param_enable(char *str)
{
	if (str && !strcmp(str, "yes"))
		kmemtrace_boot_enabled = true;
	else if (str && !strcmp(str, "no"))
		kmemtrace_boot_enabled = false;
	else
		pr_warn("kmemtrace.enable=%s is neither yes nor no; using %s\n",
			str ?: "", kmemtrace_boot_enabled ? "yes" : "no");
	return 0;
}
early_param("kmemtrace.enable", kmemtrace_param_enable);

static void __init kmemtrace_register(struct kmemtrace_feature *feature)
{
	list_add_tail(&feature->list, &kmemtrace_features);
}

static void __init kmemtrace_register_features(void)
{
#define KMEMTRACE_FEATURE(name) kmemtrace_register(&kmemtrace_##name##_feature)
#include "feature_list.h"
#undef KMEMTRACE_FEATURE
}

/*
 * Context: early boot, with one CPU running and interrupts off, as soon as the
 * slab allocator and vmalloc work.  debugfs does not exist yet.
 */
void __init kmemtrace_init(void)
{
	kmemtrace_format_init();
	kmemtrace_register_features();
	kmemtrace_call_features(setup);
	kmemtrace_geometry_init();
	kmemtrace_view_init(&kmemtrace_live);
	kmemtrace_writer_init();
	kmemtrace_call_features(init);
	if (!kmemtrace_boot_enabled)
		return;
	if (!kmemtrace_set_enabled(true))
		pr_info("tracing from boot, %u sub-buffers of %u bytes per CPU\n",
			kmemtrace_subbufs, kmemtrace_subbuf_size);
}
