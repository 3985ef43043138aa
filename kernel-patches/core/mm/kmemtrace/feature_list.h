/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmemtrace: the features, by the names of their source files, in the order in which
 * their callbacks are called; see session.h.  features.h and main.c include this file.
 */
KMEMTRACE_FEATURE(stacks);
#ifdef CONFIG_CGROUPS
KMEMTRACE_FEATURE(cgroups);
#endif
KMEMTRACE_FEATURE(tasks);
#ifdef CONFIG_MEM_ALLOC_PROFILING
KMEMTRACE_FEATURE(tags);
#endif
KMEMTRACE_FEATURE(caches);
KMEMTRACE_FEATURE(slab);
KMEMTRACE_FEATURE(pages);
KMEMTRACE_FEATURE(percpu);
KMEMTRACE_FEATURE(vmalloc);
KMEMTRACE_FEATURE(kfree_rcu);
KMEMTRACE_FEATURE(switch);
KMEMTRACE_FEATURE(marks);
KMEMTRACE_FEATURE(filter);
KMEMTRACE_FEATURE(snapshot);
KMEMTRACE_FEATURE(trigger);
KMEMTRACE_FEATURE(info);
KMEMTRACE_FEATURE(geometry_files);
KMEMTRACE_FEATURE(files);
KMEMTRACE_FEATURE(debugfs);
