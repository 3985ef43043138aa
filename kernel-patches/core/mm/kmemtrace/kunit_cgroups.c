// SPDX-License-Identifier: GPL-2.0-only
/* kmemtrace: KUnit tests of the ring with the paths of removed cgroups. */

#include <kunit/test.h>
#include <linux/hash.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "cgroup_paths.h"

static int kmemtrace_test_paths_init(struct kunit *test)
{
	struct kmemtrace_cgroup_paths *paths = kunit_kzalloc(test, sizeof(*paths), GFP_KERNEL);
	void *ring = kunit_kzalloc(test, KMEMTRACE_CGROUP_PATHS_MIN, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, paths);
	KUNIT_ASSERT_NOT_NULL(test, ring);
	kmemtrace_cgroup_paths_init(paths, ring, KMEMTRACE_CGROUP_PATHS_MIN);
	test->priv = paths;
	return 0;
}

/* The path of a cgroup in the tests, whose length depends on the id. */
static const char *kmemtrace_test_path(u64 id)
{
	static char path[64];

	snprintf(path, sizeof(path), "/%0*llu", 1 + (int)((u32)id % 50), id);
	return path;
}

static void kmemtrace_test_add_path(struct kunit *test, u64 id)
{
	kmemtrace_cgroup_paths_add(test->priv, id, kmemtrace_test_path(id));
}

/* Return whether the path is in the ring.  A wrong path is a failure. */
static bool kmemtrace_test_find_path(struct kunit *test, u64 id)
{
	const char *path = kmemtrace_cgroup_paths_find(test->priv, id);

	if (path)
		KUNIT_EXPECT_STREQ(test, path, kmemtrace_test_path(id));
	return path;
}

static void kmemtrace_test_paths_found(struct kunit *test)
{
	u64 id;

	KUNIT_EXPECT_FALSE(test, kmemtrace_test_find_path(test, 1));
	for (id = 1; id <= 40; id++)
		kmemtrace_test_add_path(test, id << 32 | 7);
	for (id = 1; id <= 40; id++) {
		KUNIT_EXPECT_TRUE(test, kmemtrace_test_find_path(test, id << 32 | 7));
		KUNIT_EXPECT_FALSE(test, kmemtrace_test_find_path(test, id << 32 | 8));
	}
}

/* Paths of one chain. */
static void kmemtrace_test_paths_chain(struct kunit *test)
{
	u64 id, ids[8];
	unsigned int n = 0, i;

	for (id = 1; n < ARRAY_SIZE(ids); id++)
		if (hash_64(id, KMEMTRACE_CGROUP_CHAIN_BITS) ==
		    hash_64(1, KMEMTRACE_CGROUP_CHAIN_BITS))
			ids[n++] = id;
	for (i = 0; i < n - 1; i++)
		kmemtrace_test_add_path(test, ids[i]);
	for (i = 0; i < n - 1; i++)
		KUNIT_EXPECT_TRUE(test, kmemtrace_test_find_path(test, ids[i]));
	KUNIT_EXPECT_FALSE(test, kmemtrace_test_find_path(test, ids[n - 1]));
}

/* The newest paths are found, without a gap, and no other ones. */
static void kmemtrace_test_paths_overwritten(struct kunit *test)
{
	u32 id, last;

	for (last = 1; last <= 5000; last++) {
		kmemtrace_test_add_path(test, last);
		if (last % 97)
			continue;
		for (id = last; id && kmemtrace_test_find_path(test, id); id--)
			;
		/* An entry takes 24 to 72 bytes. */
		KUNIT_EXPECT_GE(test, last - id,
				min_t(u32, last, KMEMTRACE_CGROUP_PATHS_MIN / 72 - 1));
		KUNIT_EXPECT_LE(test, last - id, (u32)KMEMTRACE_CGROUP_PATHS_MIN / 24);
		for (; id; id--)
			KUNIT_EXPECT_NULL(test, kmemtrace_cgroup_paths_find(test->priv, id));
	}
}

static void kmemtrace_test_paths_long(struct kunit *test)
{
	char *path = kunit_kzalloc(test, KMEMTRACE_CGROUP_PATH_MAX + 1, GFP_KERNEL);
	const char *found;
	u64 id;

	KUNIT_ASSERT_NOT_NULL(test, path);
	memset(path, 'x', KMEMTRACE_CGROUP_PATH_MAX - 1);
	for (id = 1; id <= 20; id++) {
		kmemtrace_cgroup_paths_add(test->priv, id, path);
		found = kmemtrace_cgroup_paths_find(test->priv, id);
		KUNIT_ASSERT_NOT_NULL(test, found);
		KUNIT_EXPECT_STREQ(test, found, path);
	}
	/* The tracepoint has shortened this path. */
	path[KMEMTRACE_CGROUP_PATH_MAX - 1] = 'x';
	kmemtrace_cgroup_paths_add(test->priv, id, path);
	KUNIT_EXPECT_NULL(test, kmemtrace_cgroup_paths_find(test->priv, id));
}

static struct kunit_case kmemtrace_cgroups_cases[] = {
	KUNIT_CASE(kmemtrace_test_paths_found),
	KUNIT_CASE(kmemtrace_test_paths_chain),
	KUNIT_CASE(kmemtrace_test_paths_overwritten),
	KUNIT_CASE(kmemtrace_test_paths_long),
	{}
};

static struct kunit_suite kmemtrace_cgroups_suite = {
	.name = "kmemtrace_cgroups",
	.init = kmemtrace_test_paths_init,
	.test_cases = kmemtrace_cgroups_cases,
};

kunit_test_suite(kmemtrace_cgroups_suite);
