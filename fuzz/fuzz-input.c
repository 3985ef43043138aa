// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz target: a capture (fuzz/container.h) in many forms that lib/input reads:
 * pipes, files compressed by gzip, tars, older layouts, and damaged variants of
 * them. Reading the capture as a stream and reading it with random access must
 * give the same result, with the exceptions in LLVMFuzzerTestOneInput().
 */
#include "config.h"

#include "fuzz/container.h"
#include "fuzz/exercise.h"
#include "fuzz/scratch.h"
#include "fuzz/target.h"

#include <gio/gio.h>
#include <string.h>
#include <unistd.h>

/* Options of a container in addition to the clock tolerance. */
#define OPTION_FORM(options)   ((options) >> 3 & 7)
#define OPTION_LAYOUT(options) ((KmtInputLayout)((options) >> 6))

/*
 * A file of the container with at least this CPU number is not a CPU file but a
 * list of damages to the other files: offset (two bytes) and bits to flip (one
 * byte). FORM_DIRECTORY has no damages: there, each file is a CPU file. Data
 * that is read from a pipe is not damaged.
 */
#define FIRST_DAMAGE 128

#define TAR_BLOCK 512

typedef enum {
	FORM_DIRECTORY,
	FORM_FILES,
	FORM_PIPES,
	FORM_GZIP,
	FORM_TAR,
	FORM_TAR_GZIP,
	FORM_RAW,	/* the first file, without a name cpu<n>.out */
	FORM_RAW_STDIN, /* the first file, read from a pipe */
} Form;

typedef struct {
	const KmtContainer *container;
	Form form;
	GPtrArray *operands; /* char * elements, then a NULL */
	GArray *pipes;	     /* int elements: descriptors */
} CaptureInput;

static GByteArray *copy_bytes(const GByteArray *data)
{
	GByteArray *copy = g_byte_array_new();

	if (data->len)
		g_byte_array_append(copy, data->data, data->len);
	return copy;
}

static GByteArray *compress_gzip(const GByteArray *data)
{
	g_autoptr(GZlibCompressor) gzip =
		g_zlib_compressor_new(G_ZLIB_COMPRESSOR_FORMAT_GZIP, 1);
	GByteArray *compressed = g_byte_array_new();
	gsize read = 0, written = 0;

	g_byte_array_set_size(compressed, data->len + 1024);
	g_converter_convert(G_CONVERTER(gzip), data->data ? data->data : "",
			    data->len, compressed->data, compressed->len,
			    G_CONVERTER_INPUT_AT_END, &read, &written, NULL);
	g_byte_array_set_size(compressed, (guint)written);
	return compressed;
}

static void add_member(GByteArray *tar, const char *name, const void *data,
		       guint size)
{
	char head[TAR_BLOCK] = {0};
	guint i, sum = 0, begin = tar->len;

	g_snprintf(head, 100, "capture/%s", name);
	g_snprintf(head + 100, 8, "0000600");
	g_snprintf(head + 124, 12, "%011o", size);
	head[156] = '0';
	memcpy(head + 257, "ustar\00000", 8);
	memset(head + 148, ' ', 8);
	for (i = 0; i < sizeof(head); i++)
		sum += (guint8)head[i];
	g_snprintf(head + 148, 8, "%06o", sum);
	g_byte_array_append(tar, (const guint8 *)head, sizeof(head));
	if (size)
		g_byte_array_append(tar, data, size);
	i = tar->len;
	g_byte_array_set_size(tar, begin + (i - begin + TAR_BLOCK - 1) /
						   TAR_BLOCK * TAR_BLOCK);
	memset(tar->data + i, 0, tar->len - i);
}

static GByteArray *make_tar(const KmtContainer *c)
{
	static const char *const names[] = {"kmemtrace.meta", "kallsyms",
					    "modules"};
	GByteArray *tar = g_byte_array_new();
	guint i;

	for (i = 0; i < G_N_ELEMENTS(names); i++) {
		g_autofree char *text =
			kmt_container_text(c, (KmtContainerText)i);

		if (text)
			add_member(tar, names[i], text, (guint)strlen(text));
	}
	for (i = 0; i < c->n_files; i++) {
		const KmtContainerFile *file = &c->files[i];
		g_autofree char *name = g_strdup_printf("cpu%u.out", file->cpu);

		if (file->cpu < FIRST_DAMAGE)
			add_member(tar, name, file->data->data,
				   file->data->len);
	}
	i = tar->len;
	g_byte_array_set_size(tar, i + 2 * TAR_BLOCK);
	memset(tar->data + i, 0, tar->len - i);
	return tar;
}

/*
 * Apply the damages to @data. A damage with no bits to flip truncates the data
 * at its offset.
 */
static void apply_damage(const KmtContainer *c, GByteArray *data)
{
	guint i, j;

	for (i = 0; i < c->n_files; i++) {
		const GByteArray *d = c->files[i].data;

		if (c->files[i].cpu < FIRST_DAMAGE)
			continue;
		for (j = 0; j + 3 <= d->len && data->len; j += 3) {
			guint at = (d->data[j] | (guint)d->data[j + 1] << 8) %
				   data->len;

			if (d->data[j + 2])
				data->data[at] ^= d->data[j + 2];
			else
				g_byte_array_set_size(data, at);
		}
	}
}

/*
 * Write @data to a file and add it as an operand. The function takes ownership
 * of @data.
 */
static void add_operand(CaptureInput *input, const char *name, GByteArray *data)
{
	apply_damage(input->container, data);
	g_ptr_array_add(input->operands, g_strdup(kmt_scratch_write(
						 name, data->data, data->len)));
	g_byte_array_unref(data);
}

static void add_pipe(CaptureInput *input, const GByteArray *data)
{
	int ends[2];

	if (pipe(ends) < 0 ||
	    write(ends[1], data->data, data->len) != (gssize)data->len)
		g_error("cannot write to a pipe");
	close(ends[1]);
	g_array_append_val(input->pipes, ends[0]);
	g_ptr_array_add(input->operands,
			g_strdup_printf("/proc/self/fd/%d", ends[0]));
}

static void add_file(CaptureInput *input, const KmtContainerFile *file)
{
	g_autofree char *name = g_strdup_printf(
		input->form == FORM_GZIP ? "cpu%u.out.gz" : "cpu%u.out",
		file->cpu);
	GByteArray *data = file->data;

	switch (input->form) {
	case FORM_PIPES:
	case FORM_RAW_STDIN:
		add_pipe(input, data);
		break;
	case FORM_GZIP:
		add_operand(input, name, compress_gzip(data));
		break;
	case FORM_RAW:
		add_operand(input, "raw", copy_bytes(data));
		break;
	default:
		add_operand(input, name, copy_bytes(data));
		break;
	}
}

static void add_files(CaptureInput *input)
{
	gboolean raw = input->form == FORM_RAW || input->form == FORM_RAW_STDIN;
	const KmtContainer *c = input->container;
	guint i;

	for (i = 0; i < (raw ? MIN(1, c->n_files) : c->n_files); i++)
		if (c->files[i].cpu < FIRST_DAMAGE)
			add_file(input, &c->files[i]);
}

static void clear_input(CaptureInput *input)
{
	guint i;

	for (i = 0; i < input->pipes->len; i++)
		close(g_array_index(input->pipes, int, i));
	g_array_unref(input->pipes);
	g_ptr_array_unref(input->operands);
	kmt_scratch_clear();
}

/*
 * Create the operands of the capture. Each read needs new operands, because a
 * pipe can be read only once.
 */
static void make_input(CaptureInput *input, const KmtContainer *c)
{
	GByteArray *tar;

	input->container = c;
	input->form = (Form)OPTION_FORM(c->options);
	input->operands = g_ptr_array_new_with_free_func(g_free);
	input->pipes = g_array_new(FALSE, FALSE, sizeof(int));
	switch (input->form) {
	case FORM_DIRECTORY:
		kmt_container_extract(c);
		g_ptr_array_add(input->operands,
				g_strdup(kmt_scratch_directory()));
		break;
	case FORM_TAR:
		add_operand(input, "capture.tar", make_tar(c));
		break;
	case FORM_TAR_GZIP:
		tar = make_tar(c);
		add_operand(input, "capture.tar.gz", compress_gzip(tar));
		g_byte_array_unref(tar);
		break;
	default:
		add_files(input);
		break;
	}
	g_ptr_array_add(input->operands, NULL);
}

/* Properties of a capture after all records were read. */
typedef struct {
	char *digest; /* NULL: no operands, or the capture cannot be opened */
	gboolean damaged;
	gboolean reports_loss;
	gboolean kfree_of_caches;
	KmtInputLayout layout;
	guint record_size;
	gboolean swapped;
} ReadResult;

static ReadResult read_input(const KmtContainer *c, gboolean random_access)
{
	const KmtInputOptions options = {
		.layout = OPTION_LAYOUT(c->options) > KMT_INPUT_LAYOUT_A
				  ? OPTION_LAYOUT(c->options) + 1
				  : OPTION_LAYOUT(c->options),
		.random_access = random_access,
	};
	gint64 tolerance_ns = kmt_container_tolerance(c);
	g_autoptr(GError) error = NULL;
	g_autoptr(KmtInputCapture) capture = NULL;
	ReadResult result = {0};
	CaptureInput input;

	make_input(&input, c);
	/* Without operands the capture would be the current directory. */
	if (input.operands->len > 1)
		capture = kmt_input_capture_open(
			(const char *const *)input.operands->pdata, &options,
			&error);
	g_assert_true((capture == NULL) == (error != NULL) ||
		      input.operands->len == 1);
	if (capture) {
		g_autoptr(GPtrArray) warnings = NULL;

		if (random_access)
			kmt_exercise(capture, tolerance_ns, G_MAXINT64, FALSE);
		result.digest = kmt_exercise_digest(capture, tolerance_ns);
		/* Warnings and damage are known only after all records were
		 * read. */
		warnings = kmt_input_capture_warnings(capture);
		result.damaged = capture->damaged || capture->shortened;
		result.reports_loss = capture->reports_loss;
		result.kfree_of_caches = capture->kfree_of_caches;
		result.layout = capture->layout;
		result.record_size = capture->record_size;
		result.swapped = capture->swapped;
	}
	clear_input(&input);
	return result;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	g_auto(KmtContainer) container = {0};
	ReadResult stream_result, random_access_result;

	kmt_exercise_begin();
	kmt_scratch_directory();
	kmt_container_parse(&container, data, size);
	stream_result = read_input(&container, FALSE);
	random_access_result = read_input(&container, TRUE);
	/* The digests may differ if the end of a stream changes what its
	 * beginning suggested: the format, whether records are missing or lost,
	 * or whether there are DEFER records. */
	if (stream_result.digest && random_access_result.digest &&
	    !stream_result.damaged && !random_access_result.damaged &&
	    stream_result.reports_loss == random_access_result.reports_loss &&
	    stream_result.kfree_of_caches ==
		    random_access_result.kfree_of_caches &&
	    stream_result.layout == random_access_result.layout &&
	    stream_result.record_size == random_access_result.record_size &&
	    stream_result.swapped == random_access_result.swapped)
		g_assert_cmpstr(stream_result.digest, ==,
				random_access_result.digest);
	g_free(stream_result.digest);
	g_free(random_access_result.digest);
	return 0;
}
