// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmemtrace: records of annotations: those in code, <linux/kmemtrace_mark.h>,
 * and the lines that user space writes to the file marker.
 *
 * A mark is the one or more records of an annotation.  Room for all records of a mark
 * is reserved at once, with interrupts off, so that no other record comes between them,
 * and either all of them are recorded or none.
 */

#define pr_fmt(fmt) "kmemtrace: " fmt

#include <linux/bits.h>
#include <linux/ctype.h>
#include <linux/err.h>
#include <linux/export.h>
#include <linux/fs.h>
#include <linux/instruction_pointer.h>
#include <linux/irqflags.h>
#include <linux/jump_label.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/kmemtrace_mark.h>
#include <linux/kmemtrace_test.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/preempt.h>
#include <linux/ratelimit.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "compat.h"
#include "file_util.h"
#include "format.h"
#include "mark_record.h"
#include "session.h"
#include "writer.h"

/* The descriptor of the lines that user space writes to the file marker. */
struct kmemtrace_mark kmemtrace_marker = {
	.key	= STATIC_KEY_FALSE_INIT,
	.n_args	= 1,
	.name	= "marker",
	.format	= "%s",
};

kmemtrace_mark_fn *kmemtrace_mark_hook;

/* Call kmemtrace_mark_hook, if it is set: see kmemtrace_mark_fn.  Any context. */
static void kmemtrace_mark_done(const struct kmemtrace_mark *mark,
				unsigned long caller)
{
	kmemtrace_mark_fn *hook = READ_ONCE(kmemtrace_mark_hook);

	if (hook)
		hook(mark->name, caller);
}

/*
 * Return the string at the address @word or, for an invalid address, the text that
 * vsnprintf() prints for it.
 */
static const char *kmemtrace_mark_string(u64 word)
{
	const char *s = (const char *)(unsigned long)word;

	if (!s)
		return "(null)";
	if ((unsigned long)s < PAGE_SIZE || IS_ERR(s))
		return "(efault)";
	return s;
}

/* The state while the records of a mark are written. */
struct kmemtrace_mark_writer {
	struct kmemtrace_event_mark	head;	/* next record, without payload */
	struct kmemtrace_event_mark	*event;	/* current record, or NULL */
	unsigned int			used;	/* payload bytes written to event */
};

static void kmemtrace_finish_record(struct kmemtrace_mark_writer *w)
{
	if (!w->event)
		return;
	memset((u8 *)w->event->payload + w->used, 0,
	       sizeof(w->event->payload) - w->used);
	kmemtrace_commit_record();
	w->event = NULL;
}
NOKPROBE_SYMBOL(kmemtrace_finish_record);

static void kmemtrace_begin_record(struct kmemtrace_mark_writer *w)
{
	struct kmemtrace_event_mark *event = kmemtrace_next_record();

	memcpy(event, &w->head, offsetof(struct kmemtrace_event_mark, payload));
	event->timestamp = w->head.timestamp;
	event->pid = w->head.pid;
	event->payload_size = w->head.payload_size;
	event->flags = w->head.flags;
	/* A record may be larger than the struct: clear the rest of the record. */
	memset(event + 1, 0, kmemtrace_record_size - sizeof(*event));
	w->event = event;
	w->used = 0;
	/*
	 * In the first record of a mark, part is the number of further records.  In
	 * each further record, part is the index of the record, from 1.
	 */
	w->head.part = w->head.event_id == KMEMTRACE_EVENT_MARK ?
		       1 : w->head.part + 1;
	w->head.event_id = KMEMTRACE_EVENT_MORE;
}
NOKPROBE_SYMBOL(kmemtrace_begin_record);

static void kmemtrace_put(struct kmemtrace_mark_writer *w, const void *data,
			  size_t size)
{
	size_t n;

	while (size) {
		if (!w->event)
			kmemtrace_begin_record(w);
		n = min(size, sizeof(w->event->payload) - w->used);
		memcpy((u8 *)w->event->payload + w->used, data, n);
		w->used += n;
		data += n;
		size -= n;
		if (w->used == sizeof(w->event->payload))
			kmemtrace_finish_record(w);
	}
}
NOKPROBE_SYMBOL(kmemtrace_put);

/* The values of an annotation, as its records contain them. */
struct kmemtrace_mark_values {
	u64			words[KMEMTRACE_MARK_ARGS];
	/* The strings, whose lengths are in words; NULL for other arguments. */
	const char		*strings[KMEMTRACE_MARK_ARGS];
	unsigned int		n_args;
	unsigned int		payload_size;
};

static void kmemtrace_collect_values(struct kmemtrace_mark_values *values,
				     const struct kmemtrace_mark *mark,
				     const u64 *words)
{
	const char *string;
	unsigned int i;
	size_t length;

	values->n_args = mark->n_args;
	values->payload_size = mark->n_args * sizeof(u64);
	for (i = 0; i < mark->n_args; i++) {
		values->words[i] = words[i];
		values->strings[i] = NULL;
		if (!(mark->strings & BIT(i)))
			continue;
		string = kmemtrace_mark_string(words[i]);
		length = strnlen(string, mark->string_max[i]);
		values->strings[i] = string;
		values->words[i] = length;
		if (length > KMEMTRACE_MARK_STRING) {
			length = KMEMTRACE_MARK_STRING;
			values->words[i] = length | KMEMTRACE_MARK_CUT;
		}
		values->payload_size += round_up(length, sizeof(u64));
	}
}

static void kmemtrace_put_values(struct kmemtrace_mark_writer *w,
				 const struct kmemtrace_mark_values *values)
{
	static const u8 zeros[sizeof(u64)];
	unsigned int i;
	size_t length;

	kmemtrace_put(w, values->words, values->n_args * sizeof(u64));
	for (i = 0; i < values->n_args; i++) {
		if (!values->strings[i])
			continue;
		/* Use the length in words: the string may have changed since then. */
		length = values->words[i] & ~KMEMTRACE_MARK_CUT;
		kmemtrace_put(w, values->strings[i], length);
		kmemtrace_put(w, zeros, -length & (sizeof(u64) - 1));
	}
}
NOKPROBE_SYMBOL(kmemtrace_put_values);

/*
 * Write the records of an annotation.  Return false if the annotation is counted as
 * lost, or if nothing is recorded.  Any context.
 */
static bool kmemtrace_write_mark(const struct kmemtrace_mark *mark,
				 const u64 *words)
{
	struct kmemtrace_mark_values values;
	unsigned int context = preempt_count();
	struct kmemtrace_mark_writer w = { };
	unsigned long flags;
	unsigned int more;
	bool room;

	kmemtrace_collect_values(&values, mark, words);
	more = values.payload_size <= KMEMTRACE_MARK_PAYLOAD ? 0 :
	       DIV_ROUND_UP(values.payload_size, KMEMTRACE_MARK_PAYLOAD) - 1;
	/* Use the raw functions: a tracer of the interrupt flags may cause an event. */
	raw_local_irq_save(flags);
	kmemtrace_test_enter(KMEMTRACE_TEST_RECORDS);
	room = kmemtrace_begin_records(1 + more);
	if (room) {
		w.head.event_id = KMEMTRACE_EVENT_MARK;
		w.head.part = more;
		w.head.event_size = kmemtrace_record_size;
		w.head.mark = mark->number;
		w.head.timestamp = kmemtrace_record_time();
		w.head.pid = current->pid;
		w.head.payload_size = values.payload_size;
		if (kmemtrace_in_interrupt(context))
			w.head.flags = kmemtrace_interrupt_flags(context);
		/* A mark without arguments has one record, too. */
		if (!values.n_args)
			kmemtrace_begin_record(&w);
		kmemtrace_put_values(&w, &values);
		kmemtrace_finish_record(&w);
		kmemtrace_end_records();
	}
	kmemtrace_test_leave(KMEMTRACE_TEST_RECORDS);
	raw_local_irq_restore(flags);
	return room;
}
NOKPROBE_SYMBOL(kmemtrace_write_mark);

void __kmemtrace_mark(const struct kmemtrace_mark *mark, const u64 *words)
{
	kmemtrace_write_mark(mark, words);
	kmemtrace_mark_done(mark, _RET_IP_);
}
EXPORT_SYMBOL_GPL(__kmemtrace_mark);

/* --- The file marker --------------------------------------------------------- */

/* Maximum number of bytes that one write() to the file marker takes. */
#define KMEMTRACE_MARKER_WRITE	SZ_4K

/*
 * Return the length of the line at the start of @text, without its newline, or 0 after
 * logging why the line cannot be a mark.
 */
static size_t kmemtrace_marker_line(const char *text, size_t size)
{
	size_t i;

	for (i = 0; i < size && text[i] != '\n'; i++) {
		if (iscntrl(text[i]) && text[i] != '\t') {
			pr_warn_ratelimited("marker: a line has control characters\n");
			return 0;
		}
		if (i == KMEMTRACE_MARK_STRING) {
			pr_warn_ratelimited("marker: a line is longer than %u bytes\n",
				     KMEMTRACE_MARK_STRING);
			return 0;
		}
	}
	if (!i)
		pr_warn_ratelimited("marker: a line is empty\n");
	return i;
}

static bool kmemtrace_marker_is_text(const char *text, size_t size)
{
	size_t done = 0, length;

	while (done < size) {
		length = kmemtrace_marker_line(text + done, size - done);
		if (!length)
			return false;
		done += length + 1;
	}
	return true;
}

/*
 * Record each line of @text as a mark, up to the first line that cannot be recorded.
 * Return the number of bytes before that line.
 */
static size_t kmemtrace_marker_mark(char *text, size_t size)
{
	size_t done = 0, next;
	char *end;
	u64 word;

	while (done < size) {
		/* memdup_user_nul() has put a NUL behind the text. */
		end = strchrnul(text + done, '\n');
		next = min_t(size_t, end + 1 - text, size);
		*end = '\0';
		word = (unsigned long)(text + done);
		if (!kmemtrace_write_mark(&kmemtrace_marker, &word))
			break;
		kmemtrace_mark_done(&kmemtrace_marker, _THIS_IP_);
		done = next;
		/* The text may have thousands of lines. */
		cond_resched();
	}
	return done;
}

static ssize_t kmemtrace_marker_write(struct file *file,
				      const char __user *buffer, size_t count,
				      loff_t *ppos)
{
	size_t size = min_t(size_t, count, KMEMTRACE_MARKER_WRITE);
	ssize_t result;
	char *text;

	if (!static_key_enabled(&kmemtrace_marker.key))
		return -EBADF;
	if (!count)
		return 0;
	text = memdup_user_nul(buffer, size);
	if (IS_ERR(text))
		return PTR_ERR(text);
	/*
	 * If only a part of the written text was copied, take the whole lines in it.
	 * Without a whole line, the first line is too long; it is refused below.
	 */
	while (count > size && size && text[size - 1] != '\n')
		size--;
	if (!size)
		size = KMEMTRACE_MARKER_WRITE;
	result = -EINVAL;
	if (kmemtrace_marker_is_text(text, size))
		result = kmemtrace_marker_mark(text, size) ?:
			 kmemtrace_is_on() ? -ENOSPC : -EBADF;
	kfree(text);
	return result;
}

static int kmemtrace_marker_open(struct inode *inode, struct file *file)
{
	return kmemtrace_may_open() ?: nonseekable_open(inode, file);
}

const struct file_operations kmemtrace_marker_fops = {
	.owner	= THIS_MODULE,
	.open	= kmemtrace_marker_open,
	.write	= kmemtrace_marker_write,
};
