# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LIBRARIES += trace/libtrace.a
trace_libtrace_a_SOURCES = \
	trace/addrset.c trace/addrset.h \
	trace/capture.c trace/capture.h \
	trace/hash.h \
	trace/match.c trace/match.h \
	trace/merge.c trace/merge.h \
	trace/objtable.c trace/objtable.h \
	trace/text.c trace/text.h
