// SPDX-License-Identifier: GPL-2.0-or-later
// A small chart of live memory over time, with the losses and the selected span.
(function (kmt) {
	"use strict";

	const { svg } = kmt.dom;
	const WIDTH = 120;
	const HEIGHT = 22;
	let bandsOf = null;
	let bands = [];

	/** Return the bands of the data, which are the same for each sparkline. */
	function lossPath(model) {
		if (bandsOf !== model) {
			bandsOf = model;
			bands = kmt.lossBands(model, 1 / WIDTH);
		}
		return bands.map(([from, until]) => "M" + (from * WIDTH).toFixed(1) + " 0H" +
			(until * WIDTH).toFixed(1) + "V" + HEIGHT + "H" + (from * WIDTH).toFixed(1) + "Z")
			.join("");
	}

	function areaPath(values) {
		const peak = Math.max(1, ...values);
		const step = WIDTH / Math.max(1, values.length);
		const points = values.map((value, i) => "L" + ((i + 1) * step).toFixed(1) + " " +
			(HEIGHT - 1 - (value / peak) * (HEIGHT - 2)).toFixed(1));

		return "M0 " + (HEIGHT - 1) + points.join("") + "V" + HEIGHT + "H0Z";
	}

	/**
	 * Create a sparkline of values, one for each window. The text alternative names the
	 * last value and the peak.
	 */
	function sparkline(values, app) {
		const { bytes } = kmt.format;
		const n = Math.max(1, values.length);
		const label = "live memory: " + bytes(values[values.length - 1] || 0) +
			" at the end, at most " + bytes(Math.max(0, ...values));
		const { span } = app;
		const parts = [
			svg("title", {}, label),
			svg("path", { class: "area", d: areaPath(values) }),
			svg("path", { class: "loss", d: lossPath(app.model) }),
		];

		if (!span.whole)
			parts.push(svg("rect", {
				class: "selected", x: (span.from / n) * WIDTH, y: 0.5,
				width: ((span.to + 1 - span.from) / n) * WIDTH, height: HEIGHT - 1,
			}));
		return svg("svg", {
			class: "sparkline", viewBox: "0 0 " + WIDTH + " " + HEIGHT,
			preserveAspectRatio: "none", role: "img", "aria-label": label,
		}, parts);
	}

	kmt.sparkline = sparkline;
})(window.kmt);
