/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmemtrace: switches.  A kind of event that is switched by itself has the file
 * events/<name>/enabled in debugfs, and a line in info.
 */
#ifndef _MM_KMEMTRACE_SWITCH_H
#define _MM_KMEMTRACE_SWITCH_H

#include <linux/list.h>
#include <linux/types.h>

struct dentry;
struct seq_file;

struct kmemtrace_switch {
	/* Unique, and valid as the name of a file. */
	const char		*name;
	/* The ids of the records; type_id is 0 where they have no type. */
	u8			event_id;
	u8			type_id;
	/*
	 * Begin or end to record the event.  Called with kmemtrace_mutex held, and
	 * only when it changes: on while both tracing and the switch are on,
	 * otherwise off.  May sleep.  on: return 0, or -errno and record nothing.
	 * When off returns a record may still be written.
	 */
	int			(*set)(struct kmemtrace_switch *sw, bool on);
	/* Print more words for the line in info; or NULL. */
	void			(*show)(struct seq_file *m,
					const struct kmemtrace_switch *sw);
	/* Switched off by user space, or at registration. */
	bool			off;

	/* Private to switch.c: */
	bool			active;		/* set() was called with on */
	bool			missed;		/* was off in this session */
	struct list_head	list;
	struct dentry		*dir;
};

/*
 * Register a switch.  May be called before debugfs exists.  Return 0, or the -errno
 * of set().  Context: kmemtrace_mutex is not held.  Sleeps.
 */
int kmemtrace_switch_register(struct kmemtrace_switch *sw);

/*
 * Unregister a switch.  When this returns its event is not recorded any more and
 * @sw is not used.  Context: kmemtrace_mutex is not held.  Sleeps.
 */
void kmemtrace_switch_unregister(struct kmemtrace_switch *sw);

/* Print the lines of all switches for info.  Context: kmemtrace_mutex is held. */
void kmemtrace_switches_show(struct seq_file *m);

#endif /* _MM_KMEMTRACE_SWITCH_H */
