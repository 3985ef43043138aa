// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Mutations, most of which keep the structure of a capture: complete records
 * are moved and copied, and fields get values of other records, so that
 * addresses match.
 * Random changes of single bytes would rarely produce a second valid record.
 */
#include "config.h"

#include "fuzz/boundary.h"
#include "fuzz/container.h"
#include "fuzz/target.h"

#include <kmemtrace_abi.h>
#include <string.h>

#define RECORD	    KMEMTRACE_EVENT_SIZE_V1
#define MAX_RECORD  KMEMTRACE_EVENT_SIZE_V2S /* largest of all versions */
#define MAX_TEXTS   16384
#define MAX_CHANGES 4 /* maximum number of changes per mutation */

typedef struct kmemtrace_event Record __attribute__((aligned(1)));
typedef struct kmemtrace_event_v2s RecordWithStack __attribute__((aligned(1)));
typedef struct kmemtrace_event_mark Mark __attribute__((aligned(1)));

static guint64 state;

static guint random_below(guint below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return below ? (guint)((state >> 16) % below) : 0;
}

/*
 * Return the record size of a file according to its first record, in either
 * byte order, or RECORD if that is no size of a record or there is no record.
 */
static guint record_size_in(const GByteArray *data)
{
	static const guint sizes[] = {RECORD, KMEMTRACE_EVENT_SIZE_V2,
				      MAX_RECORD};
	guint i;

	for (i = 0; i < G_N_ELEMENTS(sizes) && data->len >= sizes[i]; i++)
		if (data->data[2] + data->data[3] == (guint8)sizes[i])
			return sizes[i];
	return RECORD;
}

/*
 * Return a random file. Return NULL if there is no file, or if the selected
 * file is smaller than RECORD.
 */
static GByteArray *random_file(const KmtContainer *c)
{
	GByteArray *data =
		c->n_files ? c->files[random_below(c->n_files)].data : NULL;

	return data && data->len >= RECORD ? data : NULL;
}

static Record *random_record(GByteArray *data)
{
	guint size = record_size_in(data);

	return (Record *)(data->data + random_below(data->len / size) * size);
}

/* Insert a record of @size bytes before a random record of @data or at the end.
 * The record is cut, or padded with zeros, to the record size of @data. A file
 * that would become too large is left unchanged. */
static void insert(GByteArray *data, const guint8 *record, guint size)
{
	guint step = data->len ? record_size_in(data) : size;
	guint8 copy[MAX_RECORD] = {0};
	guint old = data->len, at = random_below(old / step + 1) * step;

	if (old + step > G_MAXUINT16)
		return;
	memcpy(copy, record, size);
	g_byte_array_set_size(data, old + step);
	memmove(data->data + at + step, data->data + at, old - at);
	memcpy(data->data + at, copy, step);
}

static void copy_field(Record *to, const Record *from)
{
	switch (random_below(8)) {
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
	guint64 step = (guint64)steps[random_below(G_N_ELEMENTS(steps))];
	guint64 time = (guint64)r->timestamp;

	switch (random_below(6)) {
	case 0:
		time = random_below(2) ? (guint64)G_MAXINT64 - random_below(2)
				       : (guint64)G_MININT64 + random_below(2);
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
	static const KmtBoundaryField fields[] = {
		KMT_BOUNDARY_BYTES_REQ,	 KMT_BOUNDARY_BYTES_ALLOC,
		KMT_BOUNDARY_PTR,	 KMT_BOUNDARY_GFP_FLAGS,
		KMT_BOUNDARY_EVENT_SIZE, KMT_BOUNDARY_NODE};
	guint64 boundary = kmt_boundaries[random_below(kmt_n_boundaries)];

	kmt_boundary_set(r, fields[random_below(G_N_ELEMENTS(fields))],
			 boundary);
}

/* Change a field of ABI version 2 or 3 in a record of @size bytes. */
static void change_v2(Record *r, guint size)
{
	static const guint16 sizes[] = {0,  8,	16, 40,	 41,	48,
					80, 88, 96, 320, 10240, G_MAXUINT16};
	static const guint64 words[] = {0,
					1,
					5,
					8,
					9,
					256,
					G_MAXUINT16,
					65536,
					KMEMTRACE_MARK_CUT,
					KMEMTRACE_MARK_CUT | 7,
					G_MAXUINT64};
	Mark *mark = (Mark *)r;
	guint8 id = (guint8)(KMEMTRACE_EVENT_LOST + random_below(4));

	switch (random_below(size >= KMEMTRACE_EVENT_SIZE_V2S ? 9 : 8)) {
	case 0:
	case 1:
		r->event_id = id;
		r->type_id = id == KMEMTRACE_EVENT_MORE
				     ? (guint8)random_below(4)
				     : 0;
		break;
	case 2:
		mark->part = (guint8)(random_below(8) ? random_below(4)
						      : random_below(256));
		break;
	case 3:
		mark->mark = random_below(8) ? random_below(6) : G_MAXUINT32;
		break;
	case 4:
		mark->payload_size = sizes[random_below(G_N_ELEMENTS(sizes))];
		break;
	case 5:
		mark->payload[random_below(5)] =
			words[random_below(G_N_ELEMENTS(words))];
		break;
	case 6:
		mark->pid = random_below(9);
		break;
	case 7: /* a DEFER of the same address */
		r->event_id = KMEMTRACE_EVENT_DEFER;
		break;
	case 8:
		((RecordWithStack *)r)->stack =
			random_below(8) ? random_below(6) : 2147483649U;
		break;
	}
}

static void swap_order(KmtContainer *c)
{
	guint i, at;

	for (i = 0; i < c->n_files; i++) {
		GByteArray *data = c->files[i].data;
		guint size = record_size_in(data);

		for (at = 0; at + size <= data->len; at += size) {
			Record *r = (Record *)(data->data + at);

			r->event_size = GUINT16_SWAP_LE_BE(r->event_size);
			r->ptr = GUINT64_SWAP_LE_BE(r->ptr);
			r->timestamp = (gint64)GUINT64_SWAP_LE_BE(
				(guint64)r->timestamp);
		}
	}
}

/* Lines of kmemtrace.meta, of tables, and of command lines. change_meta()
 * inserts each line into any text; in a text of another kind the line has
 * little effect. */
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
	"abi_version=3\n",
	"kernel_release=6.12.0\n",
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
	"comm,cgroup\n",
	"--cgroup\n",
	"cgroups=end\n",
	"1 - /a\n",
	"stack\n",
	"--stacks\n",
	"owner\n",
	"--skip\n",
	"mark\n",
	"mark,stack,owner\n",
	"--marks\n",
	"begin,\n",
	"phase,marker:3\n",
	"filter=pid=1\n",
	"filter_changed=true\n",
	"sample=0\n",
	"sample=7\n",
	"sample=9223372036854775809\n",
	"events_off=kfree;\n",
	"incomplete=one CPU alone;a filter\n",
	"[snapshot]\n",
	"why=oom\n",
	"# columns: number appeared went module types new name "
	"format\n",
	"6 0 - - s marker %s\n",
	"3 0 - mod Iqs phase %-9u%#llx%.3s%c\n",
	"9 0 - - ssssssss many %s%s%s%s%s%s%s%s%s\n",
	"# lost: 3\n",
	"1 ffffffff81000010\n",
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
	"--pprof=x\n",
	"--perfetto=x\n",
	"--raw-ip\n",
};

/*
 * Return an option or a key of kmemtrace.meta with a boundary as its value. The
 * caller frees the string.
 */
static char *random_number_line(void)
{
	static const char *const names[] = {
		"sample",  "overruns",	  "bytes",
		"events",  "node",	  "record_size",
		"subbufs", "subbuf_size", "abi_version",
		"--lines", "--windows",	  "--time",
		"--churn", "--cpu",	  "--node",
		"--size",  "--lifetime",  "--clock-tolerance"};
	g_autofree char *boundary = kmt_boundary_text(random_below(G_MAXUINT8));

	return g_strconcat(names[random_below(G_N_ELEMENTS(names))], "=",
			   boundary, "\n", NULL);
}

static void change_meta(KmtContainer *c)
{
	g_autofree char *boundary = random_number_line();
	const char *line = random_below(3)
				   ? lines[random_below(G_N_ELEMENTS(lines))]
				   : boundary;
	guint old = c->texts->len, at = random_below(old + 1);
	guint length = (guint)strlen(line);

	if (old + length > MAX_TEXTS || random_below(3) == 0) {
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

	if (c->n_files && random_below(3) == 0) {
		file = &c->files[random_below(c->n_files)];
		switch (random_below(3)) {
		case 0:
			file->cpu = (guint8)random_below(KMT_CONTAINER_FILES);
			break;
		case 1: /* cut a file, possibly in the middle of a record */
			g_byte_array_set_size(
				file->data, random_below(file->data->len + 1));
			break;
		case 2:
			g_byte_array_unref(file->data);
			*file = c->files[--c->n_files];
			break;
		}
	} else if (c->n_files < KMT_CONTAINER_FILES) {
		file = &c->files[c->n_files++];
		file->cpu = (guint8)random_below(KMT_CONTAINER_FILES);
		file->data = g_byte_array_new();
	}
}

static void change_record(KmtContainer *c, GByteArray *data)
{
	guint size = record_size_in(data);
	Record *r = random_record(data);
	guint at = (guint)((guint8 *)r - data->data);
	GByteArray *other = random_file(c);
	guint8 copy[MAX_RECORD];

	memcpy(copy, r, size);
	switch (random_below(size < KMEMTRACE_EVENT_SIZE_V2 ? 12 : 15)) {
	case 0: /* remove the record */
		g_byte_array_remove_range(data, at, size);
		break;
	case 1:
	case 2: /* copy the record to the same or another CPU */
		insert(c->files[random_below(c->n_files)].data, copy, size);
		break;
	case 3: /* move the record within a CPU or to another CPU */
		g_byte_array_remove_range(data, at, size);
		insert(c->files[random_below(c->n_files)].data, copy, size);
		break;
	case 4:
	case 5:
		if (other)
			copy_field(r, random_record(other));
		break;
	case 6:
		r->event_id = (guint8)(1 + (r->event_id == 1));
		break;
	case 7:
		r->type_id = (guint8)random_below(
			size < KMEMTRACE_EVENT_SIZE_V2 ? 3 : 5);
		break;
	case 8:
	case 9:
		change_time(c, r);
		break;
	case 10:
		change_number(r);
		break;
	case 11:
		LLVMFuzzerMutate((guint8 *)r, size, size);
		break;
	default:
		change_v2(r, size);
		break;
	}
}

void kmt_container_mutate(KmtContainer *c, guint seed)
{
	guint n;

	state = seed * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15) + 1;
	for (n = 1 + random_below(MAX_CHANGES); n; n--) {
		GByteArray *data = random_file(c);
		guint what = random_below(24);

		if (what == 0)
			swap_order(c);
		else if (what == 1)
			c->options = (guint8)random_below(256);
		else if (what <= 4)
			change_meta(c);
		else if (what == 5 || !c->n_files)
			change_files(c);
		else if (data)
			change_record(c, data);
		else
			c->options ^= (guint8)random_below(8);
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
