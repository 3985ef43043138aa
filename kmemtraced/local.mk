# SPDX-License-Identifier: GPL-2.0-or-later
sbin_PROGRAMS += kmemtraced/kmemtraced
kmemtraced_kmemtraced_SOURCES = \
	kmemtraced/capture-output.h kmemtraced/directory-output.c \
	kmemtraced/stream-output.c \
	kmemtraced/command.c kmemtraced/command.h \
	kmemtraced/error-advice.c kmemtraced/error-advice.h \
	kmemtraced/relay-control.c kmemtraced/relay-control.h \
	kmemtraced/relay-control-private.h kmemtraced/relay-files.c \
	kmemtraced/ftrace-source.c kmemtraced/ftrace-private.h \
	kmemtraced/ftrace-lost-events.c \
	kmemtraced/ftrace-meta.c kmemtraced/ftrace-prepare.c \
	kmemtraced/ftrace-stream.c \
	kmemtraced/cleanup-process.c kmemtraced/cleanup-process.h \
	kmemtraced/kernel-info.c kmemtraced/kernel-info.h \
	kmemtraced/tracefs-instance.c kmemtraced/tracefs-instance.h \
	kmemtraced/interference.c kmemtraced/interference.h \
	kmemtraced/initramfs.c kmemtraced/initramfs.h \
	kmemtraced/live.c kmemtraced/live.h \
	kmemtraced/main.c \
	kmemtraced/online-cpus.c kmemtraced/online-cpus.h \
	kmemtraced/other-files.c kmemtraced/other-files.h \
	kmemtraced/buffer-mapping.c kmemtraced/buffer-mapping.h \
	kmemtraced/self-filter.c kmemtraced/self-filter.h \
	kmemtraced/cpu-reader.c kmemtraced/cpu-reader.h \
	kmemtraced/relay-source.c \
	kmemtraced/ring-format.c kmemtraced/ring-format.h \
	kmemtraced/ring-page.c kmemtraced/ring-page.h \
	kmemtraced/capture-session.c kmemtraced/capture-session.h \
	kmemtraced/session-private.h kmemtraced/session-drain.c \
	kmemtraced/session-prepare.c kmemtraced/session-readers.c \
	kmemtraced/session-record.c kmemtraced/session-save.c \
	kmemtraced/session-stream.c kmemtraced/session-wait.c \
	kmemtraced/snapshot-capture.c kmemtraced/snapshot-capture.h \
	kmemtraced/event-source.c kmemtraced/event-source.h \
	kmemtraced/filter-text.c kmemtraced/filter-text.h \
	kmemtraced/wait-lock.c kmemtraced/wait-lock.h \
	kmemtraced/summary.c kmemtraced/summary.h \
	kmemtraced/kernel-tables.c kmemtraced/kernel-tables.h \
	kmemtraced/proc-tasks.c kmemtraced/proc-tasks.h \
	kmemtraced/cgroup-paths.c kmemtraced/cgroup-paths.h \
	kmemtraced/task-cgroups.c kmemtraced/task-cgroups.h \
	kmemtraced/task-names.c kmemtraced/task-names.h
if BPF
kmemtraced_kmemtraced_SOURCES += \
	kmemtraced/bpf-source.c kmemtraced/bpf-private.h \
	kmemtraced/bpf-callers.c kmemtraced/bpf-filter.c \
	kmemtraced/bpf-functions.c kmemtraced/bpf-load.c kmemtraced/bpf-maps.c \
	kmemtraced/bpf-names.c kmemtraced/bpf-paths.c \
	kmemtraced/bpf-programs.c \
	kmemtraced/bpf-skipped.c kmemtraced/bpf-stacks.c \
	kmemtraced/bpf-stream.c \
	kmemtraced/bpf/ring.h
endif
kmemtraced_kmemtraced_CFLAGS = $(AM_CFLAGS) $(TRACEEVENT_CFLAGS) \
	$(LIBBPF_CFLAGS) $(KMT_BPF_CFLAGS) -pthread
kmemtraced_kmemtraced_LDFLAGS = $(AM_LDFLAGS) -pthread
kmemtraced_kmemtraced_LDADD = $(KMT_TRACEPOINTS_LIBS) $(KMT_CAPTURE_LIBS) \
	$(KMT_CLI_LIBS) $(LIBBPF_LIBS)

# The programs for the kernel, which kmemtraced contains. They are compiled
# for the machine on which kmemtraced runs.
KMT_BPF_FILES = kmemtraced/bpf/kmemtrace.bpf.c kmemtraced/bpf/areas.bpf.h \
	kmemtraced/bpf/buffer.bpf.h kmemtraced/bpf/callers.bpf.h \
	kmemtraced/bpf/filter.bpf.h \
	kmemtraced/bpf/memory.bpf.h kmemtraced/bpf/names.bpf.h \
	kmemtraced/bpf/operation.bpf.h kmemtraced/bpf/own.bpf.h \
	kmemtraced/bpf/pages.bpf.h \
	kmemtraced/bpf/settings.bpf.h kmemtraced/bpf/skipped.bpf.h \
	kmemtraced/bpf/slab.bpf.h kmemtraced/bpf/stacks.bpf.h \
	kmemtraced/bpf/kernel.h kmemtraced/bpf/ring.h
KMT_BPF_COMPILE = $(AM_V_GEN)$(MKDIR_P) $(@D) && \
	$(BPF_CLANG) -g -O2 -target $(BPF_TARGET) -mcpu=v3 -Wall -Wextra -Wno-unused-parameter \
		-D__TARGET_ARCH_$(BPF_ARCH) $(BPF_CPPFLAGS) $(LIBBPF_CFLAGS) \
		-c $(srcdir)/kmemtraced/bpf/kmemtrace.bpf.c -o $@
KMT_BPF_OBJECTS = kmemtraced/bpf/kmemtrace.bpf.o \
	kmemtraced/bpf/kmemtrace-no-context.bpf.o
kmemtraced/bpf/kmemtrace.bpf.o: $(KMT_BPF_FILES)
	$(KMT_BPF_COMPILE)
kmemtraced/bpf/kmemtrace-no-context.bpf.o: $(KMT_BPF_FILES)
	$(KMT_BPF_COMPILE) -DKMTD_BPF_NO_CONTEXT
kmemtraced/kmemtraced-bpf-load.$(OBJEXT): $(KMT_BPF_OBJECTS)
EXTRA_DIST += kmemtraced/README.md $(KMT_BPF_FILES)
if BPF
# A release contains the compiled programs, so make clean preserves them. The
# assembler finds them in the tree.
KMT_BPF_CFLAGS = -Wa,-I$(srcdir)
EXTRA_DIST += $(KMT_BPF_OBJECTS)
MAINTAINERCLEANFILES += $(KMT_BPF_OBJECTS)
endif
