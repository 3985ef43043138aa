// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmemtrace: KUnit tests of the parsers: sizes, filters, triggers, and the formats of
 * annotations.
 */

#include <kunit/test.h>
#include <linux/bitmap.h>
#include <linux/cgroup.h>
#include <linux/err.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/kmemtrace_mark.h>
#include <linux/limits.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <uapi/linux/kmemtrace_abi.h>

#include "file_util.h"
#include "filter.h"
#include "format.h"
#include "geometry.h"
#include "held.h"
#include "mark_format.h"
#include "trigger.h"

/* Return a copy of @text that a parser may change; the end of the test frees it. */
static char *kmemtrace_test_copy(struct kunit *test, const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = kunit_kmalloc(test, size, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, copy);
	return memcpy(copy, text, size);
}

/* --- Sizes ----------------------------------------------------------------------- */

static void kmemtrace_test_bytes(struct kunit *test)
{
	static const struct {
		const char *text;
		u64 bytes;
	} valid[] = {
		{ "0", 0 },
		{ "1", 1 },
		{ "010", 8 },
		{ "0xFE", 0xfe },
		{ "0x10k", 0x4000 },
		{ "512K", SZ_512K },
		{ "3m", 3 * SZ_1M },
		{ "2G", 2ULL << 30 },
		{ "15E", 15ULL << 60 },
		{ "18446744073709551615", U64_MAX },
	};
	static const char *const invalid[] = {
		"", "K", "-1", "+1", " 1", "1 ", "1KK", "1KB", "1x", "0x", "08",
		"1\n", "16E", "17179869184G", "18446744073709551616",
		"00000000000000000000000000000001",
	};
	unsigned int i;
	u64 bytes;

	for (i = 0; i < ARRAY_SIZE(valid); i++) {
		bytes = 77;
		KUNIT_EXPECT_EQ_MSG(test, kmemtrace_parse_bytes(valid[i].text, &bytes), 0,
				    "'%s'", valid[i].text);
		KUNIT_EXPECT_EQ_MSG(test, bytes, valid[i].bytes, "'%s'", valid[i].text);
	}
	for (i = 0; i < ARRAY_SIZE(invalid); i++)
		KUNIT_EXPECT_EQ_MSG(test, kmemtrace_parse_bytes(invalid[i], &bytes),
				    -EINVAL, "'%s'", invalid[i]);
}

static void kmemtrace_test_subbuf_size(struct kunit *test)
{
	static const char *const invalid[] = { "0", "257M", "4G", "x", "1 " };
	unsigned int i, bytes = 77;

	KUNIT_EXPECT_EQ(test, kmemtrace_parse_subbuf_size("256M", &bytes), 0);
	KUNIT_EXPECT_EQ(test, bytes, SZ_256M);
	for (i = 0; i < ARRAY_SIZE(invalid); i++)
		KUNIT_EXPECT_EQ_MSG(test, kmemtrace_parse_subbuf_size(invalid[i], &bytes),
				    -EINVAL, "'%s'", invalid[i]);
	KUNIT_EXPECT_EQ(test, bytes, SZ_256M);
}

static void kmemtrace_test_geometry(struct kunit *test)
{
	unsigned int record = kmemtrace_record_size;

	KUNIT_EXPECT_TRUE(test, kmemtrace_geometry_fits(2, record));
	KUNIT_EXPECT_FALSE(test, kmemtrace_geometry_fits(1, record));
	KUNIT_EXPECT_FALSE(test, kmemtrace_geometry_fits(0, record));
	KUNIT_EXPECT_FALSE(test, kmemtrace_geometry_fits(2, record - 1));
	KUNIT_EXPECT_FALSE(test, kmemtrace_geometry_fits(65537, record));
	KUNIT_EXPECT_FALSE(test, kmemtrace_geometry_fits(2, SZ_256M + 1));
	/* relay limits a buffer to UINT_MAX bytes. */
	KUNIT_EXPECT_FALSE(test, kmemtrace_geometry_fits(16, SZ_256M));
}

/* --- Filters --------------------------------------------------------------------- */

static struct kmemtrace_filter *kmemtrace_test_filter_of(struct kunit *test,
							 const char *text,
							 const char **why)
{
	return kmemtrace_parse_filter(kmemtrace_test_copy(test, text), why);
}

static void kmemtrace_test_filter_sizes(struct kunit *test)
{
	static const struct {
		const char *text;
		size_t min, max;
	} sizes[] = {
		{ "size=100", 100, 100 },
		{ "size=100-", 100, SIZE_MAX },
		{ "size=-200", 0, 200 },
		{ "size=100-200", 100, 200 },
		{ "size=7-7", 7, 7 },
	};
	struct kmemtrace_filter *filter;
	const char *why;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		filter = kmemtrace_test_filter_of(test, sizes[i].text, &why);
		KUNIT_ASSERT_FALSE_MSG(test, IS_ERR_OR_NULL(filter), "'%s'", sizes[i].text);
		KUNIT_EXPECT_NULL(test, why);
		KUNIT_EXPECT_TRUE(test, filter->by_size);
		KUNIT_EXPECT_EQ_MSG(test, filter->size_min, sizes[i].min, "'%s'", sizes[i].text);
		KUNIT_EXPECT_EQ_MSG(test, filter->size_max, sizes[i].max, "'%s'", sizes[i].text);
		KUNIT_EXPECT_EQ(test, filter->sample, 1U);
		KUNIT_EXPECT_NULL(test, filter->pids);
		KUNIT_EXPECT_NULL(test, filter->caches);
		kmemtrace_free_filter(filter);
	}
}

static void kmemtrace_test_filter_words(struct kunit *test)
{
	struct kmemtrace_filter *filter;
	const char *why;

	KUNIT_ASSERT_GE(test, kmemtrace_abi, 2U);
	filter = kmemtrace_test_filter_of(test,
					  " pid=1,70\tsample=1000000  children\n"
					  "cache=dentry,kmalloc-* size=8- ", &why);
	KUNIT_ASSERT_FALSE(test, IS_ERR_OR_NULL(filter));
	KUNIT_EXPECT_STREQ(test, filter->text,
			   "pid=1,70 sample=1000000 children cache=dentry,kmalloc-* size=8-");
	KUNIT_EXPECT_STREQ(test, filter->names, "dentry,kmalloc-*");
	KUNIT_EXPECT_NOT_NULL(test, filter->caches);
	KUNIT_EXPECT_TRUE(test, filter->by_pid);
	KUNIT_EXPECT_TRUE(test, filter->children);
	KUNIT_EXPECT_EQ(test, filter->sample, 1000000U);
	KUNIT_ASSERT_NOT_NULL(test, filter->pids);
	KUNIT_EXPECT_EQ(test, bitmap_weight(filter->pids, 1000), 2);
	KUNIT_EXPECT_TRUE(test, test_bit(1, filter->pids));
	KUNIT_EXPECT_TRUE(test, test_bit(70, filter->pids));
	kmemtrace_free_filter(filter);

	KUNIT_EXPECT_NULL(test, kmemtrace_test_filter_of(test, "", &why));
	KUNIT_EXPECT_NULL(test, kmemtrace_test_filter_of(test, "\t ", &why));
	KUNIT_EXPECT_NULL(test, kmemtrace_test_filter_of(test, "none\n", &why));
	KUNIT_EXPECT_NULL(test, why);
	kmemtrace_free_filter(NULL);
}

static void kmemtrace_test_filter_refused(struct kunit *test)
{
	static const char *const invalid[] = {
		"size", "size=", "size=-", "size=x", "size=9-8", "size=1-2-3",
		"size=1 size=2", "size=99999999999999999999", "bytes=1", "none size=1",
		"cache=", "cache=a,,b", "cache=a,", "cache=a cache=b", "pid=", "pid=x",
		"pid=-1", "pid=1,", "pid=4194305", "pid=1 pid=2", "children",
		"cgroup=", "cgroup=a", "cgroup=/,", "cgroup=/no-such-cgroup",
		"cgroup=/ cgroup=/", "sample=", "sample=0", "sample=1000001", "sample=1 sample=1",
		"size=1-\001", "size=\303\244", "Size=1",
		"cache=0123456789012345678901234567890123456789012345678901234567890123",
	};
	struct kmemtrace_filter *filter;
	const char *why;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(invalid); i++) {
		filter = kmemtrace_test_filter_of(test, invalid[i], &why);
		KUNIT_EXPECT_TRUE_MSG(test, IS_ERR(filter) && PTR_ERR(filter) == -EINVAL,
				      "'%s'", invalid[i]);
		KUNIT_EXPECT_NOT_NULL_MSG(test, why, "'%s'", invalid[i]);
		if (!IS_ERR(filter))
			kmemtrace_free_filter(filter);
	}
}

#ifdef CONFIG_CGROUPS
/* The only cgroup that exists at boot is the root. */
static void kmemtrace_test_filter_cgroups(struct kunit *test)
{
	static const char *const filters[] = {
		"cgroup=/", "cgroup=\\057", "cgroup=/,/ pid=1",
		"cgroup=/,/,/,/,/,/,/,/,/,/,/,/,/,/,/,/",
	};
	static const unsigned int n_cgroups[] = { 1, 0, 2, 16 };
	struct kmemtrace_filter *filter;
	const char *why;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(filters); i++) {
		filter = kmemtrace_test_filter_of(test, filters[i], &why);
		if (!n_cgroups[i]) {
			/* The slash at the beginning is not escaped. */
			KUNIT_EXPECT_TRUE(test, IS_ERR(filter));
			continue;
		}
		KUNIT_ASSERT_FALSE_MSG(test, IS_ERR_OR_NULL(filter), "'%s'", filters[i]);
		KUNIT_EXPECT_EQ(test, filter->n_cgroups, n_cgroups[i]);
		KUNIT_EXPECT_PTR_EQ(test, filter->cgroups[0], &cgrp_dfl_root.cgrp);
		KUNIT_EXPECT_STREQ(test, filter->text, filters[i]);
		kmemtrace_free_filter(filter);
	}
	filter = kmemtrace_test_filter_of(test,
					  "cgroup=/,/,/,/,/,/,/,/,/,/,/,/,/,/,/,/,/", &why);
	KUNIT_EXPECT_TRUE(test, IS_ERR(filter));
	filter = kmemtrace_test_filter_of(test, "cgroup=//./\\057", &why);
	KUNIT_EXPECT_TRUE(test, IS_ERR(filter));
}
#endif

/* --- Triggers -------------------------------------------------------------------- */

static void kmemtrace_test_trigger_kinds(struct kunit *test)
{
	static const struct {
		const char *text;
		int kind;
		const char *operand;
	} kinds[] = {
		{ "oom", KMEMTRACE_TRIGGER_OOM, "" },
		{ "alloc-failure", KMEMTRACE_TRIGGER_ALLOC_FAILURE, "" },
		{ "cache:dentry>1", KMEMTRACE_TRIGGER_CACHE, "dentry>1" },
		{ "site:f+0x10>1", KMEMTRACE_TRIGGER_SITE, "f+0x10>1" },
		{ "mark:a", KMEMTRACE_TRIGGER_MARK, "a" },
		{ "mark:", KMEMTRACE_TRIGGER_MARK, "" },
		{ "oom:", -EINVAL },
		{ "oomph", -EINVAL },
		{ "alloc", -EINVAL },
		{ "cache", -EINVAL },
		{ "", -EINVAL },
	};
	const char *operand;
	unsigned int i;
	int kind;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		operand = NULL;
		kind = kmemtrace_parse_kind(kinds[i].text, &operand);
		KUNIT_EXPECT_EQ_MSG(test, kind, kinds[i].kind, "'%s'", kinds[i].text);
		if (kind >= 0)
			KUNIT_EXPECT_STREQ(test, operand, kinds[i].operand);
	}
}

/*
 * Parse a trigger.  kmemtrace_test_put_trigger() frees its counter and its table of
 * live objects; the end of the test frees the trigger.
 */
static int kmemtrace_test_trigger_of(struct kunit *test, const char *text,
				     struct kmemtrace_trigger **result)
{
	struct kmemtrace_trigger *trigger =
		kunit_kzalloc(test, sizeof(*trigger) + strlen(text) + 1, GFP_KERNEL);
	int kind;

	KUNIT_ASSERT_NOT_NULL(test, trigger);
	memcpy(trigger->text, text, strlen(text));
	kind = kmemtrace_parse_kind(trigger->text, &trigger->operand);
	KUNIT_ASSERT_GE(test, kind, 0);
	trigger->kind = kind;
	*result = trigger;
	return kmemtrace_parse_trigger(trigger,
				       kmemtrace_test_copy(test, trigger->operand));
}

static void kmemtrace_test_put_trigger(struct kmemtrace_trigger *trigger)
{
	kmemtrace_held_free(trigger->held);
	kmemtrace_counter_destroy(&trigger->held_bytes);
}

static void kmemtrace_test_trigger_refused(struct kunit *test)
{
	static const struct {
		const char *text;
		int err;
	} invalid[] = {
		{ "mark:", -EINVAL },
		{ "cache:kmalloc-64", -EINVAL },
		{ "cache:kmalloc-64>", -EINVAL },
		{ "cache:kmalloc-64>0", -EINVAL },
		{ "cache:kmalloc-64>8E", -EINVAL },
		{ "cache:kmalloc-64>x", -EINVAL },
		{ "cache:>1", -EINVAL },
		{ "cache:no such cache>1", IS_ENABLED(CONFIG_SLOB) ? -EOPNOTSUPP : -ENOENT },
		{ "site:>1", -EINVAL },
		{ "site:kmemtrace_parse_trigger", -EINVAL },
		{ "site:kmemtrace_no_such_function>1",
		  IS_ENABLED(CONFIG_KALLSYMS) ? -ENOENT : -EOPNOTSUPP },
		{ "site:kmemtrace_parse_trigger+0>1",
		  IS_ENABLED(CONFIG_KALLSYMS) ? -EINVAL : -EOPNOTSUPP },
		{ "site:kmemtrace_parse_trigger+0x7fffffff>1",
		  IS_ENABLED(CONFIG_KALLSYMS) ? -EINVAL : -EOPNOTSUPP },
	};
	struct kmemtrace_trigger *trigger;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(invalid); i++) {
		KUNIT_EXPECT_EQ_MSG(test,
				    kmemtrace_test_trigger_of(test, invalid[i].text, &trigger),
				    invalid[i].err, "'%s'", invalid[i].text);
		kmemtrace_test_put_trigger(trigger);
	}
}

static void kmemtrace_test_trigger_limits(struct kunit *test)
{
	struct kmemtrace_trigger *trigger;

	if (IS_ENABLED(CONFIG_SLOB))
		kunit_skip(test, "SLOB has no caches of objects");
	KUNIT_ASSERT_EQ(test, kmemtrace_test_trigger_of(test, "cache:kmalloc-64>64K", &trigger),
			0);
	KUNIT_EXPECT_EQ(test, trigger->limit_bytes, (u64)SZ_64K);
	KUNIT_EXPECT_TRUE(test, kmemtrace_is_counting(trigger));
	KUNIT_EXPECT_EQ(test, kmemtrace_counter_sum(&trigger->held_bytes), 0LL);
	kmemtrace_test_put_trigger(trigger);

	KUNIT_ASSERT_EQ(test, kmemtrace_test_trigger_of(test, "mark:any>name", &trigger), 0);
	KUNIT_EXPECT_FALSE(test, kmemtrace_is_counting(trigger));
}

static void kmemtrace_test_trigger_sites(struct kunit *test)
{
	unsigned long addr, size;
	struct kmemtrace_trigger *trigger;

	if (!IS_ENABLED(CONFIG_KALLSYMS))
		kunit_skip(test, "needs CONFIG_KALLSYMS");
	addr = kallsyms_lookup_name("kmemtrace_parse_trigger");
	KUNIT_ASSERT_NE(test, addr, 0UL);
	KUNIT_ASSERT_TRUE(test, kallsyms_lookup_size_offset(addr, &size, NULL));

	KUNIT_ASSERT_EQ(test,
			kmemtrace_test_trigger_of(test, "site:kmemtrace_parse_trigger>1M",
						  &trigger), 0);
	KUNIT_EXPECT_EQ(test, trigger->start, addr);
	KUNIT_EXPECT_EQ(test, trigger->end, addr + size);
	KUNIT_EXPECT_NOT_NULL(test, trigger->held);
	kmemtrace_test_put_trigger(trigger);

	KUNIT_ASSERT_EQ(test,
			kmemtrace_test_trigger_of(test, "site:kmemtrace_parse_trigger+0x5>1",
						  &trigger), 0);
	KUNIT_EXPECT_EQ(test, trigger->start, addr + 4);
	KUNIT_EXPECT_EQ(test, trigger->end, addr + 5);
	kmemtrace_test_put_trigger(trigger);

	KUNIT_ASSERT_EQ(test, kmemtrace_test_trigger_of(test, "site:0x12345>1", &trigger), 0);
	KUNIT_EXPECT_EQ(test, trigger->start, 0x12344UL);
	KUNIT_EXPECT_EQ(test, trigger->end, 0x12345UL);
	kmemtrace_test_put_trigger(trigger);
}

/* --- Annotations ----------------------------------------------------------------- */

static void kmemtrace_test_mark_types(struct kunit *test)
{
	static const struct {
		const char *format;
		u16 n_args;
		const char *types;	/* NULL: the parser refuses the format */
	} formats[] = {
		{ "no arguments", 0, "" },
		{ "100%% of %d", 1, "i" },
		{ "%d %i %u %x %X %o", 6, "iiIIII" },
		{ "%hhd %hhu %hd %hu", 4, "bBhH" },
		{ "%ld %lx", 2, sizeof(long) == 8 ? "qQ" : "iI" },
		{ "%zu %td", 2, sizeof(long) == 8 ? "Qq" : "Ii" },
		{ "%lld %llu", 2, "qQ" },
		{ "%-8d|%+5u|%#010x", 3, "iII" },
		{ "%p %pS %pK.", 3, "ppp" },
		{ "%c%s", 2, "cs" },
		{ "%d%d%d%d%d%d%d%d", 8, "iiiiiiii" },
		{ "%d%d%d%d%d%d%d%d%d", 9 },
		{ "%d", 0 },
		{ "%d", 2 },
		{ "%*d", 1 },
		{ "%.*s", 1 },
		{ "%n", 1 },
		{ "%f", 1 },
		{ "%", 1 },
		{ "%l", 1 },
	};
	char types[KMEMTRACE_MARK_ARGS + 1];
	u16 string_max[KMEMTRACE_MARK_ARGS];
	struct kmemtrace_mark mark = {};
	unsigned int i;
	bool valid;

	for (i = 0; i < ARRAY_SIZE(formats); i++) {
		mark.format = formats[i].format;
		mark.n_args = formats[i].n_args;
		valid = kmemtrace_mark_types(&mark, types, string_max);
		KUNIT_EXPECT_EQ_MSG(test, valid, !!formats[i].types, "'%s'",
				    formats[i].format);
		if (valid && formats[i].types)
			KUNIT_EXPECT_STREQ(test, types, formats[i].types);
	}
}

static void kmemtrace_test_mark_strings(struct kunit *test)
{
	char types[KMEMTRACE_MARK_ARGS + 1];
	u16 string_max[KMEMTRACE_MARK_ARGS];
	struct kmemtrace_mark mark = {
		.format = "%s %.5s %.0s %.s %.70000s %20.7s",
		.n_args = 6,
	};

	KUNIT_ASSERT_TRUE(test, kmemtrace_mark_types(&mark, types, string_max));
	/* The byte after the recorded bytes shows whether the string is longer. */
	KUNIT_EXPECT_EQ(test, string_max[0], KMEMTRACE_MARK_STRING + 1);
	KUNIT_EXPECT_EQ(test, string_max[1], 5);
	KUNIT_EXPECT_EQ(test, string_max[2], 0);
	KUNIT_EXPECT_EQ(test, string_max[3], 0);
	KUNIT_EXPECT_EQ(test, string_max[4], KMEMTRACE_MARK_STRING + 1);
	KUNIT_EXPECT_EQ(test, string_max[5], 7);
}

static struct kunit_case kmemtrace_parse_cases[] = {
	KUNIT_CASE(kmemtrace_test_bytes),
	KUNIT_CASE(kmemtrace_test_subbuf_size),
	KUNIT_CASE(kmemtrace_test_geometry),
	KUNIT_CASE(kmemtrace_test_filter_sizes),
	KUNIT_CASE(kmemtrace_test_filter_words),
	KUNIT_CASE(kmemtrace_test_filter_refused),
#ifdef CONFIG_CGROUPS
	KUNIT_CASE(kmemtrace_test_filter_cgroups),
#endif
	KUNIT_CASE(kmemtrace_test_trigger_kinds),
	KUNIT_CASE(kmemtrace_test_trigger_refused),
	KUNIT_CASE(kmemtrace_test_trigger_limits),
	KUNIT_CASE(kmemtrace_test_trigger_sites),
	KUNIT_CASE(kmemtrace_test_mark_types),
	KUNIT_CASE(kmemtrace_test_mark_strings),
	{}
};

static struct kunit_suite kmemtrace_parse_suite = {
	.name = "kmemtrace_parse",
	.test_cases = kmemtrace_parse_cases,
};

kunit_test_suite(kmemtrace_parse_suite);
