// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "fuzz/container.h"
#include "fuzz/scratch.h"

#include <string.h>

#define HEADER	    2 /* bytes before the files */
#define FILE_HEADER 3 /* bytes before the records of a file */
#define MAX_SIZE    G_MAXUINT16

void kmt_container_parse(KmtContainer *c, const guint8 *data, gsize size)
{
	const guint8 *at = data, *end;
	guint i;

	memset(c, 0, sizeof(*c));
	c->texts = g_byte_array_new();
	if (size < HEADER)
		return;
	end = data + size;
	c->options = at[0];
	c->n_files = at[1] % (KMT_CONTAINER_FILES + 1);
	at += HEADER;
	for (i = 0; i < c->n_files; i++) {
		gsize length = 0;

		c->files[i].data = g_byte_array_new();
		if (end - at >= FILE_HEADER) {
			c->files[i].cpu = at[0];
			length = at[1] | (gsize)at[2] << 8;
			at += FILE_HEADER;
		}
		length = MIN(length, (gsize)(end - at));
		if (length)
			g_byte_array_append(c->files[i].data, at,
					    (guint)length);
		at += length;
	}
	if (at < end)
		g_byte_array_append(c->texts, at, (guint)(end - at));
}

void kmt_container_clear(KmtContainer *c)
{
	guint i;

	for (i = 0; i < c->n_files; i++)
		g_byte_array_unref(c->files[i].data);
	g_byte_array_unref(c->texts);
}

gsize kmt_container_write(const KmtContainer *c, guint8 *data, gsize max)
{
	guint8 *at = data, *end = data + max;
	gsize length;
	guint i;

	if (max < HEADER)
		return 0;
	*at++ = c->options;
	*at++ = (guint8)c->n_files;
	for (i = 0; i < c->n_files && end - at >= FILE_HEADER; i++) {
		length = MIN(c->files[i].data->len, MAX_SIZE);
		length = MIN(length, (gsize)(end - at) - FILE_HEADER);
		at[0] = c->files[i].cpu;
		at[1] = length & 0xff;
		at[2] = (guint8)(length >> 8);
		at += FILE_HEADER;
		if (length)
			memcpy(at, c->files[i].data->data, length);
		at += length;
	}
	length = MIN(c->texts->len, (gsize)(end - at));
	if (length)
		memcpy(at, c->texts->data, length);
	return (gsize)(at - data) + length;
}

char *kmt_container_text(const KmtContainer *c, KmtContainerText which)
{
	const char *at = (const char *)c->texts->data;
	gsize left = c->texts->len;
	guint i;

	for (i = 0; i < which; i++) {
		const char *nul = left ? memchr(at, '\0', left) : NULL;

		if (!nul)
			return NULL;
		left -= (gsize)(nul + 1 - at);
		at = nul + 1;
	}
	return left ? g_strndup(at, left) : NULL;
}

void kmt_container_extract(const KmtContainer *c)
{
	static const char *const names[] = {
		"kmemtrace.meta", "kallsyms", "modules", NULL,
		"caches",	  "tasks",    "stacks",	 "marks",
		"tags",		  "cgroups",  "slabinfo"};
	guint i;

	kmt_scratch_directory();
	for (i = 0; i < c->n_files; i++) {
		g_autofree char *name =
			g_strdup_printf("cpu%u.out", c->files[i].cpu);

		kmt_scratch_write(name, c->files[i].data->data,
				  c->files[i].data->len);
	}
	for (i = 0; i < G_N_ELEMENTS(names); i++) {
		g_autofree char *text =
			kmt_container_text(c, (KmtContainerText)i);

		if (text && names[i])
			kmt_scratch_write(names[i], text, strlen(text));
	}
}

gint64 kmt_container_tolerance(const KmtContainer *c)
{
	static const gint64 tolerances[] = {
		1000000, 0, 1, 10, 1000, 1000000000, -1, G_MAXINT64,
	};

	return tolerances[c->options % G_N_ELEMENTS(tolerances)];
}
