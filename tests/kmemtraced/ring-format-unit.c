// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Parse tracepoint formats like those of existing kernels, formats with changes
 * that no kernel has yet, and incomplete formats.
 */
#include "config.h"

#include <glib.h>
#include <string.h>
#include <unistd.h>

#include "lib/capture/error.h"
#include "kmemtraced/ring-format.h"

#ifdef HAVE_TRACEEVENT

#define COMMON                                                                 \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n" \
	"\tfield:unsigned char "                                               \
	"common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"               \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
#define FIELD(type, name, offset, size)                                        \
	"\tfield:" type " " name ";\toffset:" #offset ";\tsize:" #size         \
	";\tsigned:0;\n"
#define ADDRESSES                                                              \
	FIELD("unsigned long", "call_site", 8, 8)                              \
	FIELD("const void *", "ptr", 16, 8)
#define SIZES                                                                  \
	FIELD("size_t", "bytes_req", 24, 8)                                    \
	FIELD("size_t", "bytes_alloc", 32, 8)                                  \
	FIELD("unsigned long", "gfp_flags", 40, 8)
#define PRINT "\nprint fmt: \"what no library can parse\", (((REC->\n"

typedef struct {
	const char *name, *fields;
	guint id;
} Format;

static const Format usual[] = {
	{"kmalloc", ADDRESSES SIZES FIELD("int", "node", 48, 4), 400},
	{"kfree", ADDRESSES, 401},
	{"kmem_cache_alloc",
	 ADDRESSES FIELD("__data_loc char[]", "name", 48, 4) SIZES, 402},
	{"kmem_cache_free", ADDRESSES, 403},
	{"mm_page_alloc",
	 FIELD("unsigned long", "pfn", 8, 8)
		 FIELD("unsigned int", "order", 16, 4)
			 FIELD("gfp_t", "gfp_flags", 20, 4),
	 404},
	{"mm_page_free",
	 FIELD("unsigned long", "pfn", 8, 8)
		 FIELD("unsigned int", "order", 16, 4),
	 405},
};

static const char header_page[] =
	"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
	"\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
	"\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
	"\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";

static char *format_text(const Format *format)
{
	return g_strdup_printf("name: %s\nID: %u\nformat:\n" COMMON "%s" PRINT,
			       format->name, format->id, format->fields);
}

/* Return the files below events/ of a usual kernel: path to content. */
static GHashTable *usual_files(void)
{
	GHashTable *files =
		g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);

	g_hash_table_insert(files, g_strdup("header_page"),
			    g_strdup(header_page));
	for (guint i = 0; i < G_N_ELEMENTS(usual); i++)
		g_hash_table_insert(
			files, g_strdup_printf("kmem/%s/format", usual[i].name),
			format_text(&usual[i]));
	return files;
}

static char *read_file(gpointer data, const char *name, GError **error)
{
	return g_strdup(g_hash_table_lookup(data, name));
}

static void test_usual_formats(void)
{
	g_autoptr(GHashTable) files = usual_files();
	g_autoptr(GError) error = NULL;
	g_autoptr(KmtdRingFormat) format =
		kmtd_ring_format_read(read_file, files, &error);
	const KmtTracepoint *p;

	g_assert_no_error(error);
	g_assert_cmpuint(format->page_bytes, ==, 4096);
	g_assert_cmpuint(format->commit_offset, ==, 8);
	g_assert_cmpuint(format->data_offset, ==, 16);
	g_assert_cmpuint(format->common.bytes, ==, 8);
	g_assert_cmpuint(format->by_id->len, ==, 406);
	p = format->by_id->pdata[400];
	g_assert_cmpuint(p->node.offset, ==, 48);
	g_assert_cmpuint(p->min_bytes, ==, 52);
	p = format->by_id->pdata[402];
	g_assert_cmpuint(p->node.size, ==, 0);
	p = format->by_id->pdata[404];
	g_assert_cmpuint(p->gfp_flags.size, ==, 4);
	g_assert_cmpuint(p->type_id, ==, KMEMTRACE_TYPE_PAGES);
}

/* Fields at other offsets than usual, and another tracepoint, are found. */
static void test_moved_fields(void)
{
	g_autoptr(GHashTable) files = usual_files();
	g_autoptr(GError) error = NULL;
	g_autoptr(KmtdRingFormat) format = NULL;
	const Format moved = {
		"kfree",
		FIELD("u32", "new", 8, 4) FIELD("const void *", "ptr", 40, 8)
			FIELD("unsigned long", "call_site", 16, 8),
		401};
	const Format node = {"kmalloc_node",
			     ADDRESSES SIZES FIELD("int", "node", 60, 4), 77};
	const KmtTracepoint *p;

	g_hash_table_insert(files, g_strdup("kmem/kfree/format"),
			    format_text(&moved));
	g_hash_table_insert(files, g_strdup("kmem/kmalloc_node/format"),
			    format_text(&node));
	format = kmtd_ring_format_read(read_file, files, &error);
	g_assert_no_error(error);
	p = format->by_id->pdata[401];
	g_assert_cmpuint(p->ptr.offset, ==, 40);
	g_assert_cmpuint(p->call_site.offset, ==, 16);
	g_assert_cmpuint(p->min_bytes, ==, 48);
	p = format->by_id->pdata[77];
	g_assert_cmpuint(p->node.offset, ==, 60);
	g_assert_cmpuint(p->event_id, ==, KMEMTRACE_EVENT_ALLOC);
}

/* Tracepoints that only some kernels have: per-CPU and vmalloc memory. */
static void test_percpu_and_vmalloc(void)
{
	static const Format more[] = {
		{"percpu/percpu_alloc_percpu",
		 FIELD("void *", "ptr", 8, 8) FIELD("size_t", "size", 16, 8)
			 FIELD("size_t", "bytes_alloc", 24, 8),
		 80},
		{"vmalloc/alloc_vmap_area",
		 FIELD("unsigned long", "addr", 8, 8)
			 FIELD("unsigned long", "size", 16, 8)
				 FIELD("int", "failed", 24, 4),
		 81},
	};
	guint64 data[4] = {0, 0x12340, 24, 100};
	const guint8 *bytes = (const guint8 *)data;
	guint cpus = (guint)sysconf(_SC_NPROCESSORS_CONF);
	g_autoptr(GHashTable) files = usual_files();
	g_autoptr(KmtdRingFormat) format = NULL;
	g_autoptr(GError) error = NULL;
	struct kmemtrace_event e;
	KmtTracepoint *p;

	for (guint i = 0; i < G_N_ELEMENTS(more); i++) {
		Format one = more[i];

		one.name = strchr(one.name, '/') + 1;
		g_hash_table_insert(files,
				    g_strdup_printf("%s/format", more[i].name),
				    format_text(&one));
	}
	format = kmtd_ring_format_read(read_file, files, &error);
	g_assert_no_error(error);
	p = format->by_id->pdata[80];
	g_assert_true(kmt_tracepoint_convert(p, bytes, 5, &e));
	g_assert_cmpuint(e.type_id, ==, KMEMTRACE_TYPE_PERCPU);
	g_assert_cmphex(e.ptr, ==, 0x12340);
	g_assert_cmpuint(e.bytes_req, ==, 24 * cpus);
	g_assert_cmpuint(e.bytes_alloc, ==, 24 * cpus);
	g_assert_cmpuint(e.call_site, ==, 0);
	/* The number of CPUs is unknown: use the field with the bytes on all
	 * CPUs. */
	p->cpus = 0;
	g_assert_true(kmt_tracepoint_convert(p, bytes, 5, &e));
	g_assert_cmpuint(e.bytes_req, ==, 100);
	g_assert_cmpuint(e.bytes_alloc, ==, 100);
	p = format->by_id->pdata[81];
	/* The field "failed" is the first 4 bytes of data[3]. In either byte
	 * order, these bytes are 1. */
	data[3] = (guint64)1 << 32 | 1;
	g_assert_false(kmt_tracepoint_convert(p, bytes, 5, &e));
	data[3] = 0;
	g_assert_true(kmt_tracepoint_convert(p, bytes, 5, &e));
	g_assert_cmpuint(e.type_id, ==, KMEMTRACE_TYPE_VMALLOC);
	g_assert_cmpuint(e.bytes_req, ==, 24);
	g_assert_cmpuint(e.bytes_alloc, ==, 24);
}

static void assert_refused(GHashTable *files, KmtDaemonError code,
			   const char *text)
{
	g_autoptr(GError) error = NULL;

	g_assert_null(kmtd_ring_format_read(read_file, files, &error));
	g_assert_error(error, KMT_DAEMON_ERROR, (gint)code);
	if (!strstr(error->message, text))
		g_error("'%s' lacks '%s'", error->message, text);
}

static void test_missing_formats(void)
{
	for (guint i = 0; i < G_N_ELEMENTS(usual); i++) {
		g_autoptr(GHashTable) files = usual_files();
		g_autofree char *path =
			g_strdup_printf("kmem/%s/format", usual[i].name);

		g_hash_table_remove(files, path);
		assert_refused(files, KMT_DAEMON_ERROR_NO_TRACEPOINT,
			       usual[i].name);
	}
}

static void refuse_kfree(const char *fields, const char *text)
{
	g_autoptr(GHashTable) files = usual_files();
	const Format format = {"kfree", fields, 401};

	g_hash_table_insert(files, g_strdup("kmem/kfree/format"),
			    format_text(&format));
	assert_refused(files, KMT_DAEMON_ERROR_FIELD, text);
}

static void test_bad_fields(void)
{
	static const char *const common[] = {"common_type", "common_flags",
					     "common_pid"};
	g_autoptr(GHashTable) files = usual_files();

	refuse_kfree(FIELD("unsigned long", "call_site", 8, 8),
		     "kmem:kfree has no field 'ptr'");
	refuse_kfree(FIELD("const void *", "ptr", 8, 8), "'call_site'");
	refuse_kfree(FIELD("unsigned long", "call_site", 8, 8)
			     FIELD("__u128", "ptr", 16, 16),
		     "no number in its field 'ptr'");
	refuse_kfree(FIELD("unsigned long", "call_site", 8, 8)
			     FIELD("unsigned long", "ptr[2]", 16, 16),
		     "'ptr'");
	g_hash_table_insert(files, g_strdup("kmem/kfree/format"), g_strdup(""));
	assert_refused(files, KMT_DAEMON_ERROR_FIELD, "kmem:kfree");
	for (guint i = 0; i < G_N_ELEMENTS(common); i++) {
		g_autofree char *text = format_text(&usual[0]);
		g_autofree char *wrong =
			g_strdup_printf("no field '%s'", common[i]);

		/* Replace the first letter of the name, so that no field has
		 * this name. */
		*strstr(text, common[i]) = 'x';
		g_hash_table_insert(files, g_strdup("kmem/kmalloc/format"),
				    g_steal_pointer(&text));
		assert_refused(files, KMT_DAEMON_ERROR_FIELD, wrong);
	}
}

static void test_bad_header(void)
{
	static const char *const texts[] = {
		"",
		"\tfield: u64 timestamp;\toffset:0;\tsize:8;\n",
		"\tfield: u64 timestamp;\toffset:0;\tsize:4;\n"
		"\tfield: local_t commit;\toffset:4;\tsize:4;\n"
		"\tfield: char data;\toffset:8;\tsize:4088;\n",
		"\tfield: u64 timestamp;\toffset:0;\tsize:8;\n"
		"\tfield: local_t commit;\toffset:8;\tsize:8;\n"
		"\tfield: char data;\toffset:12;\tsize:4084;\n",
		"\tfield: u64 timestamp;\toffset:0;\tsize:8;\n"
		"\tfield: local_t commit;\toffset:0;\tsize:4;\n"
		"\tfield: char data;\toffset:4;\tsize:4092;\n",
		"\tfield: u64 timestamp;\toffset:0;\tsize:8;\n"
		"\tfield: local_t commit;\toffset:4294967292;\tsize:8;\n"
		"\tfield: char data;\toffset:16;\tsize:4080;\n",
	};
	g_autoptr(GHashTable) files = usual_files();

	for (guint i = 0; i < G_N_ELEMENTS(texts); i++) {
		g_hash_table_insert(files, g_strdup("header_page"),
				    g_strdup(texts[i]));
		assert_refused(files, KMT_DAEMON_ERROR_FIELD, "header_page");
	}
	g_hash_table_remove(files, "header_page");
	assert_refused(files, KMT_DAEMON_ERROR_FIELD, "header_page");
}

static void add_format_tests(void)
{
	g_test_add_func("/format/usual", test_usual_formats);
	g_test_add_func("/format/moved", test_moved_fields);
	g_test_add_func("/format/percpu-and-vmalloc", test_percpu_and_vmalloc);
	g_test_add_func("/format/missing", test_missing_formats);
	g_test_add_func("/format/fields", test_bad_fields);
	g_test_add_func("/format/header", test_bad_header);
}

#else

static void test_no_library(void)
{
	g_autoptr(GError) error = NULL;

	g_assert_null(kmtd_ring_format_read(NULL, NULL, &error));
	g_assert_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_NO_LIBRARY);
}

static void add_format_tests(void)
{
	g_test_add_func("/format/no-library", test_no_library);
}

#endif

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	add_format_tests();
	return g_test_run();
}
