// SPDX-License-Identifier: GPL-2.0-or-later
/* Unit tests of the control groups of tasks, with a /proc of files. */
#include "config.h"

#include <sys/stat.h>

#include <glib/gstdio.h>

#include "kmemtraced/cgroup-paths.h"
#include "kmemtraced/task-cgroups.h"
#include "lib/capture/error.h"

#define HEAD "# kmemtrace: cgroups\n# columns: pid until path\n"

typedef struct {
	char *proc;
	char *mount; /* of cgroup v2 */
	KmtdTaskCgroups *cgroups;
} Fixture;

static void write_file(const char *path, const char *text)
{
	g_autofree char *folder = g_path_get_dirname(path);

	g_assert_cmpint(g_mkdir_with_parents(folder, 0700), ==, 0);
	g_assert_true(g_file_set_contents(path, text, -1, NULL));
}

static void add_task(const Fixture *f, guint tgid, guint pid, const char *text)
{
	g_autofree char *path =
		g_strdup_printf("%s/%u/task/%u/cgroup", f->proc, tgid, pid);

	write_file(path, text);
}

/* Make the cgroup with this path, and return its id. */
static guint64 add_directory(const Fixture *f, const char *path)
{
	g_autofree char *directory = g_build_filename(f->mount, path, NULL);
	struct stat status;

	g_assert_cmpint(g_mkdir_with_parents(directory, 0700), ==, 0);
	g_assert_cmpint(stat(directory, &status), ==, 0);
	return status.st_ino;
}

static void set_up(Fixture *f, gconstpointer data)
{
	g_autofree char *root = g_dir_make_tmp(NULL, NULL);
	g_autofree char *path = g_build_filename(root, "self/mounts", NULL);
	g_autofree char *mounts = NULL;

	f->proc = g_steal_pointer(&root);
	f->mount = g_build_filename(f->proc, "mount", NULL);
	mounts = g_strdup_printf("proc /proc proc rw 0 0\n"
				 "none %s cgroup2 rw 0 0\n",
				 f->mount);
	write_file(path, mounts);
	f->cgroups = kmtd_task_cgroups_new(f->proc);
}

static void tear_down(Fixture *f, gconstpointer data)
{
	g_autofree char *command = g_strdup_printf("rm -r '%s'", f->proc);

	kmtd_task_cgroups_free(f->cgroups);
	g_assert_true(
		g_spawn_command_line_sync(command, NULL, NULL, NULL, NULL));
	g_free(f->proc);
	g_free(f->mount);
}

static void expect(const Fixture *f, const char *lines)
{
	g_autofree char *text = kmtd_task_cgroups_text(f->cgroups);
	g_autofree char *expected = g_strconcat(HEAD, lines, NULL);

	g_assert_cmpstr(text, ==, expected);
}

/* A task without a line of cgroup v2 has no entry. */
static void test_start(Fixture *f, gconstpointer data)
{
	g_autofree char *none = kmtd_task_cgroups_text(f->cgroups);

	g_assert_null(none);
	add_task(f, 1, 1, "0::/init.scope\n");
	add_task(f, 5, 5, "4:memory:/old\n0::/a.slice/b c\n");
	add_task(f, 5, 6, "4:memory:/old\n");
	kmtd_task_cgroups_read(f->cgroups);
	expect(f, "1 - /init.scope\n5 - /a.slice/b c\n");
}

/* A new task is in the cgroup that the kernel names, or else that of its
 * parent. */
static void test_fork(Fixture *f, gconstpointer data)
{
	guint64 id = add_directory(f, "x/y");

	add_task(f, 1, 1, "0::/\n");
	kmtd_task_cgroups_read(f->cgroups);
	kmtd_task_cgroups_fork(f->cgroups, 1, 10, 10, id, 100);
	kmtd_task_cgroups_fork(f->cgroups, 10, 11, 11, 0, 200);
	/* Another task gets the pid. */
	kmtd_task_cgroups_fork(f->cgroups, 1, 10, 10, 0, 300);
	expect(f, "10 300 /x/y\n1 - /\n10 - /\n11 - /x/y\n");
}

/* A cgroup that is made and removed during the recording keeps its path. */
static void test_move(Fixture *f, gconstpointer data)
{
	const guint64 id = G_GUINT64_CONSTANT(0xfeedf00d12345678);

	add_task(f, 5, 5, "0::/a\n");
	add_task(f, 5, 6, "0::/a\n");
	add_task(f, 7, 7, "0::/a\n");
	kmtd_task_cgroups_read(f->cgroups);
	kmtd_task_cgroups_add(f->cgroups, id, "/new");
	kmtd_task_cgroups_move(f->cgroups, 5, TRUE, id, 100);
	kmtd_task_cgroups_move(f->cgroups, 7, FALSE, id, 200);
	/* An unknown cgroup changes nothing. */
	kmtd_task_cgroups_move(f->cgroups, 7, FALSE, 1, 300);
	expect(f,
	       "5 100 /a\n6 100 /a\n7 200 /a\n5 - /new\n6 - /new\n7 - /new\n");
}

static void expect_paths(const Fixture *f, const char *globs,
			 const char *expected)
{
	g_auto(GStrv) list = g_strsplit(globs, " ", -1);
	g_autoptr(GError) error = NULL;
	g_auto(GStrv) paths = kmtd_cgroup_paths(f->proc, list, &error);
	g_autofree char *text = NULL;

	g_assert_no_error(error);
	text = g_strjoinv(" ", paths);
	g_assert_cmpstr(text, ==, expected);
}

static void expect_no_paths(const Fixture *f, const char *glob, int code)
{
	char *list[] = {(char *)glob, NULL};
	g_autoptr(GError) error = NULL;

	g_assert_null(kmtd_cgroup_paths(f->proc, list, &error));
	g_assert_error(error, KMT_DAEMON_ERROR, code);
}

/* The paths for the kernel's filter. */
static void test_paths(Fixture *f, gconstpointer data)
{
	g_autofree char *mounts =
		g_build_filename(f->proc, "self/mounts", NULL);

	add_directory(f, "a/b/c");
	add_directory(f, "ab");
	add_directory(f, "x, \\\xc3\xa4/y");
	expect_paths(f, "/a", "/a");
	expect_paths(f, "/a*", "/a /ab");
	expect_paths(f, "/a/* /a/b/c", "/a/b");
	expect_paths(f, "/x*", "/x\\054\\040\\134\\303\\244");
	expect_paths(f, "/a /", "/");
	expect_no_paths(f, "/none", KMT_DAEMON_ERROR_CGROUPS);
	for (guint i = 0; i < KMTD_CGROUP_PATHS_MAX; i++) {
		g_autofree char *name = g_strdup_printf("many-%02u", i);

		add_directory(f, name);
	}
	expect_paths(f, "/many-0? /many-1[",
		     "/many-00 /many-01 /many-02 /many-03 "
		     "/many-04 /many-05 /many-06 /many-07 /many-08 /many-09");
	expect_no_paths(f, "/?*", KMT_DAEMON_ERROR_CGROUPS);
	write_file(mounts, "proc /proc proc rw 0 0\n");
	expect_no_paths(f, "/a", KMT_DAEMON_ERROR_NO_CGROUPS);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add("/cgroups/start", Fixture, NULL, set_up, test_start,
		   tear_down);
	g_test_add("/cgroups/fork", Fixture, NULL, set_up, test_fork,
		   tear_down);
	g_test_add("/cgroups/move", Fixture, NULL, set_up, test_move,
		   tear_down);
	g_test_add("/cgroups/paths", Fixture, NULL, set_up, test_paths,
		   tear_down);
	return g_test_run();
}
