// SPDX-License-Identifier: GPL-2.0-or-later
// The section with the flame graph: its controls, and the text about the selected frame.
(function (kmt) {
	"use strict";

	const { el, button } = kmt.dom;
	// The choices as [value, text].
	const SHAPES = [["icicle", "icicle, root above"], ["flame", "flame, root below"]];
	const DIRECTIONS = [["callees", "top down"],
		["callers", "bottom up"]];
	const METRICS = [["live", "live"], ["allocated", "allocated"], ["wasted", "wasted"],
		["peak", "live at the peak"]];
	const SOURCES = [["stacks", "call stack"], ["tree", "directory, function, and size"]];
	const ALL = "";

	/** Create a choice with a label. options: [[value, text]...]. */
	function choice(id, label, options, changed) {
		const select = el("select", { id }, options.map(
			([value, text]) => el("option", { value }, text)));

		select.addEventListener("change", changed);
		return { select, label: el("label", { for: id }, label, " ", select) };
	}

	class FramePanel {
		/** sources: the trees of the data by the values of SOURCES. */
		constructor(body, model, sources) {
			this.model = model;
			this.sources = sources;
			this.trees = new Map();
			this.status = el("output", { id: "frames-status", class: "frames-status" });
			this.matches = el("output", { id: "frames-matches" });
			this.note = el("p", { class: "note", id: "frames-note" });
			this.chart = new kmt.FrameChart(this);
			this.chart.element.setAttribute("aria-label", "Memory by call path");
			this.chart.element.id = "frames-chart";
			body.append(this.controls(), this.status,
				el("div", { class: "frames-box" }, this.chart.element), this.note);
			this.redraw();
		}

		controls() {
			const redraw = () => this.redraw();

			this.source = choice("frames-source", "By",
				SOURCES.filter(([key]) => this.sources[key]), redraw);
			this.metric = choice("frames-metric", "Bytes", METRICS, redraw);
			this.kind = choice("frames-kind", "Kind", this.kinds(), redraw);
			this.direction = choice("frames-direction", "Order", DIRECTIONS, redraw);
			this.shape = choice("frames-shape", "Shape", SHAPES, redraw);
			this.text = el("input", { id: "frames-search", type: "search",
				autocomplete: "off", spellcheck: "false" });
			this.text.addEventListener("input", () => this.search());
			return el("div", { class: "tools" }, this.source.label, this.metric.label, this.kind.label,
				this.direction.label, this.shape.label,
				el("label", { for: "frames-search" }, "Search ", this.text),
				this.matches,
				button("Reset zoom", () => this.chart.zoom(this.chart.base),
					{ id: "frames-reset" }));
		}

		/** Return the kinds of memory, which are the first level of the tree. */
		kinds() {
			const frames = new Set();

			for (const source of Object.values(this.sources))
				for (const node of source.nodes)
					if (node[0] < 0)
						frames.add(node[1]);
			return [[ALL, "all, side by side"],
				...[...frames].map((frame) => [frame, this.model.name(frame)])];
		}

		/** Return the tree that the controls select. */
		tree() {
			const source = this.source.select.value;
			const metric = this.metric.select.value;
			const inverted = this.direction.select.value === "callers";
			const key = `${source} ${metric} ${inverted}`;

			if (!this.trees.has(key)) {
				const tree = kmt.frameTree.build(this.sources[source].nodes, metric);

				this.trees.set(key, inverted ? tree.inverted() : tree);
			}
			return this.trees.get(key);
		}

		/** Return the node of the selected kind, or the root. */
		base(tree) {
			const kind = this.kind.select.value;

			return kind === ALL ? 0 : tree.children[0].get(Number(kind)) ?? 0;
		}

		redraw() {
			const tree = this.tree();

			this.chart.isFlame = this.shape.select.value === "flame";
			this.chart.show(tree, this.base(tree));
			this.search();
		}

		/** Highlight the frames that contain the text, without regard to case. */
		search() {
			const text = this.text.value.trim().toLowerCase();
			const tree = this.chart.tree;

			if (text === "") {
				this.chart.highlight(new Set());
				this.matches.replaceChildren();
				return;
			}
			const { found, sums } = tree.search((frame) =>
				this.model.name(frame).toLowerCase().includes(text), this.chart.base);

			this.chart.highlight(found);
			this.matches.replaceChildren(
				`${kmt.format.grouped(found.size)} ${found.size === 1 ? "frame" : "frames"}`,
				...[...sums].flatMap(([kind, sum]) => [", ", kmt.dom.value(sum, "bytes"), " ",
					this.share(sum, tree.totals[kind]), " of ",
					kmt.dom.name(this.nameOf(tree, kind))]));
		}

		share(part, whole) {
			return whole > 0 ? `(${kmt.format.share(part / whole)})` : "";
		}

		/** Name a node. Called by the chart. */
		nameOf(tree, node) {
			return node === 0 ? "all kinds, side by side" :
				this.model.name(tree.frames[node]);
		}

		/** Return the description of a node for its label. Called by the chart. */
		describe(tree, node) {
			return `${this.nameOf(tree, node)}, ` +
				kmt.format.value(tree.totals[node], "bytes");
		}

		/** Describe the selected frame. Called by the chart. */
		changed() {
			const tree = this.chart.tree;
			const node = this.chart.described();
			const [kind] = tree.path(node);
			const parts = [kmt.dom.name(this.nameOf(tree, node))];

			if (node === 0) {
				parts.push(": bytes of different kinds contain each other and have no sum");
			} else {
				parts.push(" ", kmt.dom.value(tree.totals[node], "bytes"), " ",
					this.share(tree.totals[node], tree.totals[kind]), " of ",
					kmt.dom.name(this.nameOf(tree, kind)));
				if (tree.own[node] > 0 && tree.own[node] < tree.totals[node])
					parts.push(", of which ", kmt.dom.value(tree.own[node], "bytes"),
						" directly");
			}
			this.status.replaceChildren(...parts);
			this.describeChart(tree);
		}

		describeChart(tree) {
			const omitted = this.chart.omitted;

			if (!(tree.totals[this.chart.base] > 0))
				this.note.textContent = "No bytes of this type.";
			else if (omitted > 0)
				this.note.textContent = `Hatched areas are ${kmt.format.grouped(omitted)} ` +
					`frame${omitted === 1 ? "" : "s"} narrower than a pixel, with what they ` +
					"call. Zoom in to see them.";
			else
				this.note.textContent = "";
		}
	}

	/** Return the trees of the data that have nodes. */
	function sourcesOf(model) {
		const sources = {};

		for (const [key] of SOURCES)
			if (kmt.model.list(model[key] && model[key].nodes).length)
				sources[key] = model[key];
		return sources;
	}

	function build(body, app) {
		const sources = sourcesOf(app.model);

		if (!Object.keys(sources).length)
			return "No allocation was recorded.";
		if (!sources.stacks)
			body.append(el("p", { class: "note" }, "The capture has no call stacks."));
		new FramePanel(body, app.model, sources);
		return undefined;
	}

	kmt.panels.add({
		id: "flame", title: "Flame graph", order: 40, build,
		note: "The whole capture, independent of the selected time span. Click or press Enter " +
			"to zoom and Escape to show all; the arrow keys move the selection.",
	});
})(window.kmt);
