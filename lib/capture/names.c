// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>

#include "lib/capture/names.h"

#define CPU_PREFIX "cpu"
#define CPU_SUFFIX ".out"

/* Maximum number of digits; no CPU number needs more. */
#define CPU_DIGITS_MAX 5

const char *const kmt_capture_tables[] = {
	"kallsyms", "modules", "info", "caches",   "tasks", "cgroups",
	"marks",    "stacks",  "tags", "slabinfo", NULL,
};

gboolean kmt_capture_parse_cpu(const char *name, guint *cpu,
			       const char **suffix)
{
	const char *digits = name + strlen(CPU_PREFIX);
	char *end;
	guint64 n;

	if (!g_str_has_prefix(name, CPU_PREFIX) || !g_ascii_isdigit(*digits))
		return FALSE;
	n = g_ascii_strtoull(digits, &end, 10);
	if (n > G_MAXUINT || !g_str_has_prefix(end, CPU_SUFFIX))
		return FALSE;
	end += strlen(CPU_SUFFIX);
	if (*end && strcmp(end, ".gz") != 0 &&
	    strcmp(end, KMT_CAPTURE_ZSTD) != 0)
		return FALSE;
	*cpu = (guint)n;
	if (suffix)
		*suffix = end;
	return TRUE;
}

/*
 * Return whether the CPU number in a name has at most CPU_DIGITS_MAX digits and
 * no leading zeros. Writers use only one name per CPU.
 */
static gboolean is_canonical_cpu(const char *name)
{
	const char *digits = name + strlen(CPU_PREFIX);
	gsize n = strspn(digits, "0123456789");

	return n <= CPU_DIGITS_MAX && (n == 1 || *digits != '0');
}

/* Classify the first n bytes of name: META, TABLE or OTHER. */
static KmtCaptureFile text_file(const char *name, gsize n)
{
	if (n == strlen(KMT_CAPTURE_META) &&
	    strncmp(name, KMT_CAPTURE_META, n) == 0)
		return KMT_CAPTURE_FILE_META;
	for (const char *const *table = kmt_capture_tables; *table; table++)
		if (n == strlen(*table) && strncmp(name, *table, n) == 0)
			return KMT_CAPTURE_FILE_TABLE;
	return KMT_CAPTURE_FILE_OTHER;
}

KmtCaptureFile kmt_capture_file(const char *name)
{
	gsize n = strlen(name);
	const char *suffix;
	guint cpu;

	if (kmt_capture_parse_cpu(name, &cpu, &suffix)) {
		if (!is_canonical_cpu(name))
			return KMT_CAPTURE_FILE_OTHER;
		if (!*suffix)
			return KMT_CAPTURE_FILE_CPU;
		return g_str_equal(suffix, KMT_CAPTURE_ZSTD)
			       ? KMT_CAPTURE_FILE_ZSTD_CPU
			       : KMT_CAPTURE_FILE_PACKED_CPU;
	}
	if (g_str_has_suffix(name, KMT_CAPTURE_TEMPORARY) &&
	    text_file(name, n - strlen(KMT_CAPTURE_TEMPORARY)) !=
		    KMT_CAPTURE_FILE_OTHER)
		return KMT_CAPTURE_FILE_TEMPORARY;
	return text_file(name, n);
}

char *kmt_capture_header(const char *name)
{
	if (kmt_capture_file(name) != KMT_CAPTURE_FILE_TABLE ||
	    g_str_equal(name, "kallsyms") || g_str_equal(name, "modules"))
		return NULL;
	if (g_str_equal(name, "slabinfo"))
		return g_strdup("slabinfo - version: ");
	return g_strdup_printf("# kmemtrace: %s\n", name);
}

gboolean kmt_capture_is_new(const char *name)
{
	const char *digits = name + strlen(KMT_CAPTURE_NEW);

	return g_str_has_prefix(name, KMT_CAPTURE_NEW) && *digits &&
	       digits[strspn(digits, "0123456789")] == '\0';
}
