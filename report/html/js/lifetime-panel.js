// SPDX-License-Identifier: GPL-2.0-or-later
// The section with a histogram of the lifetimes of freed objects for each kind.
(function (kmt) {
	"use strict";

	const { el, svg } = kmt.dom;
	const WIDTH = 320;
	const HEIGHT = 130;
	const BASE = 108;
	// Most columns; more buckets are merged.
	const MOST = 40;

	/** Merge neighbours until there are few columns. */
	function columns(histogram) {
		const step = Math.ceil(histogram.length / MOST);
		const merged = [];

		histogram.forEach(([lower, count], i) => {
			if (i % step === 0)
				merged.push([lower, 0]);
			merged[merged.length - 1][1] += count;
		});
		return merged;
	}

	/** Return the lower bound of the bucket with the object in the middle. */
	function median(histogram, total) {
		let below = 0;

		for (const [lower, count] of histogram) {
			below += count;
			if (2 * below >= total)
				return lower;
		}
		return null;
	}

	function range(histogram, i) {
		const from = kmt.format.value(histogram[i][0], "time");

		return i + 1 < histogram.length ?
			`${from} to ${kmt.format.value(histogram[i + 1][0], "time")}` : `from ${from}`;
	}

	function column(histogram, i, most) {
		const [, count] = histogram[i];
		const width = WIDTH / histogram.length;
		const height = count > 0 ? Math.max(1, (BASE - 4) * count / most) : 0;

		return svg("rect", { class: "column", x: (i * width).toFixed(2), y: BASE - height,
			width: Math.max(1, width - 1).toFixed(2), height, "data-count": count },
		svg("title", {}, `${range(histogram, i)}: ${kmt.format.grouped(count)} objects`));
	}

	function label(histogram, i, anchor) {
		return svg("text", { class: "axis", x: { start: 0, middle: WIDTH / 2, end: WIDTH }[anchor],
			y: HEIGHT - 6, "text-anchor": anchor },
		kmt.format.value(histogram[i][0], "time"));
	}

	/** Draw the lifetimes of one kind. */
	function figure(kind, histogram) {
		const total = histogram.reduce((sum, [, count]) => sum + count, 0);
		const shown = columns(histogram);
		const most = Math.max(1, ...shown.map(([, count]) => count));
		const middle = median(histogram, total);
		const text = `${kmt.format.grouped(total)} objects, half of them lived about ` +
			`${kmt.format.value(middle, "time")} or less`;

		return el("figure", { class: "lifetimes" },
			el("figcaption", {}, el("strong", {}, kind), ": ", text),
			svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img",
				"aria-label": `Lifetimes of ${kind}: ${text}` },
			shown.map((_, i) => column(shown, i, most)),
			svg("line", { class: "axis", x1: 0, x2: WIDTH, y1: BASE, y2: BASE }),
			label(shown, 0, "start"),
			shown.length > 6 ? label(shown, Math.floor(shown.length / 2), "middle") : null,
			shown.length > 1 ? label(shown, shown.length - 1, "end") : null));
	}

	/** Fill the gaps of a histogram, whose bounds are powers of a base, with 0. */
	function filled(histogram) {
		const list = kmt.model.list(histogram).filter((bucket) => bucket[1] > 0);
		const whole = [];

		for (const bucket of list) {
			for (let last = whole[whole.length - 1]; last && last[0] > 0 &&
				last[0] * 2 < bucket[0] && whole.length < 200; last = whole[whole.length - 1])
				whole.push([last[0] * 2, 0]);
			whole.push(bucket);
		}
		return whole;
	}

	function build(body, app) {
		const figures = app.model.lifetimes
			.map((entry) => [app.model.kinds[entry.kind], filled(entry.histogram)])
			.filter(([kind, histogram]) => kind && histogram.length)
			.map(([kind, histogram]) => figure(String(kind.kind), histogram));

		if (!figures.length)
			return "No object was freed whose allocation was recorded.";
		body.append(el("div", { class: "lifetime-figures" }, figures));
		return undefined;
	}

	kmt.panels.add({
		id: "lifetimes", title: "Lifetimes", order: 80, build,
		note: "Freed objects of the whole capture by the time between allocation and free; " +
			"each column is twice as long as the one before.",
	});
})(window.kmt);
