// SPDX-License-Identifier: GPL-2.0-or-later
// Draw a frame tree as a flame graph or an icicle graph, with zoom, search, and keys.
(function (kmt) {
	"use strict";

	// Height of a row in pixels.
	const ROW = 20;
	// Number of colours of frames in frames.css.
	const COLOURS = 6;
	const MODULE = / \[[^\]]+\]$/;

	// Return the class of a frame's colour, the same for each frame of this name.
	function colour(name) {
		let hash = 0;
		for (let i = 0; i < name.length && i < 64; i++)
			hash = (hash * 31 + name.charCodeAt(i)) >>> 0;
		return MODULE.test(name) ? "module" : `colour${hash % COLOURS}`;
	}

	class FrameChart {
		// owner: an object with nameOf(tree, node), describe(tree, node), and
		// changed(), which the chart calls after another frame was selected or drawn.
		constructor(owner) {
			this.owner = owner;
			this.element = document.createElement("div");
			this.element.className = "frames";
			this.element.setAttribute("role", "tree");
			this.element.addEventListener("click", (event) => this.clicked(event));
			this.element.addEventListener("keydown", (event) => this.pressed(event));
			this.element.addEventListener("focusin", (event) => this.focused(event));
			this.element.addEventListener("mouseover", (event) => this.pointed(event));
			this.element.addEventListener("mouseleave", () => this.point(null));
			this.found = new Set();
			this.isFlame = false;
			new ResizeObserver(() => this.resized()).observe(this.element);
		}

		// Show another tree from this node on, to which Escape returns.
		show(tree, base) {
			this.tree = tree;
			this.base = base;
			this.top = base;
			this.current = base;
			this.pointedNode = null;
			this.found = new Set();
			this.draw();
		}

		// Make a node as wide as the chart.
		zoom(node) {
			this.top = node;
			this.current = node;
			this.draw();
		}

		// Highlight these nodes.
		highlight(found) {
			this.found = found;
			for (const [node, element] of this.elements)
				element.classList.toggle("found", found.has(node));
		}

		// Draw the frames that are at least a pixel wide, below the path to the top.
		draw() {
			const hadFocus = this.element.contains(document.activeElement);
			this.width = this.element.clientWidth || 1000;
			const { boxes, rests, omitted } = this.tree.layout(this.top, this.width);
			const path = [];
			for (let node = this.top; node > 0;) {
				node = this.tree.parents[node];
				path.unshift(node);
			}
			this.omitted = omitted;
			this.levels = path.length + 1 + [...boxes, ...rests]
				.reduce((most, box) => Math.max(most, box.level), 0);
			this.elements = new Map();
			path.forEach((node, level) =>
				this.add({node, level, left: 0, width: this.width}, true));
			for (const box of boxes)
				this.add({...box, level: box.level + path.length}, false);
			this.element.replaceChildren(...this.elements.values(), ...rests.map((rest) =>
				this.rest({ ...rest, level: rest.level + path.length })));
			this.element.style.height = `${this.levels * ROW}px`;
			this.select(this.elements.has(this.current) ? this.current : this.top,
				hadFocus);
		}

		// Make the element of a frame.
		add(box, isAncestor) {
			const element = document.createElement("div");
			const name = this.owner.nameOf(this.tree, box.node);

			element.className = `frame ${box.node === 0 ? "root" : colour(name)}`;
			element.classList.toggle("ancestor", isAncestor);
			element.classList.toggle("found", this.found.has(box.node));
			element.setAttribute("role", "treeitem");
			element.setAttribute("aria-level", box.level + 1);
			element.setAttribute("aria-label",
				this.owner.describe(this.tree, box.node));
			element.classList.toggle("thin", box.width < 8);
			element.tabIndex = -1;
			element.dataset.node = box.node;
			this.place(element, box);
			if (box.width > 24)
				element.textContent = name;
			this.elements.set(box.node, element);
		}

		// Make the element that stands for narrow frames.
		rest(box) {
			const element = document.createElement("div");

			element.className = "frame rest";
			element.title = `${box.n} narrow frames: zoom in to see them`;
			element.setAttribute("aria-hidden", "true");
			this.place(element, box);
			return element;
		}

		place(element, box) {
			const row = this.isFlame ? this.levels - 1 - box.level : box.level;

			element.style.left = `${100 * box.left / this.width}%`;
			element.style.width = `${100 * box.width / this.width}%`;
			element.style.top = `${row * ROW}px`;
		}

		// Make a frame the one that keys move from.
		select(node, takesFocus) {
			const before = this.elements.get(this.current);
			if (before)
				before.tabIndex = -1;
			this.current = node;
			const element = this.elements.get(node);
			if (element) {
				element.tabIndex = 0;
				if (takesFocus)
					element.focus({preventScroll: true});
			}
			this.owner.changed();
		}

		// Return the node that a description should be about.
		described() {
			return this.pointedNode ?? this.current;
		}

		point(node) {
			if (this.pointedNode === node)
				return;
			this.pointedNode = node;
			this.owner.changed();
		}

		nodeOf(event) {
			const element = event.target.closest(".frame[data-node]");

			return element ? Number(element.dataset.node) : null;
		}

		pointed(event) {
			this.point(this.nodeOf(event));
		}

		focused(event) {
			const node = this.nodeOf(event);
			if (node !== null && node !== this.current)
				this.select(node, false);
		}

		clicked(event) {
			const node = this.nodeOf(event);
			if (node !== null)
				this.zoom(node);
		}

		resized() {
			if (this.tree && this.element.clientWidth &&
				this.element.clientWidth !== this.width)
				this.draw();
		}

		// Return the frame that a key selects, or null.
		target(key) {
			const outward = this.isFlame ? "ArrowDown" : "ArrowUp";
			const inward = this.isFlame ? "ArrowUp" : "ArrowDown";
			const parent = this.tree.parents[this.current];
			if (key === "Home")
				return this.top;
			if (key === outward)
				return parent >= 0 ? parent : null;
			const drawn = (node) => this.elements.has(node);
			if (key === inward)
				return this.elements.get(this.current).classList.contains("ancestor") ?
					this.path(this.current) :
					this.tree.sorted(this.current).filter(drawn)[0] ?? null;
			if (parent < 0 || (key !== "ArrowLeft" && key !== "ArrowRight"))
				return null;
			const row = this.tree.sorted(parent).filter(drawn);
			const step = key === "ArrowLeft" ? -1 : 1;
			return row[row.indexOf(this.current) + step] ?? null;
		}

		// Return the child of an ancestor that leads to the top.
		path(ancestor) {
			let node = this.top;
			while (this.tree.parents[node] !== ancestor)
				node = this.tree.parents[node];
			return node;
		}

		pressed(event) {
			if (event.ctrlKey || event.altKey || event.metaKey)
				return;
			if (event.key === "Enter" || event.key === " ")
				this.zoom(this.current);
			else if (event.key === "Escape")
				this.zoom(this.base);
			else {
				const node = this.target(event.key);
				if (node === null)
					return;
				this.select(node, true);
			}
			event.preventDefault();
		}
	}

	kmt.FrameChart = FrameChart;
})(window.kmt);
