# SPDX-License-Identifier: GPL-2.0-or-later
# Programs link $(LIBDW_LIBS) with it, which is empty without libdw.
noinst_LIBRARIES += symbols/libsymbols.a
symbols_libsymbols_a_SOURCES = \
	symbols/debugdir.h \
	symbols/debugfile.h \
	symbols/dwarf.h \
	symbols/gfp.c symbols/gfp.h \
	symbols/kallsyms.c symbols/kallsyms.h \
	symbols/kallsyms-line.h \
	symbols/names.c symbols/names.h \
	symbols/place.h \
	symbols/skip.c symbols/skip.h \
	symbols/textfile.c symbols/textfile.h \
	symbols/tree.h
if LIBDW
symbols_libsymbols_a_SOURCES += \
	symbols/debugdir.c \
	symbols/debugfile.c \
	symbols/dwarf.c \
	symbols/place.c \
	symbols/tree.c
else
symbols_libsymbols_a_SOURCES += symbols/nolibdw.c
endif
symbols_libsymbols_a_CPPFLAGS = $(AM_CPPFLAGS) \
	-DKMT_PKGDATADIR=\"$(pkgdatadir)\"
symbols_libsymbols_a_CFLAGS = $(AM_CFLAGS) $(LIBDW_CFLAGS)
dist_pkgdata_DATA += symbols/wrappers.list
