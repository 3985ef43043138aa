# SPDX-License-Identifier: GPL-2.0-or-later
# Programs that link this library also link $(LIBDW_LIBS), which is empty if the
# build has no libdw.
noinst_LIBRARIES += lib/symbols/libsymbols.a
lib_symbols_libsymbols_a_SOURCES = \
	lib/symbols/address-ranges.h \
	lib/symbols/call-site-tags.c lib/symbols/call-site-tags.h \
	lib/symbols/debug-directory.h \
	lib/symbols/debug-file.h lib/symbols/debug-file-private.h \
	lib/symbols/dwarf-error.c lib/symbols/dwarf-error.h \
	lib/symbols/dwarf.h \
	lib/symbols/gfp-flags.c lib/symbols/gfp-flags.h \
	lib/symbols/kallsyms.c lib/symbols/kallsyms.h \
	lib/symbols/kallsyms-load.c lib/symbols/kallsyms-private.h \
	lib/symbols/kallsyms-sort.c \
	lib/symbols/kallsyms-line.h \
	lib/symbols/symbolizer.c lib/symbols/symbolizer.h \
	lib/symbols/source-location.h \
	lib/symbols/wrapper-functions.c lib/symbols/wrapper-functions.h \
	lib/symbols/line-reader.c lib/symbols/line-reader.h \
	lib/symbols/build-tree.h
if LIBDW
lib_symbols_libsymbols_a_SOURCES += \
	lib/symbols/address-ranges.c \
	lib/symbols/debug-directory.c \
	lib/symbols/debug-file.c lib/symbols/debug-file-lookup.c \
	lib/symbols/dwarf.c \
	lib/symbols/source-location.c \
	lib/symbols/build-tree.c
else
lib_symbols_libsymbols_a_SOURCES += lib/symbols/no-libdw.c
endif
lib_symbols_libsymbols_a_CFLAGS = $(AM_CFLAGS) $(LIBDW_CFLAGS)
dist_pkgdata_DATA += lib/symbols/wrappers.list
EXTRA_DIST += lib/symbols/README.md
