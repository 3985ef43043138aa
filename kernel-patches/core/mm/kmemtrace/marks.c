// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmemtrace: the table of annotations, and their static keys.  mark_record.c writes
 * the records.
 *
 * A place is the descriptor of one kmemtrace_mark() in code, or that of the file
 * marker.  The places in the code of the kernel, and those of each module, are in a
 * section.  All places with the same name, format and module form one row of the table
 * marks.  The row of an unloaded module stays until the next session begins.  The
 * static key of a place is on while tracing is on and its annotation is not switched
 * off.
 *
 * A place may be reached while its key is being switched: whether the annotation is
 * recorded depends on kmemtrace_recording, which the writer tests.
 */

#define pr_fmt(fmt) "kmemtrace: " fmt

#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/ctype.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/jump_label.h>
#include <linux/kernel.h>
#include <linux/kmemtrace_mark.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "clock.h"
#include "features.h"
#include "file_util.h"
#include "format.h"
#include "mark_format.h"
#include "mark_record.h"
#include "switch.h"

/* --- The table --------------------------------------------------------------- */

/* The places in a section are an array of structs, each aligned to 8 bytes. */
static_assert(sizeof(struct kmemtrace_mark) % 8 == 0);
static_assert(ARRAY_SIZE(((struct kmemtrace_mark *)0)->string_max) ==
	      KMEMTRACE_MARK_ARGS);

struct kmemtrace_mark_row {
	struct list_head	list;
	struct kmemtrace_mark	*places;	/* linked list; NULL: module unloaded */
	u64			appeared;	/* ns; 0: in the kernel image */
	u64			went;		/* ns; 0: module not unloaded */
	u32			number;
	char			types[KMEMTRACE_MARK_ARGS + 1];
	u16			string_max[KMEMTRACE_MARK_ARGS];
	char			module[MODULE_NAME_LEN]; /* "": kernel image */
	const char		*format;	/* in this struct, behind the name */
	char			name[];
};

/* All annotations with one name, which have one switch. */
struct kmemtrace_mark_name {
	struct list_head	list;
	struct kmemtrace_switch	sw;
	bool			on;	/* the keys of its places are on */
	/* The name of the switch: KMEMTRACE_MARK_PREFIX and the name. */
	char			name[];
};

#define KMEMTRACE_MARK_PREFIX	"mark:"

/*
 * Protects the variables below, the keys of all descriptors, and the links between
 * them.  Nests inside kmemtrace_mutex and outside cpu_hotplug_lock, which
 * static_key_enable() acquires.
 */
static DEFINE_MUTEX(kmemtrace_marks_mutex);
static LIST_HEAD(kmemtrace_rows);	/* in the order of their appearance */
static LIST_HEAD(kmemtrace_mark_names);
static u32 kmemtrace_last_mark;		/* number of the newest row */
static unsigned long kmemtrace_unnumbered_marks;	/* places without a row */

/*
 * Serialises the functions that add and remove the annotations of modules.  Nests
 * outside kmemtrace_mutex, which kmemtrace_switch_register() acquires.
 */
static DEFINE_MUTEX(kmemtrace_mark_names_mutex);

/* Context: kmemtrace_marks_mutex is held. */
static struct kmemtrace_mark_row *
kmemtrace_find_row(const struct kmemtrace_mark *mark, const char *module)
{
	struct kmemtrace_mark_row *row;

	list_for_each_entry(row, &kmemtrace_rows, list)
		if (row->places && !strcmp(row->name, mark->name) &&
		    !strcmp(row->format, mark->format) &&
		    !strcmp(row->module, module))
			return row;
	return NULL;
}

/*
 * Add a row for an annotation.  Return NULL if the annotation cannot be recorded,
 * because memory is short or its format is not supported.  Context:
 * kmemtrace_marks_mutex is held.
 */
static struct kmemtrace_mark_row *
kmemtrace_new_row(const struct kmemtrace_mark *mark, const char *module,
		  u64 appeared)
{
	size_t name_size = strlen(mark->name) + 1;
	size_t format_size = strlen(mark->format) + 1;
	struct kmemtrace_mark_row *row;

	row = kzalloc(struct_size(row, name, name_size + format_size),
		      GFP_KERNEL);
	if (!row)
		return NULL;
	if (!kmemtrace_mark_types(mark, row->types, row->string_max)) {
		pr_warn("annotation %s has a format that cannot be recorded: %s\n",
			mark->name, mark->format);
		kfree(row);
		return NULL;
	}
	row->appeared = appeared;
	row->number = ++kmemtrace_last_mark;
	strscpy(row->module, module, sizeof(row->module));
	memcpy(row->name, mark->name, name_size);
	memcpy(row->name + name_size, mark->format, format_size);
	row->format = row->name + name_size;
	list_add_tail(&row->list, &kmemtrace_rows);
	return row;
}

/* Return the name of the annotations, without the prefix of the switch. */
static const char *kmemtrace_mark_name(const struct kmemtrace_mark_name *name)
{
	return name->name + strlen(KMEMTRACE_MARK_PREFIX);
}

/*
 * Return the entry of the annotations with the name @wanted, or NULL.  Context:
 * kmemtrace_marks_mutex is held.
 */
static struct kmemtrace_mark_name *kmemtrace_find_name(const char *wanted)
{
	struct kmemtrace_mark_name *name;

	list_for_each_entry(name, &kmemtrace_mark_names, list)
		if (!strcmp(kmemtrace_mark_name(name), wanted))
			return name;
	return NULL;
}

static void kmemtrace_switch_place(struct kmemtrace_mark *mark, bool on)
{
	if (on)
		static_branch_enable(&mark->key);
	else
		static_branch_disable(&mark->key);
}

/* The callback of a switch: turn the keys of all places with its name on or off. */
static int kmemtrace_mark_set(struct kmemtrace_switch *sw, bool on)
{
	struct kmemtrace_mark_name *name =
		container_of(sw, struct kmemtrace_mark_name, sw);
	struct kmemtrace_mark_row *row;
	struct kmemtrace_mark *mark;

	mutex_lock(&kmemtrace_marks_mutex);
	name->on = on;
	list_for_each_entry(row, &kmemtrace_rows, list) {
		if (strcmp(row->name, kmemtrace_mark_name(name)))
			continue;
		for (mark = row->places; mark; mark = mark->next)
			kmemtrace_switch_place(mark, on);
	}
	mutex_unlock(&kmemtrace_marks_mutex);
	return 0;
}

static const char *kmemtrace_or_dash(const char *word)
{
	return *word ? word : "-";
}

/* Print how many annotations in loaded code have this name, and a line for each. */
static void kmemtrace_mark_info(struct seq_file *m,
				const struct kmemtrace_switch *sw)
{
	const struct kmemtrace_mark_name *name =
		container_of(sw, struct kmemtrace_mark_name, sw);
	const struct kmemtrace_mark_row *row;
	unsigned int n = 0;

	mutex_lock(&kmemtrace_marks_mutex);
	list_for_each_entry(row, &kmemtrace_rows, list)
		n += row->places && !strcmp(row->name, kmemtrace_mark_name(name));
	seq_printf(m, "%u", n);
	list_for_each_entry(row, &kmemtrace_rows, list) {
		if (!row->places || strcmp(row->name, kmemtrace_mark_name(name)))
			continue;
		seq_printf(m, "\nmark %u %s %s %s ", row->number,
			   kmemtrace_or_dash(row->module),
			   kmemtrace_or_dash(row->types), row->name);
		kmemtrace_put_escaped(m, row->format);
	}
	mutex_unlock(&kmemtrace_marks_mutex);
}

/*
 * Make a switch for the name of @mark, unless the name has a switch, or @mark has no
 * number.  Context: kmemtrace_mark_names_mutex is held.
 */
static void kmemtrace_add_name(const struct kmemtrace_mark *mark)
{
	size_t size = strlen(KMEMTRACE_MARK_PREFIX) + strlen(mark->name) + 1;
	struct kmemtrace_mark_name *name;

	if (!mark->number)
		return;
	mutex_lock(&kmemtrace_marks_mutex);
	name = kmemtrace_find_name(mark->name);
	mutex_unlock(&kmemtrace_marks_mutex);
	if (name)
		return;
	name = kzalloc(struct_size(name, name, size), GFP_KERNEL);
	if (!name) {
		pr_warn("annotation %s cannot be switched on: no memory\n",
			mark->name);
		return;
	}
	snprintf(name->name, size, KMEMTRACE_MARK_PREFIX "%s", mark->name);
	name->sw.name = name->name;
	name->sw.event_id = KMEMTRACE_EVENT_MARK;
	name->sw.set = kmemtrace_mark_set;
	name->sw.show = kmemtrace_mark_info;
	mutex_lock(&kmemtrace_marks_mutex);
	list_add_tail(&name->list, &kmemtrace_mark_names);
	mutex_unlock(&kmemtrace_marks_mutex);
	/* Registration cannot fail, because kmemtrace_mark_set() cannot fail. */
	kmemtrace_switch_register(&name->sw);
}

/* Add a place to its row, or to a new row.  @module: "" for the kernel image. */
static void kmemtrace_add_place(struct kmemtrace_mark *mark, const char *module,
				u64 appeared)
{
	const struct kmemtrace_mark_name *name;
	struct kmemtrace_mark_row *row;
	unsigned int i;

	mutex_lock(&kmemtrace_marks_mutex);
	row = kmemtrace_find_row(mark, module) ?:
	      kmemtrace_new_row(mark, module, appeared);
	if (row) {
		for (i = 0; i < mark->n_args; i++)
			if (row->types[i] == 's')
				mark->strings |= BIT(i);
		memcpy(mark->string_max, row->string_max,
		       sizeof(mark->string_max));
		mark->number = row->number;
		mark->next = row->places;
		row->places = mark;
		name = kmemtrace_find_name(mark->name);
		if (name && name->on)
			kmemtrace_switch_place(mark, true);
	} else {
		kmemtrace_unnumbered_marks++;
	}
	mutex_unlock(&kmemtrace_marks_mutex);
}

static void kmemtrace_add_places(struct kmemtrace_mark *marks, unsigned int n,
				 const char *module, u64 appeared)
{
	unsigned int i;

	mutex_lock(&kmemtrace_mark_names_mutex);
	for (i = 0; i < n; i++)
		kmemtrace_add_place(&marks[i], module, appeared);
	for (i = 0; i < n; i++)
		kmemtrace_add_name(&marks[i]);
	mutex_unlock(&kmemtrace_mark_names_mutex);
}

/* Drop the rows of modules that were unloaded before the session that begins. */
static void kmemtrace_marks_begin(void)
{
	struct kmemtrace_mark_row *row, *next;

	mutex_lock(&kmemtrace_marks_mutex);
	list_for_each_entry_safe(row, next, &kmemtrace_rows, list) {
		if (row->places)
			continue;
		list_del(&row->list);
		kfree(row);
	}
	mutex_unlock(&kmemtrace_marks_mutex);
}

static void *kmemtrace_marks_start(struct seq_file *m, loff_t *pos)
{
	mutex_lock(&kmemtrace_marks_mutex);
	return seq_list_start_head(&kmemtrace_rows, *pos);
}

static void *kmemtrace_marks_next(struct seq_file *m, void *v, loff_t *pos)
{
	return seq_list_next(v, &kmemtrace_rows, pos);
}

static void kmemtrace_marks_stop(struct seq_file *m, void *v)
{
	mutex_unlock(&kmemtrace_marks_mutex);
}

static int kmemtrace_marks_show(struct seq_file *m, void *v)
{
	const struct kmemtrace_mark_row *row;

	if (v == &kmemtrace_rows) {
		seq_puts(m, "# kmemtrace: marks\n"
			 "# columns: number appeared went module types name format\n");
		seq_printf(m, "# unnumbered: %lu\n", kmemtrace_unnumbered_marks);
		return 0;
	}
	row = list_entry(v, struct kmemtrace_mark_row, list);
	seq_printf(m, "%u %llu ", row->number, row->appeared);
	if (row->places)
		seq_putc(m, '-');
	else
		seq_printf(m, "%llu", row->went);
	seq_printf(m, " %s %s %s ", kmemtrace_or_dash(row->module),
		   kmemtrace_or_dash(row->types), row->name);
	kmemtrace_put_escaped(m, row->format);
	seq_putc(m, '\n');
	return 0;
}

KMEMTRACE_SEQ_FOPS(kmemtrace_marks);

/* --- Modules ----------------------------------------------------------------- */

#ifdef CONFIG_MODULES

/* Return whether a place has this name.  Context: kmemtrace_marks_mutex is held. */
static bool kmemtrace_name_is_used(const struct kmemtrace_mark_name *name)
{
	const struct kmemtrace_mark_row *row;

	list_for_each_entry(row, &kmemtrace_rows, list)
		if (row->places && !strcmp(row->name, kmemtrace_mark_name(name)))
			return true;
	return false;
}

/*
 * Remove the names that no place has.  Context: kmemtrace_mark_names_mutex is held, so
 * that no name is added meanwhile.
 */
static void kmemtrace_remove_names(void)
{
	struct kmemtrace_mark_name *name, *next;
	LIST_HEAD(unused);

	mutex_lock(&kmemtrace_marks_mutex);
	list_for_each_entry_safe(name, next, &kmemtrace_mark_names, list)
		if (!kmemtrace_name_is_used(name))
			list_move(&name->list, &unused);
	mutex_unlock(&kmemtrace_marks_mutex);
	list_for_each_entry_safe(name, next, &unused, list) {
		kmemtrace_switch_unregister(&name->sw);
		kfree(name);
	}
}

/*
 * Mark the rows of a module that is being unloaded.  The keys of its places need not
 * change: of the module's code, only asynchronous functions may still run, and the
 * places exist until these functions have ended.
 */
static void kmemtrace_marks_going(const struct module *module)
{
	struct kmemtrace_mark_row *row;

	mutex_lock(&kmemtrace_mark_names_mutex);
	mutex_lock(&kmemtrace_marks_mutex);
	list_for_each_entry(row, &kmemtrace_rows, list) {
		if (!row->places || strcmp(row->module, module->name))
			continue;
		row->places = NULL;
		row->went = kmemtrace_clock();
	}
	mutex_unlock(&kmemtrace_marks_mutex);
	kmemtrace_remove_names();
	mutex_unlock(&kmemtrace_mark_names_mutex);
}

static int kmemtrace_marks_notify(struct notifier_block *self,
				  unsigned long state, void *data)
{
	struct module *module = data;

	if (!module->num_kmemtrace_marks)
		return NOTIFY_DONE;
	if (state == MODULE_STATE_COMING)
		kmemtrace_add_places(module->kmemtrace_marks,
				     module->num_kmemtrace_marks, module->name,
				     kmemtrace_clock());
	else if (state == MODULE_STATE_GOING)
		kmemtrace_marks_going(module);
	return NOTIFY_DONE;
}

/* Runs after the notifier of jump labels, which registers the keys of a module. */
static struct notifier_block kmemtrace_marks_notifier = {
	.notifier_call	= kmemtrace_marks_notify,
	.priority	= 0,
};

static void kmemtrace_follow_modules(void)
{
	if (register_module_notifier(&kmemtrace_marks_notifier))
		pr_err("cannot follow the annotations of modules\n");
}

#else

static void kmemtrace_follow_modules(void)
{
}

#endif /* CONFIG_MODULES */

static void kmemtrace_marks_init(void)
{
	if (kmemtrace_abi < 2)
		return;
	/* The marker comes first, so that its number is KMEMTRACE_MARK_MARKER. */
	kmemtrace_add_places(&kmemtrace_marker, 1, "", 0);
	kmemtrace_add_places(__start___kmemtrace_marks,
			     __stop___kmemtrace_marks - __start___kmemtrace_marks,
			     "", 0);
	kmemtrace_follow_modules();
}

static const struct kmemtrace_file kmemtrace_marks_files[] = {
	{ "marker", 0200, &kmemtrace_marker_fops, 2 },
	{ "marks",  0400, &kmemtrace_marks_fops, 2 },
	{ }
};

struct kmemtrace_feature kmemtrace_marks_feature = {
	.init	= kmemtrace_marks_init,
	.begin	= kmemtrace_marks_begin,
	.files	= kmemtrace_marks_files,
};
