// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * zstd-dump FILE RECORD-BYTES: write the records of the complete frames of a
 * cpu<n>.out.zst to stdout, and list the frames on stderr. Exit with status 1
 * if a frame or the seek table violates kmemtrace(5), and with 77 if the
 * program was built without libzstd.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/libzstd.h"

#ifdef HAVE_LIBZSTD

#define MAX_CONTENT (256 * 1024)

typedef struct {
	const KmtLibzstd *lib;
	ZSTD_DCtx *context;
	guint n_frames, n_padding;
	gsize record_bytes;
	GByteArray *entries; /* what the seek table must contain */
	guint8 content[MAX_CONTENT];
} Dump;

static void expect(gboolean condition, const char *what, gsize at)
{
	if (condition)
		return;
	fprintf(stderr, "at byte %zu: %s\n", at, what);
	exit(EXIT_FAILURE);
}

static guint32 u32(const guint8 *from)
{
	return from[0] | (guint32)from[1] << 8 | (guint32)from[2] << 16 |
	       (guint32)from[3] << 24;
}

static void add_u32(GByteArray *array, gsize value)
{
	const guint8 bytes[] = {(guint8)value, (guint8)(value >> 8),
				(guint8)(value >> 16), (guint8)(value >> 24)};

	g_byte_array_append(array, bytes, sizeof(bytes));
}

/* Check the seek table, whose frame has n_bytes. */
static void check_table(const Dump *dump, const guint8 *frame, gsize n_bytes,
			gsize at)
{
	gsize n = dump->entries->len;

	expect(n_bytes == 8 + n + 9, "the seek table has a wrong size", at);
	expect(memcmp(frame + 8, dump->entries->data, n) == 0,
	       "the seek table has a wrong entry", at);
	expect(u32(frame + 8 + n) == n / 8, "wrong number of entries", at);
	expect(frame[8 + n + 4] == 0, "wrong descriptor", at);
	expect(u32(frame + 8 + n + 5) == 0x8f92eab1, "wrong end", at);
}

/* Print the content of a frame of n_bytes. */
static void print_frame(Dump *dump, const guint8 *frame, gsize n_bytes,
			gsize at)
{
	guint64 n = dump->lib->ZSTD_getFrameContentSize(frame, n_bytes);

	expect(n <= MAX_CONTENT, "bad size of content", at);
	expect(n > 0 || at == 0, "an empty frame", at);
	expect(n % dump->record_bytes == 0, "incomplete record", at);
	expect(frame[4] & 4, "no checksum", at);
	expect((frame[4] & 3) == 0, "a dictionary", at);
	expect(dump->lib->ZSTD_decompressDCtx(dump->context, dump->content, n,
					      frame, n_bytes) == n,
	       "cannot be decompressed", at);
	expect(fwrite(dump->content, 1, n, stdout) == n, "cannot print", at);
	add_u32(dump->entries, n_bytes);
	add_u32(dump->entries, n);
	dump->n_frames += n > 0;
}

static void dump_file(Dump *dump, const guint8 *data, gsize n_bytes)
{
	gboolean has_table = FALSE;
	gsize at = 0;

	while (at < n_bytes && !has_table) {
		size_t n = dump->lib->ZSTD_findFrameCompressedSize(
			data + at, n_bytes - at);

		if (dump->lib->ZSTD_isError(n))
			break;
		has_table = u32(data + at) == 0x184d2a5e;
		if (has_table) {
			check_table(dump, data + at, n, at);
		} else if (u32(data + at) == 0x184d2a50) {
			expect((at + n) % 4096 == 0, "wrong padding", at);
			add_u32(dump->entries, n);
			add_u32(dump->entries, 0);
			dump->n_padding++;
		} else {
			print_frame(dump, data + at, n, at);
		}
		at += n;
	}
	fprintf(stderr, "frames=%u padding=%u table=%d rest=%zu\n",
		dump->n_frames, dump->n_padding, has_table, n_bytes - at);
}

int main(int argc, char **argv)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *data = NULL;
	Dump dump = {.entries = g_byte_array_new()};
	gsize n_bytes;

	if (argc != 3 ||
	    !g_file_get_contents(argv[1], &data, &n_bytes, &error)) {
		fprintf(stderr, "usage: zstd-dump FILE RECORD-BYTES\n");
		return EXIT_FAILURE;
	}
	dump.record_bytes = (gsize)atoi(argv[2]);
	dump.lib = kmt_libzstd_get(&error);
	if (!dump.lib) {
		fprintf(stderr, "%s\n", error->message);
		return 77;
	}
	dump.context = dump.lib->ZSTD_createDCtx();
	dump_file(&dump, (const guint8 *)data, n_bytes);
	dump.lib->ZSTD_freeDCtx(dump.context);
	g_byte_array_unref(dump.entries);
	return fclose(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}

#else

int main(void)
{
	return 77;
}

#endif
