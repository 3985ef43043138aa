# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LIBRARIES += trace/libtrace.a
trace_libtrace_a_SOURCES = \
	trace/addrset.c trace/addrset.h \
	trace/cells.c trace/cells.h \
	trace/capture.c trace/capture.h \
	trace/hash.h \
	trace/intern.c trace/intern.h \
	trace/match.c trace/match.h trace/match-private.h \
	trace/merge.c trace/merge.h \
	trace/objtable.c trace/objtable.h \
	trace/pipeline.c trace/pipeline.h \
	trace/source.c trace/source.h \
	trace/surplus.c
