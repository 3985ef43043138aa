// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Changes that keep a capture a capture: whole records are moved and copied,
 * fields take the values of other records, so that addresses meet again.  What
 * changes single bytes only would seldom get behind the first record that is
 * not where the one before ends.
 */
#include "config.h"

#include "fuzz/container.h"
#include "fuzz/target.h"

#include <kmemtrace_abi.h>
#include <string.h>

#define RECORD	   KMEMTRACE_EVENT_SIZE_V1
#define MAX_TEXTS  16384
#define MAX_NUMBER 4 /* of changes at once */

typedef struct kmemtrace_event Record __attribute__((aligned(1)));

static guint64 state;

static guint draw(guint below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return below ? (guint)((state >> 16) % below) : 0;
}

/* A file that has a whole record; NULL if the one drawn has none. */
static GByteArray *draw_file(const KmtContainer *c)
{
	GByteArray *data = c->n_files ? c->files[draw(c->n_files)].data : NULL;

	return data && data->len >= RECORD ? data : NULL;
}

static Record *draw_record(GByteArray *data)
{
	return (Record *)(data->data + draw(data->len / RECORD) * RECORD);
}

static void insert(GByteArray *data, guint at, const Record *record)
{
	Record copy = *record;
	guint old = data->len;

	if (old + RECORD > G_MAXUINT16)
		return;
	g_byte_array_set_size(data, old + RECORD);
	memmove(data->data + at + RECORD, data->data + at, old - at);
	memcpy(data->data + at, &copy, RECORD);
}

static void copy_field(Record *to, const Record *from)
{
	switch (draw(8)) {
	case 0:
	case 1:
	case 2:
		to->ptr = from->ptr;
		break;
	case 3:
		to->timestamp = from->timestamp;
		break;
	case 4:
		to->call_site = from->call_site;
		break;
	case 5:
		to->bytes_req = from->bytes_req;
		to->bytes_alloc = from->bytes_alloc;
		break;
	case 6:
		to->type_id = from->type_id;
		break;
	case 7:
		to->gfp_flags = from->gfp_flags;
		to->node = from->node;
		break;
	}
}

static void change_time(const KmtContainer *c, Record *r)
{
	static const gint64 steps[] = {1,	10,	 1000,	    999999,
				       1000000, 1000001, 1000000000};
	guint64 step = (guint64)steps[draw(G_N_ELEMENTS(steps))];
	guint64 time = (guint64)r->timestamp;

	switch (draw(6)) {
	case 0:
		time = draw(2) ? (guint64)G_MAXINT64 - draw(2)
			       : (guint64)G_MININT64 + draw(2);
		break;
	case 1:
		time = 0;
		break;
	case 2:
	case 3:
		time -= step;
		break;
	default:
		time += step;
		break;
	}
	r->timestamp = (gint64)time;
}

static void change_number(Record *r)
{
	static const guint64 numbers[] = {
		0,	     1,		 7,
		8,	     4095,	 4096,
		G_MAXUINT32, G_MAXINT64, G_MAXUINT64 - 1,
		G_MAXUINT64};
	guint64 number = numbers[draw(G_N_ELEMENTS(numbers))];

	switch (draw(6)) {
	case 0:
		r->bytes_req = number;
		break;
	case 1:
		r->bytes_alloc = number;
		break;
	case 2:
		r->ptr = number;
		break;
	case 3:
		r->gfp_flags = number;
		break;
	case 4:
		r->event_size = (guint16)number;
		break;
	case 5:
		r->node = (gint32)number;
		break;
	}
}

static void swap_order(KmtContainer *c)
{
	guint i, at;

	for (i = 0; i < c->n_files; i++) {
		GByteArray *data = c->files[i].data;

		for (at = 0; at + RECORD <= data->len; at += RECORD) {
			Record *r = (Record *)(data->data + at);

			r->event_size = GUINT16_SWAP_LE_BE(r->event_size);
			r->ptr = GUINT64_SWAP_LE_BE(r->ptr);
			r->timestamp = (gint64)GUINT64_SWAP_LE_BE(
				(guint64)r->timestamp);
		}
	}
}

static void change_meta(KmtContainer *c)
{
	/* Of kmemtrace.meta, and of a command line; what is in the wrong place
	 * does little. */
	static const char *const lines[] = {
		"[capture]\n",
		"complete=true\n",
		"complete=false\n",
		"continues=true\n",
		"overruns=0\n",
		"overruns=1\n",
		"overruns=18446744073709551615\n",
		"record_size=56\n",
		"record_size=64\n",
		"byte_order=little\n",
		"byte_order=big\n",
		"kernel_release=6.1.0\n",
		"[cpu0]\n",
		"[cpu1]\n",
		"[cpu65534]\n",
		"node=0\n",
		"node=1\n",
		"events=0\n",
		"events=9\n",
		"abi_version=2\n",
		"record_size=72\n",
		"# columns: stack addresses\n",
		"2147483649 ffffffff81000010,ffffffff81000100\n",
		"bytes=56\n",
		"bytes=112\n",
		"--by\n",
		"callsite\n",
		"function,size\n",
		"kind,cache,cpu,node,gfp\n",
		"module,directory\n",
		"pid,comm,context\n",
		"stack\n",
		"--stacks\n",
		"--fields\n",
		"live,peak,lifetime-median,lifetime-p99,churn\n",
		"--sort\n",
		"-live,+ptr\n",
		"--lines\n",
		"2\n",
		"--slab\n",
		"--page\n",
		"--live\n",
		"--leaks\n",
		"--cross-cpu\n",
		"--before-trace\n",
		"--time\n",
		"peak\n",
		"0.000001,0.001\n",
		"--windows\n",
		"10\n",
		"--histogram\n",
		"lifetime\n",
		"size\n",
		"--churn\n",
		"1us\n",
		"--kind\n",
		"kmalloc,pages\n",
		"--cpu\n",
		"0-1\n",
		"--node\n",
		"--size\n",
		"8-4k\n",
		"--lifetime\n",
		"1us-\n",
		"--callsite\n",
		"*alloc*\n",
		"--module\n",
		"--json\n",
		"--csv\n",
		"--folded\n",
		"--raw-ip\n",
	};
	const char *line = lines[draw(G_N_ELEMENTS(lines))];
	guint old = c->texts->len, at = draw(old + 1);
	guint length = (guint)strlen(line);

	if (old + length > MAX_TEXTS || draw(3) == 0) {
		g_byte_array_set_size(c->texts, MAX_TEXTS);
		g_byte_array_set_size(
			c->texts, (guint)LLVMFuzzerMutate(c->texts->data,
							  MIN(old, MAX_TEXTS),
							  MAX_TEXTS));
		return;
	}
	while (at && c->texts->data[at - 1] != '\n' &&
	       c->texts->data[at - 1] != '\0')
		at--;
	g_byte_array_set_size(c->texts, old + length);
	memmove(c->texts->data + at + length, c->texts->data + at, old - at);
	memcpy(c->texts->data + at, line, length);
}

static void change_files(KmtContainer *c)
{
	KmtContainerFile *file;

	if (c->n_files && draw(3) == 0) {
		file = &c->files[draw(c->n_files)];
		switch (draw(3)) {
		case 0:
			file->cpu = (guint8)draw(KMT_CONTAINER_FILES);
			break;
		case 1: /* in the middle of a record */
			g_byte_array_set_size(file->data,
					      draw(file->data->len + 1));
			break;
		case 2:
			g_byte_array_unref(file->data);
			*file = c->files[--c->n_files];
			break;
		}
	} else if (c->n_files < KMT_CONTAINER_FILES) {
		file = &c->files[c->n_files++];
		file->cpu = (guint8)draw(KMT_CONTAINER_FILES);
		file->data = g_byte_array_new();
	}
}

static void change_record(KmtContainer *c, GByteArray *data)
{
	Record *r = draw_record(data);
	guint at = (guint)((guint8 *)r - data->data);
	GByteArray *other = draw_file(c);
	Record copy;

	switch (draw(12)) {
	case 0: /* leave out */
		g_byte_array_remove_range(data, at, RECORD);
		break;
	case 1:
	case 2: /* again, here or on another CPU */
		other = c->files[draw(c->n_files)].data;
		insert(other, draw(other->len / RECORD + 1) * RECORD, r);
		break;
	case 3: /* to another CPU */
		copy = *r;
		g_byte_array_remove_range(data, at, RECORD);
		other = c->files[draw(c->n_files)].data;
		insert(other, draw(other->len / RECORD + 1) * RECORD, &copy);
		break;
	case 4:
	case 5:
		if (other)
			copy_field(r, draw_record(other));
		break;
	case 6:
		r->event_id = (guint8)(1 + (r->event_id == 1));
		break;
	case 7:
		r->type_id = (guint8)draw(3);
		break;
	case 8:
	case 9:
		change_time(c, r);
		break;
	case 10:
		change_number(r);
		break;
	case 11:
		LLVMFuzzerMutate((guint8 *)r, RECORD, RECORD);
		break;
	}
}

void kmt_container_mutate(KmtContainer *c, guint seed)
{
	guint n;

	state = seed * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15) + 1;
	for (n = 1 + draw(MAX_NUMBER); n; n--) {
		GByteArray *data = draw_file(c);
		guint what = draw(24);

		if (what == 0)
			swap_order(c);
		else if (what == 1)
			c->options = (guint8)draw(256);
		else if (what <= 4)
			change_meta(c);
		else if (what == 5 || !c->n_files)
			change_files(c);
		else if (data)
			change_record(c, data);
		else
			c->options ^= (guint8)draw(8);
	}
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
			       unsigned int seed)
{
	g_auto(KmtContainer) container = {0};

	kmt_container_parse(&container, data, size);
	if (seed % 4 == 0)
		return LLVMFuzzerMutate(data, size, max_size);
	kmt_container_mutate(&container, seed);
	return kmt_container_write(&container, data, max_size);
}
