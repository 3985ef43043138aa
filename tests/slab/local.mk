# SPDX-License-Identifier: GPL-2.0-or-later
# lib/slab: layouts of caches, and the simulation of the slab allocators.
EXTRA_DIST += \
	tests/slab/layouts-6.1-slab.txt \
	tests/slab/layouts-6.1-slub.txt \
	tests/slab/layouts-6.1-slub-8.txt \
	tests/slab/layouts-6.12-slub.txt \
	tests/slab/layouts-7.2-slub.txt

check_PROGRAMS += tests/slab/geometry-unit
tests_slab_geometry_unit_SOURCES = tests/slab/geometry-unit.c
tests_slab_geometry_unit_LDADD = $(KMT_SLAB_LIBS)
TESTS += tests/slab/geometry-unit

check_PROGRAMS += tests/slab/simulator-unit
tests_slab_simulator_unit_SOURCES = tests/slab/simulator-unit.c
tests_slab_simulator_unit_LDADD = $(KMT_SLAB_LIBS)
TESTS += tests/slab/simulator-unit

# The steps of guests run this program, so it is built with the others.
noinst_PROGRAMS += tests/slab/simulate-slabs
tests_slab_simulate_slabs_SOURCES = tests/slab/simulate-slabs.c
tests_slab_simulate_slabs_LDADD = $(KMT_REPORT_LIBS)
