# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LIBRARIES += lib/base/libbase.a
lib_base_libbase_a_SOURCES = \
	lib/base/address-search.h \
	lib/base/dlopen-note.h \
	lib/base/hash.c lib/base/hash.h \
	lib/base/libzstd.c lib/base/libzstd.h \
	lib/base/multiply.h \
	lib/base/optional-library.c lib/base/optional-library.h \
	lib/base/printable.c lib/base/printable.h
lib_base_libbase_a_CFLAGS = $(AM_CFLAGS) $(LIBZSTD_CFLAGS) $(GMODULE_CFLAGS)
EXTRA_DIST += lib/base/README.md
