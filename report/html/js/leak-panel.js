// SPDX-License-Identifier: GPL-2.0-or-later
// The section with the call sites whose live memory grows.
(function (kmt) {
	"use strict";

	const { el, button } = kmt.dom;
	/** Draw live bytes over time. */
	function growth(app, series) {
		return kmt.sparkline(series.dense(app.model.windows.n), app);
	}

	function kindOf(model, leak) {
		const kind = model.kinds[leak.kind];

		return kind ? String(kind.kind) : "";
	}

	/** Return whether the growth has another explanation, which leak.text names. */
	function isDoubtful(leak) {
		return leak.doubt !== undefined && leak.doubt !== "none";
	}

	function row(app, leak) {
		const model = app.model;
		const site = model.sites[leak.site];
		const name = kmt.dom.name(model.name(leak.name));
		const cell = (number, unit) => el("td", {}, kmt.dom.value(number, unit));

		return el("tr", {}, el("th", { scope: "row", class: "text" }, site ?
			button(name, () => app.openSite(leak.site), { class: "link" }) : name,
		el("div", { class: "reason" }, kmt.dom.name(kindOf(app.model, leak)), ": ",
			isDoubtful(leak) ? "Doubtful: " : "", el("bdi", {}, String(leak.text || "")))),
		cell(leak.growth, "bytes"),
		el("td", {}, site && site.series && model.windows.n > 0 ?
			growth(app, site.series) : null),
		cell(leak.first, "bytes"), cell(leak.last, "bytes"),
		el("td", {}, kmt.dom.value(leak.grown, "count"), " of ",
			kmt.dom.value(leak.windows, "count")),
		cell(leak.live_objects, "count"), cell(leak.live, "bytes"),
		cell(leak.frees, "count"), cell(leak.age_median_ns, "time"),
		cell(leak.lifetime_p99_ns, "time"));
	}

	function build(body, app) {
		const leaks = app.model.leaks;

		if (!leaks.length)
			return "No call site's live memory grew throughout the capture.";
		body.append(el("div", { class: "scroll", tabindex: 0, role: "region",
			"aria-label": "Leak candidates" },
		el("table", { id: "leak-table", class: "leaks" },
			el("thead", {}, el("tr", {}, ["call site", "growth", "live over time",
				"first", "last", "windows with growth", "live objects", "live", "frees",
				"median age", "99 % are freed within"]
				.map((text, i) => el("th", { scope: "col",
					class: i === 0 ? "text" : null }, text)))),
			el("tbody", {}, leaks.map((leak) => row(app, leak))))));
		return undefined;
	}

	kmt.panels.add({
		id: "leaks", title: "Leak candidates", order: 60, build,
		note: "Call sites whose live memory grew throughout the capture. Memory that grows " +
			"may also be a cache that fills up.",
	});
})(window.kmt);
