// SPDX-License-Identifier: GPL-2.0-or-later
// The table of call sites, for the selected time span.
(function (kmt) {
	"use strict";

	const { el } = kmt.dom;

	const field = (key) => (row) => (kmt.format.isNumber(row[key]) ? row[key] : null);

	function number(key, title, unit, hint) {
		return { key, title, unit, hint, value: field(key) };
	}

	function text(key, title, hint, more) {
		return Object.assign({
			key, title, unit: "text", hint, value: (row) => row.site[key],
		}, more);
	}

	/** Return the columns; a text that no call site has gets none. */
	function columns(app) {
		const { windows, sites } = app.model;

		return [
			text("name", "Call site", "Function that called the allocator", { opens: true }),
			{
				key: "series", title: "Live over time", unit: "count",
				hint: "Live bytes in the whole capture; bands are losses",
				cell: (row) => (row.site.series ?
					kmt.sparkline(row.site.series.dense(windows.n), app) :
					kmt.format.UNKNOWN),
			},
			text("kindName", "Kind", "Kind of memory", { class: "short" }),
			number("live", "Live", "bytes", "Bytes that are not freed at the end of the span"),
			number("live_objects", "Objects", "count", "Live objects at the end of the capture"),
			number("growth", "Growth", "bytes", "Change of the live bytes in the span"),
			number("allocated", "Allocated", "bytes", "Bytes that the allocator reserved"),
			number("requested", "Requested", "bytes", "Bytes that the callers requested"),
			number("wasted", "Wasted", "bytes", "Allocated and not requested"),
			number("waste", "Waste", "share", "Wasted share of the allocated bytes"),
			number("allocs", "Allocs", "count", "Allocations"),
			number("frees", "Frees", "count", "Frees"),
			number("peak", "Peak", "bytes", "Most live bytes at any time of the capture"),
			number("cross_frees", "Cross-CPU", "count",
				"Frees on another CPU than the allocation, in the whole capture"),
			number("short_lived", "Short-lived", "count",
				"Objects that were freed soon, in the whole capture"),
			text("moduleName", "Module", "Module of the call site", { class: "short" }),
			text("dirName", "Directory", "Directory of the source file", { class: "short" }),
			text("sourceName", "Source line", "File and line of the call", { class: "short" }),
		].filter((column) => column.unit !== "text" || sites.some((site) => site[column.key]));
	}

	/** Return the growth in the whole capture. */
	function growth(site) {
		return site.series && kmt.format.isNumber(site.live) ? site.live - site.series.start : null;
	}

	/** Return the figures of a call site in the span. */
	function row(site, span) {
		const whole = span.whole;
		const values = whole ? Object.assign({ growth: growth(site) }, site) :
			kmt.span.figures(site.series, span);

		return {
			site,
			live: values.live, growth: values.growth, allocated: values.allocated,
			requested: values.requested, wasted: values.wasted,
			allocs: values.allocs, frees: values.frees,
			waste: values.allocated > 0 && kmt.format.isNumber(values.wasted) ?
				values.wasted / values.allocated : null,
			live_objects: whole ? site.live_objects : null,
			peak: whole ? site.peak : null,
			cross_frees: whole ? site.cross_frees : null,
			short_lived: whole ? site.short_lived : null,
		};
	}

	function noteOf(app) {
		const missing = app.model.sites.filter((site) => !site.series).length;
		const { format } = kmt;

		if (app.span.whole)
			return "All figures are of the whole capture. Select a span in the chart " +
				"above to see those of the span.";
		return "Figures from " + format.time(app.span.startNs()) + " to " +
			format.time(app.span.stopNs()) + ". \"" + format.UNKNOWN + "\" stands for what " +
			"is known of the whole capture only" + (missing ?
			", also for " + format.grouped(missing) + " call sites without values over time" :
			"") + ".";
	}

	function rest(model) {
		const { value, name } = kmt.dom;
		const parts = model.sites_rest.filter((part) => part.n > 0);

		if (!parts.length)
			return null;
		return el("div", { class: "note", id: "sites-rest" },
			el("p", {}, "More call sites are not in this file:"),
			el("ul", {}, parts.map((part) => el("li", {}, value(part.n, "count"), " of ",
				name(model.kinds[part.kind] ? String(model.kinds[part.kind].kind) : ""),
				": ", value(part.live, "bytes"), " live, ", value(part.allocated, "bytes"),
				" allocated, ", value(part.wasted, "bytes"), " wasted"))));
	}

	function build(body, app) {
		const { model, span } = app;

		if (!model.sites.length)
			return "The capture has no call sites.";
		const rows = () => model.sites.map((site) => row(site, span));
		const note = el("p", { class: "note", role: "status" }, noteOf(app));
		const table = kmt.table.create({
			label: "Call sites", noun: "call sites", sort: "wasted", wide: true,
			columns: columns(app), rows: rows(),
			open: (one) => app.openSite(one.site.index),
			data: (one) => ({ site: one.site.index }),
		});

		body.append(note, table.element, rest(model) || "");
		span.onChange(() => {
			note.textContent = noteOf(app);
			table.setRows(rows());
		});
		return undefined;
	}

	kmt.panels.add({ id: "sites", title: "Call sites", order: 50, build });
})(window.kmt);
