// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmemtrace: the file info, which describes the records and the session, and the file
 * reset.  <linux/kmemtrace_abi.h> describes the contents of info.
 */

#define pr_fmt(fmt) "kmemtrace: " fmt

#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/ratelimit.h>
#include <linux/seq_file.h>
#include <linux/stddef.h>

#include "buffer.h"
#include "clock.h"
#include "features.h"
#include "file_util.h"
#include "format.h"
#include "geometry.h"
#include "session.h"
#include "switch.h"

/* --- Records --------------------------------------------------------------------- */

struct kmemtrace_field {
	const char *name;
	u16 offset;
	u8 bytes;
	bool is_signed;
};

#define KMEMTRACE_FIELD_AT(type, member, field)				\
	{								\
		.name = #field,						\
		.offset = offsetof(struct type, member),		\
		.bytes = sizeof_field(struct type, member),		\
		.is_signed = is_signed_type(typeof(((struct type *)0)->member)), \
	}
#define KMEMTRACE_TEXT_FIELD(type, field)				\
	{								\
		.name = #field,						\
		.offset = offsetof(struct type, field),			\
		.bytes = sizeof_field(struct type, field),		\
	}
#define KMEMTRACE_FIELD(field)						\
	KMEMTRACE_FIELD_AT(kmemtrace_event_v2, v1.field, field)
#define KMEMTRACE_FIELD_V2(field)					\
	KMEMTRACE_FIELD_AT(kmemtrace_event_v2, field, field)
#define KMEMTRACE_FIELD_LOST(field)					\
	KMEMTRACE_FIELD_AT(kmemtrace_event_lost, field, field)
#define KMEMTRACE_FIELD_STOP(field)					\
	KMEMTRACE_FIELD_AT(kmemtrace_event_stop, field, field)
#define KMEMTRACE_FIELD_MARK(field)					\
	KMEMTRACE_FIELD_AT(kmemtrace_event_mark, field, field)

static const struct kmemtrace_field kmemtrace_fields[] = {
	KMEMTRACE_FIELD(event_id),
	KMEMTRACE_FIELD(type_id),
	KMEMTRACE_FIELD(event_size),
	KMEMTRACE_FIELD(node),
	KMEMTRACE_FIELD(call_site),
	KMEMTRACE_FIELD(ptr),
	KMEMTRACE_FIELD(bytes_req),
	KMEMTRACE_FIELD(bytes_alloc),
	KMEMTRACE_FIELD(gfp_flags),
	KMEMTRACE_FIELD(timestamp),
	KMEMTRACE_FIELD_V2(pid),
	KMEMTRACE_FIELD_V2(cache),
	KMEMTRACE_FIELD_V2(flags),
	KMEMTRACE_FIELD_AT(kmemtrace_event_v2s, stack, stack),
};

static const struct kmemtrace_field kmemtrace_lost_fields[] = {
	KMEMTRACE_FIELD_LOST(event_id),
	KMEMTRACE_FIELD_LOST(type_id),
	KMEMTRACE_FIELD_LOST(event_size),
	KMEMTRACE_FIELD_LOST(node),
	KMEMTRACE_FIELD_LOST(events),
	KMEMTRACE_FIELD_LOST(since),
	KMEMTRACE_FIELD_LOST(timestamp),
};

static const struct kmemtrace_field kmemtrace_mark_fields[] = {
	KMEMTRACE_FIELD_MARK(event_id),
	KMEMTRACE_FIELD_MARK(part),
	KMEMTRACE_FIELD_MARK(event_size),
	KMEMTRACE_FIELD_MARK(mark),
	KMEMTRACE_FIELD_AT(kmemtrace_event_mark, payload[0], payload0),
	KMEMTRACE_FIELD_AT(kmemtrace_event_mark, payload[1], payload1),
	KMEMTRACE_FIELD_AT(kmemtrace_event_mark, payload[2], payload2),
	KMEMTRACE_FIELD_AT(kmemtrace_event_mark, payload[3], payload3),
	KMEMTRACE_FIELD_AT(kmemtrace_event_mark, payload[4], payload4),
	KMEMTRACE_FIELD_MARK(timestamp),
	KMEMTRACE_FIELD_MARK(pid),
	KMEMTRACE_FIELD_MARK(payload_size),
	KMEMTRACE_FIELD_MARK(flags),
};

static const struct kmemtrace_field kmemtrace_stop_fields[] = {
	KMEMTRACE_FIELD_STOP(event_id),
	KMEMTRACE_FIELD_STOP(type_id),
	KMEMTRACE_FIELD_STOP(event_size),
	KMEMTRACE_FIELD_STOP(node),
	KMEMTRACE_FIELD_STOP(call_site),
	KMEMTRACE_TEXT_FIELD(kmemtrace_event_stop, why),
	KMEMTRACE_FIELD_STOP(timestamp),
	KMEMTRACE_FIELD_STOP(pid),
};

static void kmemtrace_show_record(struct seq_file *m, unsigned int event_id,
				  const char *name,
				  const struct kmemtrace_field *fields,
				  unsigned int n)
{
	seq_printf(m, "record %u %s\n", event_id, name);
	for (; n--; fields++) {
		if (fields->offset + fields->bytes > kmemtrace_record_size)
			continue;
		seq_printf(m, "field %s ", fields->name);
		if (fields->bytes > sizeof(u64))
			seq_puts(m, "text");
		else
			seq_printf(m, "%c%u", fields->is_signed ? 's' : 'u',
				   8U * fields->bytes);
		seq_printf(m, " %u %u %s\n", fields->offset, fields->bytes,
			   fields->is_signed ? "signed" : "unsigned");
	}
}

static void kmemtrace_show_records(struct seq_file *m)
{
	kmemtrace_show_record(m, KMEMTRACE_EVENT_ALLOC, "alloc",
			      kmemtrace_fields, ARRAY_SIZE(kmemtrace_fields));
	kmemtrace_show_record(m, KMEMTRACE_EVENT_FREE, "free",
			      kmemtrace_fields, ARRAY_SIZE(kmemtrace_fields));
	if (kmemtrace_abi < 2)
		return;
	kmemtrace_show_record(m, KMEMTRACE_EVENT_LOST, "lost",
			      kmemtrace_lost_fields,
			      ARRAY_SIZE(kmemtrace_lost_fields));
	kmemtrace_show_record(m, KMEMTRACE_EVENT_MARK, "mark",
			      kmemtrace_mark_fields,
			      ARRAY_SIZE(kmemtrace_mark_fields));
	kmemtrace_show_record(m, KMEMTRACE_EVENT_MORE, "more",
			      kmemtrace_mark_fields,
			      ARRAY_SIZE(kmemtrace_mark_fields));
	kmemtrace_show_record(m, KMEMTRACE_EVENT_STOP, "stop",
			      kmemtrace_stop_fields,
			      ARRAY_SIZE(kmemtrace_stop_fields));
	if (kmemtrace_abi < 3)
		return;
	kmemtrace_show_record(m, KMEMTRACE_EVENT_DEFER, "defer",
			      kmemtrace_fields, ARRAY_SIZE(kmemtrace_fields));
}

/* --- info ------------------------------------------------------------------------ */

static void kmemtrace_show_head(struct seq_file *m)
{
	seq_puts(m, "# kmemtrace: info\n");
	seq_printf(m, "# abi_version: %u\n", kmemtrace_abi);
	seq_printf(m, "# record_size: %u\n", kmemtrace_record_size);
	seq_printf(m, "# byte_order: %s\n",
		   IS_ENABLED(CONFIG_CPU_BIG_ENDIAN) ? "big" : "little");
	seq_printf(m, "# word_size: %zu\n", sizeof(long));
	seq_printf(m, "# clock: %s\n", kmemtrace_clock_name());
	seq_printf(m, "# enabled: %d\n", kmemtrace_is_on());
	seq_printf(m, "# session: %lu\n", kmemtrace_session());
	seq_printf(m, "# subbufs: %u\n", kmemtrace_subbufs);
	seq_printf(m, "# subbuf_size: %u\n", kmemtrace_subbuf_size);
	seq_printf(m, "# mode: %s\n",
		   READ_ONCE(kmemtrace_overwrite) ? "overwrite" : "discard");
	kmemtrace_call_features(show_info, m);
}

static const char *const kmemtrace_types[] = {
	[KMEMTRACE_TYPE_KMALLOC] = "kmalloc",
	[KMEMTRACE_TYPE_CACHE] = "cache",
	[KMEMTRACE_TYPE_PAGES] = "pages",
	[KMEMTRACE_TYPE_PERCPU] = "percpu",
	[KMEMTRACE_TYPE_VMALLOC] = "vmalloc",
};

static int kmemtrace_info_show(struct seq_file *m, void *v)
{
	unsigned int i;

	mutex_lock(&kmemtrace_mutex);
	kmemtrace_show_head(m);
	kmemtrace_show_records(m);
	for (i = 0; i < ARRAY_SIZE(kmemtrace_types); i++)
		if (i <= KMEMTRACE_TYPE_PAGES || kmemtrace_abi >= 2)
			seq_printf(m, "type %u %s\n", i, kmemtrace_types[i]);
	kmemtrace_switches_show(m);
	mutex_unlock(&kmemtrace_mutex);
	return 0;
}
KMEMTRACE_SHOW_FOPS(kmemtrace_info);

/* --- reset ----------------------------------------------------------------------- */

static ssize_t kmemtrace_reset_write(struct file *file,
				     const char __user *buffer, size_t count,
				     loff_t *ppos)
{
	bool yes;
	int err;

	err = kmemtrace_bool_from_user("reset", "1", buffer, count, &yes);
	if (err)
		return err;
	if (!yes) {
		pr_warn_ratelimited("reset takes 1, not 0\n");
		return -EINVAL;
	}
	kmemtrace_reset();
	return count;
}

static const struct file_operations kmemtrace_reset_fops = {
	.owner	= THIS_MODULE,
	.open	= kmemtrace_simple_open,
	.write	= kmemtrace_reset_write,
};

static const struct kmemtrace_file kmemtrace_info_files[] = {
	{ "info",  0400, &kmemtrace_info_fops },
	{ "reset", 0200, &kmemtrace_reset_fops },
	{ }
};

struct kmemtrace_feature kmemtrace_info_feature = {
	.files	= kmemtrace_info_files,
};
