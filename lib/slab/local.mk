# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LIBRARIES += lib/slab/libslab.a
lib_slab_libslab_a_SOURCES = \
	lib/slab/array-lists.c \
	lib/slab/capture-caches.c lib/slab/capture-caches.h \
	lib/slab/slab-geometry.c lib/slab/slab-geometry.h \
	lib/slab/geometry-array.c lib/slab/geometry-private.h \
	lib/slab/geometry-slub.c \
	lib/slab/sheaves.c \
	lib/slab/simulated-cache.c \
	lib/slab/simulator.c lib/slab/simulator.h \
	lib/slab/simulator-private.h \
	lib/slab/slab-kernel.c \
	lib/slab/slab-pool.c lib/slab/slab-pool.h \
	lib/slab/slub-lists.c
lib_slab_libslab_a_CFLAGS = $(AM_CFLAGS)
EXTRA_DIST += lib/slab/README.md
