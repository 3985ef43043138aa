# SPDX-License-Identifier: GPL-2.0-or-later
bin_PROGRAMS += check/kmemtrace-check
CHECK_SOURCES = \
	check/check.c check/check.h check/check-private.h \
	check/check-across.c \
	check/check-errors.c \
	check/check-files.c \
	check/check-json.c \
	check/number-set.c check/number-set.h \
	check/record-filter.c check/record-filter.h \
	check/rules.c check/rules.h \
	check/check-text.c \
	check/check-warnings.c
check_kmemtrace_check_SOURCES = $(CHECK_SOURCES) check/main.c
check_kmemtrace_check_LDADD = $(KMT_OUTPUT_LIBS) $(KMT_CLI_LIBS)

# The name that the program had in the kernel's first documentation of it.
all-local: check/kmemtrace_check
check/kmemtrace_check: check/kmemtrace-check$(EXEEXT)
	$(AM_V_GEN)rm -f $@ && cd check && \
		$(LN_S) kmemtrace-check$(EXEEXT) kmemtrace_check
CLEANFILES += check/kmemtrace_check

install-exec-hook: install-check-link
install-check-link:
	$(MKDIR_P) '$(DESTDIR)$(bindir)'
	cd '$(DESTDIR)$(bindir)' && rm -f kmemtrace_check && \
		$(LN_S) kmemtrace-check$(EXEEXT) kmemtrace_check

uninstall-hook: uninstall-check-link
uninstall-check-link:
	rm -f '$(DESTDIR)$(bindir)/kmemtrace_check'
.PHONY: install-check-link uninstall-check-link
EXTRA_DIST += check/README.md
