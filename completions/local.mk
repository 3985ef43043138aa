# SPDX-License-Identifier: GPL-2.0-or-later
# Completion for bash, zsh, and fish. The directories are those of configure.
KMT_COMPLETED = kmemtrace-boot kmemtrace-check kmemtrace-gate kmemtrace-import \
	kmemtrace-report kmemtrace-top kmemtraced
KMT_COMPLETION_INPUT = completions/generate completions/options.list

bashcompletion_DATA = \
	completions/bash/kmemtrace-boot \
	completions/bash/kmemtrace-check \
	completions/bash/kmemtrace-gate \
	completions/bash/kmemtrace-import \
	completions/bash/kmemtrace-report \
	completions/bash/kmemtrace-top \
	completions/bash/kmemtraced
zshcompletion_DATA = \
	completions/zsh/_kmemtrace-boot \
	completions/zsh/_kmemtrace-check \
	completions/zsh/_kmemtrace-gate \
	completions/zsh/_kmemtrace-import \
	completions/zsh/_kmemtrace-report \
	completions/zsh/_kmemtrace-top \
	completions/zsh/_kmemtraced
fishcompletion_DATA = \
	completions/fish/kmemtrace-boot.fish \
	completions/fish/kmemtrace-check.fish \
	completions/fish/kmemtrace-gate.fish \
	completions/fish/kmemtrace-import.fish \
	completions/fish/kmemtrace-report.fish \
	completions/fish/kmemtrace-top.fish \
	completions/fish/kmemtraced.fish
KMT_COMPLETION_FILES = $(bashcompletion_DATA) $(zshcompletion_DATA) \
	$(fishcompletion_DATA)

$(KMT_COMPLETION_FILES): completions/stamp
completions/stamp: $(KMT_COMPLETION_INPUT)
	$(AM_V_GEN)$(MKDIR_P) completions/bash completions/zsh completions/fish && \
	list='$(srcdir)/completions/options.list' && \
	generate='$(PYTHON) $(srcdir)/completions/generate' && \
	for program in $(KMT_COMPLETED); do \
		$$generate bash $$program <$$list >completions/bash/$$program && \
		$$generate zsh $$program <$$list >completions/zsh/_$$program && \
		$$generate fish $$program <$$list \
			>completions/fish/$$program.fish || exit 1; \
	done && touch $@
CLEANFILES += $(KMT_COMPLETION_FILES) completions/stamp
EXTRA_DIST += completions/README.md $(KMT_COMPLETION_INPUT)
