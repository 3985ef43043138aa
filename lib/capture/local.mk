# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LIBRARIES += lib/capture/libcapture.a
lib_capture_libcapture_a_SOURCES = \
	lib/capture/names.c lib/capture/names.h
lib_capture_libcapture_a_CFLAGS = $(AM_CFLAGS)
