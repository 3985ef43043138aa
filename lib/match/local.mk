# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LIBRARIES += lib/match/libmatch.a
lib_match_libmatch_a_SOURCES = \
	lib/match/address-set.c lib/match/address-set.h \
	lib/match/ambiguous.c \
	lib/match/intern.c lib/match/intern.h \
	lib/match/keys.c lib/match/keys.h \
	lib/match/match-state.c \
	lib/match/matcher.c lib/match/matcher.h \
	lib/match/matcher-private.h \
	lib/match/merge.c lib/match/merge.h \
	lib/match/object-table.c lib/match/object-table.h \
	lib/match/pipeline.c lib/match/pipeline.h \
	lib/match/shard-queue.h
lib_match_libmatch_a_CFLAGS = $(AM_CFLAGS)
