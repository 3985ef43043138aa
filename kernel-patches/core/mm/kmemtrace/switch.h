/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmemtrace: switches.  User space switches each kind of event on and off by the file
 * events/<name>/enabled in debugfs.  The file info has a line for each switch.
 */
#ifndef _MM_KMEMTRACE_SWITCH_H
#define _MM_KMEMTRACE_SWITCH_H

#include <linux/list.h>
#include <linux/types.h>

struct dentry;
struct seq_file;

struct kmemtrace_switch {
	/* Name of the directory in events/; unique. */
	const char		*name;
	/* Ids of the records; type_id is 0 for records without a type. */
	u8			event_id;
	u8			type_id;
	/*
	 * Begin (@on is true) or stop recording the event.  The event is recorded while
	 * both tracing and the switch are on, and the callback is called when this
	 * state changes.  With @on, return 0, or -errno and record nothing.  Without
	 * @on, a CPU may still write a record when the callback returns.  Called with
	 * kmemtrace_mutex held; may sleep.
	 */
	int			(*set)(struct kmemtrace_switch *sw, bool on);
	/* Print more words for the line in info, and lines after it; NULL: none. */
	void			(*show)(struct seq_file *m,
					const struct kmemtrace_switch *sw);
	/* Whether user space or the code that registered the switch switched it off. */
	bool			off;

	/* The following members are private to switch.c. */
	bool			active;		/* set() began to record the event */
	bool			was_off;	/* at some time of this session */
	struct list_head	list;
	struct dentry		*dir;		/* NULL: no directory in debugfs */
};

/*
 * Register a switch, which the caller owns and keeps until it has unregistered the
 * switch.  debugfs may not exist yet.  Return 0, or the -errno of set().  Context:
 * kmemtrace_mutex is not held.  Sleeps.
 */
int kmemtrace_switch_register(struct kmemtrace_switch *sw);

/*
 * Unregister a switch.  When the function returns, no CPU records the event, and the
 * caller may free @sw.  Context: kmemtrace_mutex is not held.  Sleeps.
 */
void kmemtrace_switch_unregister(struct kmemtrace_switch *sw);

/* Print the line of each switch for info.  Context: kmemtrace_mutex is held. */
void kmemtrace_switches_show(struct seq_file *m);

#endif /* _MM_KMEMTRACE_SWITCH_H */
