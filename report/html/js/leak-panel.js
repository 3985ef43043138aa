// SPDX-License-Identifier: GPL-2.0-or-later
// The section with the call sites whose live memory grows.
(function (kmt) {
	"use strict";

	const { el, svg, button } = kmt.dom;
	const WIDTH = 160;
	const HEIGHT = 32;

	/** Draw live bytes over time; losses are bands. */
	function growth(model, series) {
		const n = model.windows.n;
		const values = kmt.series.dense(series.live, n);
		const most = Math.max(1, ...values);
		const x = (i) => (n > 1 ? WIDTH * i / (n - 1) : 0).toFixed(1);
		const y = (value) => (HEIGHT - 1 - (HEIGHT - 2) * value / most).toFixed(1);
		const span = n * model.windows.width_ns || 1;
		const at = (ns) => Math.min(WIDTH, Math.max(0,
			WIDTH * (ns - model.windows.start_ns) / span));
		const bands = model.gaps.map((gap) => svg("rect", { class: "loss", y: 0,
			x: at(gap.from_ns).toFixed(1), height: HEIGHT,
			width: Math.max(1, at(gap.until_ns) - at(gap.from_ns)).toFixed(1) }));
		const text = `Live bytes from ${kmt.format.value(values[0], "bytes")} to ` +
			kmt.format.value(values[n - 1], "bytes");

		return svg("svg", { class: "growth", viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
			role: "img", "aria-label": text, preserveAspectRatio: "none" },
		svg("title", {}, text), bands,
		svg("polyline", { points: values.map((v, i) => `${x(i)},${y(v)}`).join(" ") }));
	}

	function row(app, leak) {
		const model = app.model;
		const site = model.sites[leak.site];
		const name = kmt.dom.name(model.name(leak.name));
		const cell = (number, unit) => el("td", {}, kmt.dom.value(number, unit));

		return el("tr", {}, el("th", { scope: "row", class: "text" }, site ?
			button(name, () => app.openSite(leak.site), { class: "link" }) : name,
		leak.text ? el("div", { class: "reason" }, leak.text) : null),
		cell(leak.growth, "bytes"),
		el("td", {}, site && site.series && model.windows.n > 0 ?
			growth(model, site.series) : null),
		cell(leak.first, "bytes"), cell(leak.last, "bytes"),
		el("td", {}, kmt.dom.value(leak.grown, "count"), " of ",
			kmt.dom.value(leak.windows, "count")),
		cell(leak.live_objects, "count"), cell(leak.live, "bytes"),
		cell(leak.oldest_ns, "time"));
	}

	function build(body, app) {
		const leaks = app.model.leaks;

		if (!leaks.length)
			return "No call site's live memory grew throughout the capture.";
		body.append(el("div", { class: "scroll", tabindex: 0, role: "region",
			"aria-label": "Leak candidates" },
		el("table", { id: "leak-table", class: "leaks" },
			el("thead", {}, el("tr", {}, ["call site", "growth", "live over time",
				"first", "last", "windows with growth", "live objects", "live", "oldest"]
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
