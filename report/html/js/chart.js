// SPDX-License-Identifier: GPL-2.0-or-later
// A chart of live memory over time, drawn by uPlot: areas that are stacked and lines that
// are not, with the losses, the marks, the peak, and the selected span.
(function (kmt) {
	"use strict";

	const { el, variable } = kmt.dom;
	const MARK_LABELS = 12;
	// Powers of two, so that the axis of bytes has round numbers.
	const STEPS = Array.from({ length: 60 }, (_, i) => 2 ** i);

	/** Return the times: the start, and the end of each window. */
	function times(windows) {
		return Array.from({ length: windows.n + 1 },
			(_, i) => windows.start_ns + i * windows.width_ns);
	}

	/** Return the live bytes at the start. A whole capture starts with none. */
	function startOf(one, windows) {
		if (kmt.format.isNumber(one.start))
			return one.start;
		return windows.start_ns > 0 ? one.values[0] || 0 : 0;
	}

	/** Return the rows that are drawn: the highest area first, and then the lines. */
	function layout(series, windows) {
		let start = 0;
		const total = new Array(series.length ? series[0].values.length : 0).fill(0);
		const areas = [];
		const lines = [];

		series.forEach((one, index) => {
			if (one.line) {
				lines.push({ index, values: one.values, start: startOf(one, windows) });
				return;
			}
			start += startOf(one, windows);
			one.values.forEach((value, i) => {
				total[i] += value;
			});
			areas.unshift({ index, values: total.slice(), start });
		});
		return areas.concat(lines);
	}

	function drawLoss(u, app) {
		const { ctx, bbox } = u;

		ctx.fillStyle = variable("--loss");
		for (const [from, until] of kmt.lossBands(app.model, 1 / Math.max(1, bbox.width)))
			ctx.fillRect(bbox.left + from * bbox.width, bbox.top,
				Math.max(1, (until - from) * bbox.width), bbox.height);
	}

	function verticalLine(u, atNs, colour, dash) {
		const { ctx, bbox } = u;
		const x = Math.round(u.valToPos(atNs, "x", true));

		ctx.strokeStyle = colour;
		ctx.lineWidth = window.devicePixelRatio;
		ctx.setLineDash(dash);
		ctx.beginPath();
		ctx.moveTo(x, bbox.top);
		ctx.lineTo(x, bbox.top + bbox.height);
		ctx.stroke();
		ctx.setLineDash([]);
		return x;
	}

	/** Draw the marks, with labels if there is room for them. */
	function drawMarks(u, app) {
		const { ctx, bbox } = u;
		const colour = variable("--mark");
		const ratio = window.devicePixelRatio;
		const marks = app.model.marks;
		const line = 13 * ratio;

		ctx.font = 11 * ratio + "px system-ui, sans-serif";
		ctx.textBaseline = "top";
		const labels = marks.map((mark) => {
			const text = String(mark.label).slice(0, 24);

			return { text, x: verticalLine(u, mark.at_ns, colour, []),
				width: ctx.measureText(text).width };
		});

		if (marks.length > MARK_LABELS)
			return;
		ctx.fillStyle = colour;
		kmt.markLabels(labels, bbox.left + bbox.width).forEach(({ row, left }, i) => {
			ctx.textAlign = left ? "right" : "left";
			ctx.fillText(labels[i].text, labels[i].x + (left ? -3 : 3) * ratio,
				bbox.top + row * line);
		});
	}

	function drawPeak(u, peak) {
		const { ctx } = u;
		const ratio = window.devicePixelRatio;
		const x = u.valToPos(peak.atNs, "x", true);
		const y = u.valToPos(peak.value, "y", true);

		ctx.fillStyle = variable("--fg");
		ctx.beginPath();
		ctx.arc(x, y, 4 * ratio, 0, 2 * Math.PI);
		ctx.fill();
	}

	/** Show the selected span, or nothing if all windows are selected. */
	function showSpan(u, span) {
		const left = span.whole ? 0 : u.valToPos(span.startNs(), "x");
		const right = span.whole ? 0 : u.valToPos(span.stopNs(), "x");

		u.setSelect({ left, top: 0, width: right - left, height: u.over.clientHeight }, false);
	}

	/** Select the windows that the reader has dragged over. */
	function selectDragged(u, app) {
		const { windows } = app.model;
		const { left, width } = u.select;

		if (width < 1 || !(windows.width_ns > 0))
			return;
		const window = (x) => (u.posToVal(x, "x") - windows.start_ns) / windows.width_ns;
		const from = Math.floor(window(left) + 1e-9);

		app.span.set(from, Math.max(from, Math.ceil(window(left + width) - 1e-9) - 1));
	}

	function axes() {
		const common = {
			stroke: () => variable("--fg"),
			grid: { stroke: () => variable("--line"), width: 1 },
			ticks: { stroke: () => variable("--line"), width: 1 },
			font: "12px system-ui, sans-serif",
		};

		return [
			Object.assign({
				space: 80,
				values: (u, splits) => splits.map((at) => kmt.format.time(at)),
			}, common),
			Object.assign({
				size: 78, incrs: STEPS,
				values: (u, splits) => splits.map((at) => kmt.format.bytes(at)),
			}, common),
		];
	}

	function lineOf(series, row) {
		const one = series[row.index];
		const colour = () => variable(one.colour);

		return {
			label: one.name, scale: "y", points: { show: false },
			stroke: colour, width: one.line ? 2 : 1, fill: one.line ? undefined : colour,
		};
	}

	function options(body, app, series, rows, given) {
		const { windows } = app.model;
		const end = windows.start_ns + windows.n * windows.width_ns;

		return {
			width: Math.max(200, body.clientWidth), height: given.height,
			legend: { show: false },
			cursor: {
				drag: { x: true, y: false, setScale: false },
				points: { show: false }, y: false,
				bind: { dblclick: () => () => app.span.reset() },
			},
			scales: {
				x: { time: false, range: () => [windows.start_ns, Math.max(end, windows.start_ns + 1)] },
				y: { range: (u, min, max) => [0, Math.max(1, max) * 1.05] },
			},
			axes: axes(),
			series: [{}].concat(rows.map((row) => lineOf(series, row))),
			hooks: {
				draw: [(u) => {
					drawLoss(u, app);
					drawMarks(u, app);
					if (given.peak)
						drawPeak(u, given.peak);
				}],
				ready: [(u) => showSpan(u, app.span)],
				setSize: [(u) => showSpan(u, app.span)],
				setSelect: [(u) => selectDragged(u, app)],
				setCursor: [(u) => given.onCursor && given.onCursor(u.cursor.idx)],
			},
		};
	}

	/**
	 * Create a chart in the element body. A series is {name, values, start, colour,
	 * line}: one value for each window, the value before (optional), a CSS variable, and
	 * whether it is a line instead of a stacked area. Options:
	 *   height    in pixels
	 *   peak      {atNs, value} of the point to show (optional)
	 *   onCursor  function (index) that gets the point below the cursor: 0 is the start,
	 *             i the end of window i - 1; null if there is none (optional)
	 */
	function create(body, app, series, given) {
		const rows = layout(series, app.model.windows);
		const data = [times(app.model.windows)].concat(rows.map((row) => [row.start, ...row.values]));

		if (!series.length || !app.model.windows.n) {
			body.replaceChildren(el("p", { class: "nothing" }, "There are no values over time."));
			return { destroy: () => {} };
		}
		body.replaceChildren();
		// Reserve the height, so that the page does not move when the chart is replaced.
		body.style.minHeight = given.height + "px";
		const u = new window.uPlot(options(body, app, series, rows, given), data, body);
		const resize = new ResizeObserver(() => {
			if (body.clientWidth > 0 && Math.abs(body.clientWidth - u.width) > 1)
				u.setSize({ width: body.clientWidth, height: given.height });
		});
		const chart = {
			redraw: () => u.redraw(),
			showSpan: () => showSpan(u, app.span),
			destroy: () => {
				live.delete(chart);
				resize.disconnect();
				u.destroy();
			},
		};

		live.add(chart);
		resize.observe(body);
		return chart;
	}

	// The charts that exist.
	const live = new Set();

	kmt.theme.onChange(() => live.forEach((chart) => chart.redraw()));

	/** Show the selected span in all charts. */
	function showSpans() {
		live.forEach((chart) => chart.showSpan());
	}

	kmt.chart = { create, showSpans };
})(window.kmt);
