/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs a program of another architecture in QEMU's user emulation.  vm/cross
 * renames each program NAME that it built to NAME.elf, and puts a copy of this
 * launcher in the place of NAME, so that the tests need no support in the
 * kernel (binfmt_misc).
 *
 * vm/cross --check sets KMT_EMULATED to the name of the architecture.  The
 * tests that QEMU cannot support are skipped if this variable is set: see
 * docs/testing.md.
 *
 * The launcher is static: the dynamic linker of this machine would try to load
 * the library in LD_PRELOAD, which is one of the other architecture.
 *
 * QEMU is the path of the emulator, LOADER that of the program's dynamic
 * linker, and LIBRARIES are the folders of its libraries.  The option -L of
 * QEMU is no alternative: with it the program would find the folder of the
 * libraries when it opens "/".
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Put the path of the running launcher, followed by ".elf", into the buffer. */
static int find_program(char *path, size_t size)
{
	static const char suffix[] = ".elf";
	ssize_t length = readlink("/proc/self/exe", path, size - sizeof(suffix));

	if (length < 0)
		return -1;
	memcpy(path + length, suffix, sizeof(suffix));
	return 0;
}

int main(int argc, char **argv)
{
	static char program[4096];
	static char preload[4096];
	static char folders[8192];
	const char *preloaded = getenv("LD_PRELOAD");
	const char *first = getenv("LD_LIBRARY_PATH");
	char **args = calloc((size_t)argc + 10, sizeof(*args));
	int n = 0;

	if (!args || find_program(program, sizeof(program)) < 0) {
		fprintf(stderr, "launcher: %s\n", strerror(errno));
		return 127;
	}
	args[n++] = (char *)QEMU;
	if (preloaded) {
		snprintf(preload, sizeof(preload), "LD_PRELOAD=%s", preloaded);
		args[n++] = (char *)"-E";
		args[n++] = preload;
		unsetenv("LD_PRELOAD");
	}
	args[n++] = (char *)LOADER;
	args[n++] = (char *)"--library-path";
	snprintf(folders, sizeof(folders), "%s%s%s", first ? first : "",
		 first ? ":" : "", LIBRARIES);
	args[n++] = folders;
	args[n++] = (char *)"--argv0";
	args[n++] = argv[0];
	args[n++] = program;
	for (int i = 1; i < argc; i++)
		args[n++] = argv[i];
	execv(QEMU, args);
	fprintf(stderr, "launcher: %s: %s\n", QEMU, strerror(errno));
	return 127;
}
