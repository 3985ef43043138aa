# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LIBRARIES += lib/match/libmatch.a
lib_match_libmatch_a_SOURCES = \
	lib/match/address-set.c lib/match/address-set.h \
	lib/match/ambiguous.c \
	lib/match/class-table.c lib/match/class-table.h \
	lib/match/cross-uses.c lib/match/cross-uses.h \
	lib/match/defer-records.c \
	lib/match/intern.c lib/match/intern.h \
	lib/match/keys.c lib/match/keys.h \
	lib/match/match-block.h lib/match/match-state.c \
	lib/match/matcher.c lib/match/matcher.h \
	lib/match/matcher-private.h \
	lib/match/merge.c lib/match/merge.h lib/match/merge-private.h \
	lib/match/merge-cursor.c lib/match/merge-notes.c \
	lib/match/merge-fill.c lib/match/merge-run.c lib/match/merge-tree.c \
	lib/match/merge-two-files.c lib/match/branch-free.h \
	lib/match/online.c lib/match/online.h \
	lib/match/object-table.c lib/match/object-table.h \
	lib/match/pending.c \
	lib/match/pipeline.c lib/match/pipeline.h \
	lib/match/pipeline-private.h lib/match/pipeline-slow-events.c \
	lib/match/pipeline-stages.c lib/match/pipeline-threads.c \
	lib/match/shard-queue.h
lib_match_libmatch_a_CFLAGS = $(AM_CFLAGS)
EXTRA_DIST += lib/match/README.md
