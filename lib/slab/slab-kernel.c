// SPDX-License-Identifier: GPL-2.0-or-later
/* The properties of a kernel, from its release and its machine. */
#include "config.h"

#include <string.h>

#include "lib/slab/slab-geometry.h"

/* Properties of a machine. */
typedef struct {
	const char *name; /* prefix of the output of uname -m */
	guint pointer_size;
	guint page_size;
	guint cache_line;
	/* Smallest size of kmalloc() before and since Linux 6.5, which can use
	 * bounce buffers for DMA to small objects. */
	guint kmalloc_min, kmalloc_min_6_5;
} Machine;

static const Machine machines[] = {
	{"x86_64", 8, 4096, 64, 8, 8},	   {"aarch64", 8, 4096, 64, 128, 8},
	{"arm", 4, 4096, 64, 64, 64},	   {"s390x", 8, 4096, 256, 8, 8},
	{"ppc64", 8, 65536, 128, 8, 8},	   {"riscv64", 8, 4096, 64, 64, 8},
	{"loongarch", 8, 16384, 64, 8, 8}, {"i", 4, 4096, 64, 8, 8},
	{"", 8, 4096, 64, 8, 8},
};

static const Machine *find_machine(const char *name)
{
	const Machine *machine = machines;

	while (!g_str_has_prefix(name, machine->name))
		machine++;
	return machine;
}

/* Parse "6.12.3-amd64". Return 0 if the text does not begin with two numbers.
 */
static guint parse_release(const char *text)
{
	guint64 major, minor;
	char *end;

	if (!g_ascii_isdigit(*text))
		return 0;
	major = g_ascii_strtoull(text, &end, 10);
	if (*end != '.' || !g_ascii_isdigit(end[1]))
		return 0;
	minor = g_ascii_strtoull(end + 1, NULL, 10);
	return major < 1000 && minor < 1000 ? KMT_SLAB_RELEASE(major, minor)
					    : 0;
}

gboolean kmt_slab_kernel_init(KmtSlabKernel *kernel, const char *release,
			      const char *machine, gboolean is_slab, guint cpus,
			      guint page_size, guint pointer_size)
{
	const Machine *found = find_machine(machine ? machine : "");

	memset(kernel, 0, sizeof(*kernel));
	kernel->release = release ? parse_release(release) : 0;
	if (kernel->release < KMT_SLAB_RELEASE(6, 1))
		return FALSE;
	is_slab = is_slab && kernel->release < KMT_SLAB_RELEASE(6, 8);
	if (is_slab)
		kernel->allocator = KMT_SLAB_ALLOCATOR_SLAB;
	else if (kernel->release >= KMT_SLAB_RELEASE(7, 0))
		kernel->allocator = KMT_SLAB_ALLOCATOR_SHEAVES;
	kernel->page_size = page_size ? page_size : found->page_size;
	kernel->pointer_size =
		pointer_size ? pointer_size : found->pointer_size;
	kernel->cpus = MAX(cpus, 1);
	kernel->possible_cpus = kernel->cpus;
	kernel->cache_line = found->cache_line;
	kernel->kmalloc_min = kernel->release < KMT_SLAB_RELEASE(6, 5)
				      ? found->kmalloc_min
				      : found->kmalloc_min_6_5;
	if (is_slab)
		kernel->kmalloc_min = MAX(kernel->kmalloc_min, 32);
	kernel->kmalloc_max = 2 * (gsize)kernel->page_size;
	kernel->descriptor_size = 256;
	kernel->node_size = is_slab ? 128 : 64;
	kernel->slab_max_order = 1;
	return TRUE;
}
