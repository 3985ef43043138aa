// SPDX-License-Identifier: GPL-2.0-or-later
// The tree behind the flame graph: totals, inversion, search, and layout. No DOM.
(function (kmt) {
	"use strict";

	// Places of the metrics in the nodes of the data: see report/html/data-format.md.
	const METRICS = { live: 2, allocated: 3, wasted: 4, peak: 5 };
	// The most frames that are drawn; the narrowest are omitted.
	const MOST_DRAWN = 4000;

	// A tree with the value of one metric in each node. Node 0 is the root, which
	// belongs to no frame, and a parent has a lower number than its children.
	class FrameTree {
		constructor() {
			this.frames = [-1];
			this.parents = [-1];
			this.own = [0];
			this.children = [new Map()];
			this.totals = null;
		}

		// Return the child of a node with this frame; make it if it is missing.
		child(parent, frame) {
			let node = this.children[parent].get(frame);
			if (node === undefined) {
				node = this.frames.length;
				this.frames.push(frame);
				this.parents.push(parent);
				this.own.push(0);
				this.children.push(new Map());
				this.children[parent].set(frame, node);
			}
			return node;
		}

		// Add up the values of each subtree.
		finish() {
			this.totals = this.own.slice();
			for (let node = this.frames.length - 1; node > 0; node--)
				this.totals[this.parents[node]] += this.totals[node];
			return this;
		}

		// Return the nodes from the first level down to a node.
		path(node) {
			const nodes = [];
			for (; node > 0; node = this.parents[node])
				nodes.unshift(node);
			return nodes;
		}

		// Return the children of a node that have a value, the largest first.
		sorted(node) {
			return [...this.children[node].values()]
				.filter((child) => this.totals[child] > 0)
				.sort((a, b) => this.totals[b] - this.totals[a] || a - b);
		}

		// Return the same values with the order of the frames below the first level
		// reversed. The first level is the kind of memory.
		inverted() {
			const tree = new FrameTree();
			for (let node = 1; node < this.frames.length; node++) {
				if (this.own[node] <= 0)
					continue;
				const [kind, ...rest] = this.path(node);
				let at = tree.child(0, this.frames[kind]);
				for (const below of rest.reverse())
					at = tree.child(at, this.frames[below]);
				tree.own[at] += this.own[node];
			}
			return tree.finish();
		}

		// Return the outermost nodes below a node whose frame is accepted, so that no
		// byte counts twice, and the sum of their values for each kind.
		search(accepts, below) {
			const found = new Set();
			const sums = new Map();
			const open = [[below, this.path(below)[0] ?? 0]];

			while (open.length) {
				const [node, kind] = open.pop();

				if (node > 0 && accepts(this.frames[node])) {
					found.add(node);
					sums.set(kind, (sums.get(kind) || 0) + this.totals[node]);
					continue;
				}
				for (const child of this.children[node].values())
					open.push([child, node === 0 ? child : kind]);
			}
			return { found, sums };
		}

		// Place the frames of a subtree in a row per level. Return the boxes
		// {node, level, left, width} in pixels, the rests {n, level, left, width} with
		// n frames that are narrower than a pixel, and the number of omitted frames.
		layout(top, width) {
			const boxes = [];
			const rests = [];
			const open = [{ node: top, level: 0, left: 0, width }];
			let omitted = 0;

			while (open.length && this.totals[top] > 0) {
				const box = open.pop();
				const rest = { n: 0, level: box.level + 1, left: box.left, width: 0 };

				boxes.push(box);
				// The narrow ones come last.
				for (const node of this.sorted(box.node)) {
					const share = width * this.totals[node] / this.totals[top];

					if (share >= 1) {
						open.push({ node, level: rest.level, left: rest.left, width: share });
						rest.left += share;
					} else {
						rest.n++;
						rest.width += share;
					}
				}
				omitted += rest.n;
				if (rest.width >= 1)
					rests.push(rest);
			}
			return this.limited({ boxes, rests, omitted });
		}

		// Omit the narrowest boxes if there are too many.
		limited({ boxes, rests, omitted }) {
			if (boxes.length > MOST_DRAWN) {
				boxes.sort((a, b) => b.width - a.width || a.level - b.level);
				omitted += boxes.length - MOST_DRAWN;
				boxes.length = MOST_DRAWN;
			}
			boxes.sort((a, b) => a.level - b.level || a.left - b.left);
			return { boxes, rests: rests.slice(0, MOST_DRAWN), omitted };
		}
	}

	// Return the tree of one metric. nodes: as in the data, a parent before its
	// children.
	function build(nodes, metric) {
		const tree = new FrameTree();
		const column = METRICS[metric];
		const places = nodes.map(() => 0);
		nodes.forEach((node, i) => {
			const parent = node[0] >= 0 && node[0] < i ? places[node[0]] : 0;
			places[i] = tree.child(parent, node[1]);
			tree.own[places[i]] += Math.max(0, Number(node[column]) || 0);
		});
		return tree.finish();
	}

	kmt.frameTree = { build, metrics: Object.keys(METRICS) };
})(window.kmt);
