// SPDX-License-Identifier: GPL-2.0-or-later
// A histogram as rows: the lower bound of a class, a bar, and the number.
(function (kmt) {
	"use strict";

	const { el, value } = kmt.dom;

	/**
	 * Create a histogram of [[lower bound, count]...], with bounds of a unit of
	 * kmt.format. A class ends below twice its lower bound.
	 */
	function histogram(classes, unit) {
		const given = classes.filter((entry) => Array.isArray(entry) && entry[1] > 0);
		const most = Math.max(1, ...given.map((entry) => entry[1]));
		const total = given.reduce((sum, entry) => sum + entry[1], 0);

		if (!given.length)
			return el("p", { class: "nothing" }, "None.");
		return el("div", { class: "histogram" }, given.map(([lower, count]) => {
			const bar = el("div", { class: "bar", "aria-hidden": "true" });

			bar.style.width = (100 * count / most) + "%";
			return [
				el("span", {}, value(lower, unit), lower > 0 ?
					[" to < ", value(2 * lower, unit)] : null),
				el("div", {}, bar),
				el("span", {}, value(count, "count"), " (" +
					kmt.format.share(count / total) + ")"),
			];
		}));
	}

	kmt.histogram = histogram;
})(window.kmt);
