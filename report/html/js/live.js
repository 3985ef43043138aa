// SPDX-License-Identifier: GPL-2.0-or-later
// Live memory over time, the selection of a span, and the totals of the span.
(function (kmt) {
	"use strict";

	const { el, name, value } = kmt.dom;
	const HEIGHT = 300;

	function select(id, label, entries) {
		return el("label", {}, label, el("select", { id },
			entries.map(([key, title]) => el("option", { value: key }, title))));
	}

	/** The chart with its legend, redrawn when the reader chooses other series. */
	class LiveChart {
		constructor(app, body) {
			this.app = app;
			this.body = el("div", { class: "chart" });
			this.legend = el("ul", { class: "legend" });
			this.note = el("p", { class: "note" });
			this.figure = el("div", {
				tabindex: 0, role: "group", id: "live-chart",
				"aria-label": "Chart of live memory. Arrow keys select a span, with Shift " +
					"they move its end, Escape selects the whole capture.",
			}, this.body);
			this.controls = this.tools();
			body.append(this.controls, this.figure, this.legend, this.note);
			this.draw();
			kmt.spanForm.addKeys(this.figure, app);
		}

		tools() {
			const by = select("live-by", "Show by ",
				[["kind", "kind"], ["dir", "directory"], ["site", "call site"]]);
			const layer = select("live-layer", "of ", []);

			this.by = by.lastChild;
			this.layer = layer.lastChild;
			this.by.addEventListener("change", () => {
				this.offerLayers();
				this.draw();
			});
			this.layer.addEventListener("change", () => this.draw());
			this.offerLayers();
			return el("div", { class: "tools" }, by, layer);
		}

		/** Offer the layers. Only kinds can be shown of all layers at once. */
		offerLayers() {
			const chosen = this.layer.value;
			const layers = kmt.layers.used(this.app.model)
				.map((layer) => [layer, kmt.layers.title(layer)]);

			if (this.by.value === "kind" && layers.length > 1)
				layers.unshift([kmt.liveSeries.ALL, "all memory"]);
			this.layer.replaceChildren(...layers.map(([value, title]) =>
				el("option", { value }, title)));
			if (layers.some(([value]) => value === chosen))
				this.layer.value = chosen;
		}

		draw() {
			const { app } = this;
			const shown = kmt.liveSeries.of(app.model, this.by.value, this.layer.value);
			const peak = kmt.liveSeries.peak(shown, app.model);

			if (this.chart)
				this.chart.destroy();
			this.showLegend(shown);
			this.showNote(shown, peak);
			this.chart = kmt.chart.create(this.body, app, shown, {
				height: HEIGHT, peak, onCursor: (i) => this.showValues(shown, i),
			});
		}

		showLegend(shown) {
			this.values = shown.map(() => el("span", { class: "value" }));
			this.legend.replaceChildren(...shown.map((one, i) => {
				const swatch = el("span", { class: "swatch" });

				swatch.style.background = "var(" + one.colour + ")";
				return el("li", {}, swatch, name(one.name), one.line ? " (line)" : "",
					this.values[i]);
			}));
			this.showValues(shown, null);
		}

		/** Show the values at a point of the chart, or at the end. */
		showValues(shown, point) {
			const last = this.app.model.windows.n;
			const at = kmt.format.isNumber(point) ? point : last;

			shown.forEach((one, i) => {
				const bytes = at > 0 ? one.values[at - 1] : 0;

				this.values[i].textContent = kmt.format.value(bytes, "bytes");
				this.values[i].title = kmt.format.exact(bytes, "bytes");
			});
		}

		showNote(shown, peak) {
			const { model } = this.app;
			const parts = [];

			if (peak)
				parts.push("The dot is the largest ", shown.some((one) => one.line) ?
					"sum of the areas" : "sum", " at the end of a window: ",
				value(peak.value, "bytes"), " at ", value(peak.atNs, "time"), ". ");
			if (shown.some((one) => one.line))
				parts.push("Lines are not added to the areas, because these kinds overlap: " +
					"slab memory consists of pages. ");
			if (model.gaps.length)
				parts.push("Bands show times in which events may be lost. ");
			if (model.marks.length)
				parts.push("Vertical lines are marks. ");
			this.note.replaceChildren(...parts);
		}
	}

	const SUMS = [
		["live", "Live", "bytes"], ["growth", "Growth", "bytes"],
		["allocated", "Allocated", "bytes"], ["requested", "Requested", "bytes"],
		["wasted", "Wasted", "bytes"], ["allocs", "Allocs", "count"],
		["frees", "Frees", "count"], ["live_objects", "Live objects", "count"],
		["peak", "Peak", "bytes"],
		["peak_at_ns", "Peak at", "time"],
	];

	function wholeGrowth(kind, sums) {
		return sums.growth === null ? null : kind.live - (sums.live - sums.growth);
	}

	/** The figures of each kind: exact totals for the whole capture. */
	function totals(app) {
		const { model, span } = app;

		return model.kinds.map((kind, i) => {
			const sums = kmt.span.figures(model.kindSeries[i], span);

			return span.whole ? Object.assign({ growth: wholeGrowth(kind, sums) }, kind) :
				Object.assign({ kind: kind.kind }, sums);
		});
	}

	function totalsTable(app) {
		const known = (key) => (row) => (kmt.format.isNumber(row[key]) ? row[key] : null);

		return kmt.table.create({
			label: "Totals by kind", filters: false, sort: "allocated",
			columns: [{ key: "kind", title: "Kind", unit: "text", class: "short",
				value: (row) => String(row.kind) },
			...SUMS.map(([key, title, unit]) => ({ key, title, unit, value: known(key) }))],
			rows: totals(app), data: (row) => ({ kind: row.kind }),
		});
	}

	function marks(model) {
		if (!model.marks.length)
			return "";
		return el("details", {}, el("summary", {}, "Marks (" +
			kmt.format.grouped(model.marks.length) + ")"), el("ol", {},
		model.marks.map((mark) => el("li", {}, value(mark.at_ns, "time"), " ",
			name(String(mark.label))))));
	}

	function losses(model) {
		if (!model.gaps.length)
			return "";
		return el("details", { id: "losses" }, el("summary", {}, "Losses (" +
			kmt.format.grouped(model.gaps.length) + ")"), el("ol", {},
		model.gaps.map((gap) => el("li", {}, "CPU ", String(gap.cpu), ": ",
			value(gap.from_ns, "time"), " to ", value(gap.until_ns, "time"), ", ",
			gap.events === null || gap.events === undefined ? "an unknown number of" :
				value(gap.events, "count"), " events"))));
	}

	function build(body, app) {
		const { model, span } = app;

		if (!model.kinds.length)
			return "The capture has no events.";
		if (model.windows.n) {
			new LiveChart(app, body);
			body.append(kmt.spanForm.create(app));
		} else {
			body.append(el("p", { class: "nothing" }, "There are no values over time."));
		}
		const table = totalsTable(app);

		table.element.id = "totals";
		body.append(table.element, marks(model), losses(model));
		span.onChange(() => {
			kmt.chart.showSpans();
			table.setRows(totals(app));
		});
		return undefined;
	}

	kmt.panels.add({
		id: "live", title: "Live memory over time", order: 30,
		note: "Drag over the chart, use the arrow keys on it, or enter times to select a span. " +
			"The tables show the figures of the span.",
		build,
	});
})(window.kmt);
