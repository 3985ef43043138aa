// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "lib/capture/meta.h"

#define META_FORMAT 1
#define CAPTURE	    "capture"

/* Alignment of the names and values of ELF notes. */
#define NOTE_ALIGN_BYTES 4

/*
 * Return the GNU build id among the kernel's ELF notes in hexadecimal, or NULL.
 */
static char *find_build_id(const char *notes, gsize n_bytes)
{
	gsize at = 0;

	while (n_bytes - at >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr note;
		guint64 name, value, next; /* beyond the range of gsize if the
					    * sizes in the note are wrong */
		GString *hex;

		memcpy(&note, notes + at, sizeof(note));
		name = at + sizeof(note);
		value = name +
			(((guint64)note.n_namesz + NOTE_ALIGN_BYTES - 1) &
			 ~(guint64)(NOTE_ALIGN_BYTES - 1));
		next = value +
		       (((guint64)note.n_descsz + NOTE_ALIGN_BYTES - 1) &
			~(guint64)(NOTE_ALIGN_BYTES - 1));
		if (value > n_bytes || value + note.n_descsz > n_bytes)
			return NULL;
		if (note.n_type == NT_GNU_BUILD_ID &&
		    note.n_namesz == sizeof(ELF_NOTE_GNU) &&
		    memcmp(notes + name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) ==
			    0) {
			hex = g_string_new(NULL);
			for (gsize i = 0; i < note.n_descsz; i++)
				g_string_append_printf(
					hex, "%02x", (guint8)notes[value + i]);
			return g_string_free(hex, FALSE);
		}
		if (next > n_bytes)
			return NULL;
		at = (gsize)next;
	}
	return NULL;
}

char *kmt_capture_meta_build_id(const char *sys)
{
	g_autofree char *path = g_build_filename(sys, "kernel", "notes", NULL);
	g_autofree char *notes = NULL;
	gsize n_bytes;

	if (!g_file_get_contents(path, &notes, &n_bytes, NULL))
		return NULL;
	return find_build_id(notes, n_bytes);
}

static void set_build_id(GKeyFile *meta, const char *sys)
{
	g_autofree char *id = kmt_capture_meta_build_id(sys);

	if (id)
		g_key_file_set_string(meta, CAPTURE, "build_id", id);
}

/* Set the boot id, which shows whether two captures belong to the same boot. */
static void set_boot_id(GKeyFile *meta, const char *proc)
{
	g_autofree char *path = g_build_filename(proc, "sys", "kernel",
						 "random", "boot_id", NULL);
	g_autofree char *id = NULL;

	if (g_file_get_contents(path, &id, NULL, NULL) && *g_strstrip(id))
		g_key_file_set_string(meta, CAPTURE, "boot_id", id);
}

/*
 * Set the slab allocator of the kernel. Only SLUB has /sys/kernel/slab; a
 * kernel with /proc/slabinfo but without this directory has SLAB.
 */
static void set_allocator(GKeyFile *meta, const char *sys, const char *proc)
{
	g_autofree char *slab = g_build_filename(sys, "kernel", "slab", NULL);
	g_autofree char *info = g_build_filename(proc, "slabinfo", NULL);
	g_autofree char *kernel = g_build_filename(sys, "kernel", NULL);

	if (g_file_test(slab, G_FILE_TEST_IS_DIR))
		g_key_file_set_string(meta, CAPTURE, "allocator", "slub");
	else if (g_file_test(kernel, G_FILE_TEST_IS_DIR) &&
		 g_file_test(info, G_FILE_TEST_EXISTS))
		g_key_file_set_string(meta, CAPTURE, "allocator", "slab");
}

/*
 * Set the number of CPUs that the kernel has per-CPU memory for, from a list of
 * ranges such as "0-3,8".
 */
static void set_possible_cpus(GKeyFile *meta, const char *sys)
{
	g_autofree char *path = g_build_filename(sys, "devices", "system",
						 "cpu", "possible", NULL);
	g_autofree char *text = NULL;
	const char *at;
	guint64 n = 0;

	if (!g_file_get_contents(path, &text, NULL, NULL))
		return;
	for (at = text; g_ascii_isdigit(*at); at += *at == ',') {
		char *end;
		guint64 first = g_ascii_strtoull(at, &end, 10), last = first;

		if (*end == '-')
			last = g_ascii_strtoull(end + 1, &end, 10);
		if (last < first || last > G_MAXUINT16)
			return;
		n += last - first + 1;
		at = end;
	}
	if (n)
		g_key_file_set_uint64(meta, CAPTURE, "possible_cpus", n);
}

/*
 * Return the word size of the kernel. A 32-bit program may run on a 64-bit
 * kernel.
 */
static int word_bytes(const char *machine)
{
	return strstr(machine, "64") || g_str_equal(machine, "s390x")
		       ? 8
		       : (int)sizeof(void *);
}

static void set_boolean(GKeyFile *meta, const char *key, gboolean value)
{
	g_key_file_set_boolean(meta, CAPTURE, key, value);
}

void kmt_capture_meta_set_time(GKeyFile *meta, const char *key)
{
	g_autoptr(GDateTime) now = g_date_time_new_now_utc();
	g_autofree char *text = g_date_time_format_iso8601(now);

	g_key_file_set_string(meta, CAPTURE, key, text);
}

void kmt_capture_meta_set_continues(GKeyFile *meta, gboolean continues)
{
	set_boolean(meta, "continues", continues);
}

GKeyFile *kmt_capture_meta_new(const KmtCaptureMetaStart *start)
{
	GKeyFile *meta = g_key_file_new();
	struct utsname host;

	g_key_file_set_integer(meta, CAPTURE, "format", META_FORMAT);
	g_key_file_set_uint64(meta, CAPTURE, "abi_version", start->abi_version);
	g_key_file_set_uint64(meta, CAPTURE, "record_size",
			      start->record_bytes);
	g_key_file_set_string(meta, CAPTURE, "byte_order",
			      G_BYTE_ORDER == G_LITTLE_ENDIAN ? "little"
							      : "big");
	g_key_file_set_int64(meta, CAPTURE, "page_size", sysconf(_SC_PAGESIZE));
	if (uname(&host) == 0) {
		g_key_file_set_integer(meta, CAPTURE, "word_size",
				       word_bytes(host.machine));
		g_key_file_set_string(meta, CAPTURE, "machine", host.machine);
		g_key_file_set_string(meta, CAPTURE, "kernel_release",
				      host.release);
	}
	set_build_id(meta, start->sys);
	set_boot_id(meta, start->proc);
	set_allocator(meta, start->sys, start->proc);
	set_possible_cpus(meta, start->sys);
	g_key_file_set_string(meta, CAPTURE, "source", start->source);
	kmt_capture_meta_set_continues(meta, start->continues);
	set_boolean(meta, "was_enabled", start->was_enabled);
	set_boolean(meta, "complete", FALSE);
	g_key_file_set_string(meta, CAPTURE, "kmemtraced_version",
			      PACKAGE_VERSION);
	g_key_file_set_int64(meta, CAPTURE, "kmemtraced_pid", getpid());
	g_key_file_set_integer(meta, CAPTURE, "cpus", 0);
	kmt_capture_meta_set_time(meta, "start_time");
	return meta;
}

/* Find the NUMA node of a CPU: the directory of the CPU has a link node<k>. */
static gboolean find_node(const char *sys, guint cpu, int *node)
{
	g_autofree char *path =
		g_strdup_printf("%s/devices/system/cpu/cpu%u", sys, cpu);
	GDir *dir = g_dir_open(path, 0, NULL);
	const char *name;
	gboolean found = FALSE;
	gint64 n;

	while (!found && dir && (name = g_dir_read_name(dir)))
		found = g_str_has_prefix(name, "node") &&
			g_ascii_string_to_signed(name + strlen("node"), 10, 0,
						 G_MAXINT, &n, NULL);
	if (found)
		*node = (int)n;
	if (dir)
		g_dir_close(dir);
	return found;
}

void kmt_capture_meta_add_cpu(GKeyFile *meta, const char *sys, guint cpu)
{
	g_autofree char *group = g_strdup_printf("cpu%u", cpu);
	int node = -1;

	find_node(sys, cpu, &node);
	g_key_file_set_integer(meta, group, "node", node);
	g_key_file_set_integer(
		meta, CAPTURE, "cpus",
		g_key_file_get_integer(meta, CAPTURE, "cpus", NULL) + 1);
}

static void set_figures(GKeyFile *meta, const char *group, guint64 bytes,
			const guint64 *overruns)
{
	guint64 record_bytes =
		g_key_file_get_uint64(meta, CAPTURE, "record_size", NULL);

	g_key_file_set_uint64(meta, group, "events", bytes / record_bytes);
	g_key_file_set_uint64(meta, group, "bytes", bytes);
	if (overruns)
		g_key_file_set_uint64(meta, group, "overruns", *overruns);
}

void kmt_capture_meta_set_cpu(GKeyFile *meta, guint cpu, guint64 bytes,
			      const guint64 *overruns)
{
	g_autofree char *group = g_strdup_printf("cpu%u", cpu);

	set_figures(meta, group, bytes, overruns);
}

void kmt_capture_meta_set_frames(GKeyFile *meta, guint cpu,
				 const KmtCaptureCpuFrames *frames)
{
	g_autofree char *group = g_strdup_printf("cpu%u", cpu);

	g_key_file_set_uint64(meta, group, "file_bytes", frames->file_bytes);
	g_key_file_set_uint64(meta, group, "frames", frames->n_frames);
	g_key_file_set_uint64(meta, group, "stored_frames", frames->n_stored);
}

void kmt_capture_meta_end(GKeyFile *meta, guint64 bytes,
			  const guint64 *overruns, gboolean complete)
{
	kmt_capture_meta_set_time(meta, "end_time");
	set_figures(meta, CAPTURE, bytes, overruns);
	set_boolean(meta, "complete", complete);
}
