# SPDX-License-Identifier: GPL-2.0-or-later
# The page of kmemtrace-report --html. The order of scripts is the order of loading.
KMT_HTML_CSS = \
	report/html/css/page.css \
	report/html/css/table.css \
	report/html/css/chart.css \
	report/html/css/frames.css \
	report/html/css/panels.css \
	report/html/css/print.css
KMT_HTML_JS = \
	report/html/js/namespace.js \
	report/html/js/format.js \
	report/html/js/dom.js \
	report/html/js/theme.js \
	report/html/js/panels.js \
	report/html/js/series.js \
	report/html/js/model.js \
	report/html/js/span.js \
	report/html/js/layers.js \
	report/html/js/filter.js \
	report/html/js/table.js \
	report/html/js/loss-bands.js \
	report/html/js/sparkline.js \
	report/html/js/histogram.js \
	report/html/js/mark-labels.js \
	report/html/js/chart.js \
	report/html/js/details.js \
	report/html/js/overview.js \
	report/html/js/suspects.js \
	report/html/js/live-series.js \
	report/html/js/span-form.js \
	report/html/js/live.js \
	report/html/js/sites.js \
	report/html/js/frame-tree.js \
	report/html/js/frame-chart.js \
	report/html/js/frame-panel.js \
	report/html/js/finding-panel.js \
	report/html/js/leak-panel.js \
	report/html/js/waste-panel.js \
	report/html/js/lifetime-panel.js \
	report/html/js/heat-panel.js \
	report/html/js/comparison.js \
	report/html/js/comparison-panel.js \
	report/html/js/main.js
KMT_HTML_UPLOT = \
	report/html/libraries/uPlot.iife.js \
	report/html/libraries/uPlot.LICENSE
KMT_HTML_FILES = report/html/assemble.py report/html/page.html \
	$(KMT_HTML_CSS) $(KMT_HTML_JS)
EXTRA_DIST += \
	report/html/.npmrc \
	report/html/README.md \
	report/html/fetch-libraries \
	report/html/package-lock.json \
	report/html/package.json \
	$(KMT_HTML_FILES)

if HTML
# A release contains the template and the libraries, so make clean preserves them.
dist_pkgdata_DATA += report/html/template.html
EXTRA_DIST += $(KMT_HTML_UPLOT)
MAINTAINERCLEANFILES += report/html/template.html $(KMT_HTML_UPLOT)

# Each file of the build is in the build folder, or in the tree of a release.
KMT_HTML_PART = part() { test -e "$$1" && echo "$$1" || echo "$(srcdir)/$$1"; }
report/html/template.html: $(KMT_HTML_FILES) $(KMT_HTML_UPLOT) report/html/local.mk
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(KMT_HTML_PART) && \
	$(PYTHON) $(srcdir)/report/html/assemble.py \
		--page $(srcdir)/report/html/page.html \
		--library "`part report/html/libraries/uPlot.iife.js`" \
			"`part report/html/libraries/uPlot.LICENSE`" \
		`for f in $(KMT_HTML_CSS); do echo "--style $(srcdir)/$$f"; done` \
		`for f in $(KMT_HTML_JS); do echo "--script $(srcdir)/$$f"; done` \
		--output $@
endif
if HTML_NPM
report/html/libraries/uPlot.iife.js: report/html/package-lock.json report/html/fetch-libraries
	$(AM_V_GEN)$(srcdir)/report/html/fetch-libraries '$(NPM)' \
		'$(srcdir)/report/html' $(@D)
report/html/libraries/uPlot.LICENSE: report/html/libraries/uPlot.iife.js
endif
