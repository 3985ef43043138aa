// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "fuzz/scratch.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static char *directory;
static GPtrArray *paths; /* char * elements */

static void remove_directory(void)
{
	kmt_scratch_clear();
	rmdir(directory);
	g_clear_pointer(&paths, g_ptr_array_unref);
	g_clear_pointer(&directory, g_free);
}

const char *kmt_scratch_directory(void)
{
	if (!directory) {
		directory = g_dir_make_tmp("fuzz.XXXXXX", NULL);
		if (!directory)
			g_error("cannot make a directory in %s",
				g_get_tmp_dir());
		paths = g_ptr_array_new_with_free_func(g_free);
		atexit(remove_directory);
	}
	return directory;
}

const char *kmt_scratch_write(const char *name, const void *data, gsize size)
{
	char *path = g_build_filename(kmt_scratch_directory(), name, NULL);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	g_ptr_array_add(paths, path);
	if (fd < 0 || write(fd, data, size) != (gssize)size)
		g_error("cannot write %s", path);
	close(fd);
	return path;
}

void kmt_scratch_clear(void)
{
	guint i;

	for (i = 0; i < paths->len; i++)
		unlink(g_ptr_array_index(paths, i));
	g_ptr_array_set_size(paths, 0);
}
