// SPDX-License-Identifier: GPL-2.0-or-later
// Tests the parts of the page that need no document: node page-logic.cjs DIRECTORY, the
// directory being report/html/js.
"use strict";

const assert = require("node:assert");
const fs = require("node:fs");
const path = require("node:path");
const vm = require("node:vm");

const FILES = ["namespace", "format", "filter", "series", "model", "span", "layers",
	"loss-bands", "mark-labels", "live-series", "frame-tree", "comparison"];

/** Load the files as the page does, and return the namespace. */
function load(directory) {
	const context = vm.createContext({ window: {} });

	for (const name of FILES) {
		const file = path.join(directory, name + ".js");

		vm.runInContext(fs.readFileSync(file, "utf8"), context, { filename: file });
	}
	return context.window.kmt;
}

const kmt = load(process.argv[2]);

/** Compare values of the page, whose prototypes are those of another context. */
function equal(actual, expected) {
	assert.deepStrictEqual(JSON.parse(JSON.stringify(actual)), expected);
}

const tests = {
	formats() {
		const { value, exact } = kmt.format;

		equal([0, 1, 1023, 1024, 1536, 1048575, -2048].map((n) => value(n, "bytes")),
			["0 B", "1 B", "1023 B", "1 KiB", "1.50 KiB", "1.00 MiB", "-2 KiB"]);
		equal([0, 99999, 100000, 1.5e9].map((n) => value(n, "count")),
			["0", "99,999", "100 k", "1.50 G"]);
		equal([0, 999, 1500, 2e6, 1.5e9, 300e9].map((n) => value(n, "time")),
			["0 s", "999 ns", "1.50 µs", "2 ms", "1.50 s", "5 min"]);
		equal([0, 0.5, 1].map((n) => value(n, "share")), ["0.0 %", "50.0 %", "100 %"]);
		equal([null, undefined, NaN, "<b>"].map((n) => value(n, "bytes")), ["–", "–", "–", "–"]);
		equal(exact(1234567, "bytes"), "1,234,567 bytes");
		equal(exact(-1234, "count"), "-1,234");
	},

	filters() {
		const test = (text, unit, number) => {
			const filter = kmt.filter(text, unit);

			return filter && filter(number);
		};

		for (const [text, unit, inside, outside] of [
			[">1000", "count", 1001, 1000], [">=1K", "count", 1000, 999],
			["<1K", "bytes", 1023, 1024], ["<=2MiB", "bytes", 2 ** 21, 2 ** 21 + 1],
			["1,024", "bytes", 1024, 1025], ["!=5", "count", 6, 5],
			["10..20", "count", 20, 21], ["1K..2k", "bytes", 1024, 2049],
			[">5ms", "time", 5e6 + 1, 5e6], [">1µs", "time", 1001, 1000],
			[">50", "share", 0.51, 0.5], [" > 50 %", "share", 0.51, 0.5],
		]) {
			assert.strictEqual(test(text, unit, inside), true, text);
			assert.strictEqual(test(text, unit, outside), false, text);
			assert.strictEqual(test(text, unit, null), false, text + " of nothing");
		}
		for (const text of ["x", ">", "1..", "5 parsecs", "1 2", ">>3"])
			assert.strictEqual(kmt.filter(text, "count"), null, text);
		assert.strictEqual(test("Alloc", "text", "my_alloc+0x1"), true);
		assert.strictEqual(test("!alloc", "text", "my_alloc+0x1"), false);
		assert.strictEqual(test("a.c", "text", "abc"), false);
	},

	sparseSeries() {
		// 10 live bytes at first; events in the windows 1 and 3.
		const series = kmt.series.ofSite([10, 1, 30, 2, 0, 18, 20, 3, 5, 0, 1, 0, 0]);

		equal([-1, 0, 1, 2, 3, 9].map((window) => series.at(window)), [10, 10, 30, 30, 5, 5]);
		equal(series.dense(5), [10, 30, 30, 5, 5]);
		equal([series.sum("allocs", 0, 4), series.sum("allocated", 1, 1),
			series.sum("frees", 2, 3), series.sum("requested", 2, 4)], [2, 20, 1, 0]);
		equal([kmt.series.ofSite(null), kmt.series.ofSite([]).dense(2)], [null, [0, 0]]);
	},

	spans() {
		const span = kmt.span.create({ n: 10, width_ns: 100, start_ns: 1000 });
		const series = kmt.series.ofSite([10, 1, 30, 2, 0, 18, 20, 3, 5, 0, 1, 0, 0]);
		let calls = 0;

		span.onChange(() => calls++);
		assert(span.whole);
		span.set(3, 1);
		equal([span.from, span.to, span.whole, span.startNs(), span.stopNs(), calls],
			[1, 3, false, 1100, 1400, 1]);
		equal(kmt.span.figures(series, span), {
			live: 5, growth: -5, wasted: 2, allocs: 2, allocated: 20, requested: 18, frees: 1,
		});
		span.set(-5, 99);
		assert(span.whole);
		equal(kmt.span.figures(null, span).live, null);
	},

	damagedData() {
		for (const text of ["", "x", "null", "[]", "{}", "{\"format\":2}",
			"{\"format\":1,\"sites\":[null,{\"caches\":3}],\"kinds\":[0],\"gaps\":{}}"]) {
			const model = kmt.model.read(text);

			assert(model.problems.length > 0 || text === "null" || text === "[]", text);
			equal(kmt.lossBands(model, 0.1), []);
			equal(kmt.layers.used(model), []);
			equal(model.name(5), "(unknown)");
		}
		const model = kmt.model.read("{\"format\":1,\"names\":[\"f\",1],\"sites\":[null,{\"site\":0}]}");

		equal(model.sites.map((site) => [site.index, site.name]), [[0, "(unknown)"], [1, "f"]]);
	},

	lossBands() {
		const model = kmt.model.read(JSON.stringify({
			windows: { n: 10, width_ns: 10, start_ns: 100 },
			gaps: [{ from_ns: 180, until_ns: 190 }, { from_ns: 120, until_ns: 130 },
				{ from_ns: 125, until_ns: 140 }, { from_ns: 0, until_ns: 50 },
				{ from_ns: 150, until_ns: 150 }],
		}));

		equal(kmt.lossBands(model, 0.01), [[0.2, 0.4], [0.5, 0.51], [0.8, 0.9]]);
	},

	layersDoNotAdd() {
		const kinds = ["kmalloc", "cache", "pages"].map((kind) => ({ kind, allocs: 1, live: 4 }));
		const live = (values) => ({ live: values });
		const model = kmt.model.read(JSON.stringify({
			kinds, names: ["mm", "fs"], windows: { n: 2, width_ns: 5, start_ns: 0 },
			series: {
				kinds: [live([1, 4]), live([2, 4]), live([9, 4])],
				dirs: [{ kind: 0, name: 0, live: [1, 3] }, { kind: 1, name: 0, live: [1, 0] },
					{ kind: 2, name: 1, live: [9, 4] }],
			},
		}));
		const shown = kmt.liveSeries.of(model, "kind", kmt.liveSeries.ALL);

		equal(kmt.layers.used(model), ["slab", "pages"]);
		equal(kmt.layers.total(model, "slab", "live"), 8);
		equal(shown.map((one) => [one.name, one.line]),
			[["kmalloc", false], ["cache", false], ["pages", true]]);
		equal(kmt.liveSeries.of(model, "kind", "pages").map((one) => [one.name, one.line]),
			[["pages", false]]);
		equal(kmt.liveSeries.peak(shown, model), { value: 8, atNs: 10 });
		equal(kmt.liveSeries.of(model, "dir", "slab").map((one) => [one.name, one.values]),
			[["mm", [2, 3]], ["all others", [1, 5]]]);
	},

	/** Labels of marks that are close together are below each other in their order, also
	 * after any number of other marks, and at the right edge. */
	markLabels() {
		const rows = (labels) => kmt.markLabels(labels, 1000).map((place) => place.row);
		const close = [{ x: 700, width: 40 }, { x: 710, width: 50 }];

		equal(kmt.markLabels([{ x: 0, width: 50 }, { x: 990, width: 50 }], 1000),
			[{ row: 0, left: false }, { row: 0, left: true }]);
		for (const before of [0, 1, 2, 3, 4, 5]) {
			const others = Array.from({ length: before }, (_, i) =>
				({ x: 100 * i, width: 50 }));

			equal(rows([...others, ...close]), [...others.map(() => 0), 0, 1]);
		}
		// The second label is left of its mark, above which the first one is.
		equal(kmt.markLabels([{ x: 955, width: 40 }, { x: 960, width: 50 }], 1000),
			[{ row: 0, left: false }, { row: 1, left: true }]);
		equal(rows([0, 10, 20, 30, 40, 50].map((x) => ({ x, width: 30 }))),
			[0, 1, 2, 3, 4, 5]);
	},

	/** Rows have the order of their ranks; lines without a figure are absent. */
	comparison() {
		const model = kmt.model.read(JSON.stringify({
			names: ["slab", "f+0x1", "g+0x2", "h+0x3", "old+0x4"],
			comparison: {
				fields: [{ name: "live" }, { name: "allocs" }],
				lines: [[0, 1, 0, -1, [[10, 30, 20, 1, 0, 0.4, 3], null]],
					[0, 2, 3, 4, [[0, 5, 5, 2, 2, 0.1, 1], [0, 1, 1, 0, 0, null, 1]]],
					[0, 3, 2, -1, [[90, 0, -90, 1, 1, 0.4, 2], 7]], null],
			},
		}));
		const [rows, allocs] = [0, 1].map((field) => kmt.comparison.rows(model, field));

		equal(rows.map((row) => [row.rank, row.name, row.difference, row.ratio, row.match]),
			[[1, "g+0x2", 5, null, "added"], [2, "h+0x3", -90, 0, "removed"],
				[3, "f+0x1", 20, 3, "same"]]);
		equal([rows[0].guess, rows[0].noise, rows[0].doubtfulBase, rows[0].doubtfulNew],
			["old+0x4", "exceeds", false, true]);
		equal(allocs.map((row) => [row.name, row.p]), [["g+0x2", null]]);
		equal(kmt.model.read("{\"format\":1,\"comparison\":[]}").comparison, null);
	},

	/** A tree by call path keeps each sum, in both directions and in each search. */
	frameTrees() {
		// parent, frame, live, allocated, wasted, peak, allocations
		const nodes = [[-1, 0, 0, 0, 0, 0, 0], [0, 1, 0, 10, 0, 0, 1], [1, 2, 0, 20, 0, 0, 1],
			[1, 3, 0, 5, 0, 0, 1], [3, 2, 0, 7, 0, 0, 1], [-1, 4, 0, 0, 0, 0, 0],
			[5, 2, 0, 100, 0, 0, 1], [0, 1, 0, 1, 0, 0, 1]];
		const tree = kmt.frameTree.build(nodes, "allocated");
		const inverted = tree.inverted();
		const level = (one, node) => one.sorted(node).map((child) =>
			[one.frames[child], one.totals[child]]);
		const [large, small] = tree.sorted(0);

		equal(level(tree, 0), [[4, 100], [0, 43]]);
		equal(level(tree, small), [[1, 43]]);
		equal(tree.own[tree.sorted(small)[0]], 11);
		equal(level(inverted, 0), [[4, 100], [0, 43]]);
		equal(level(inverted, inverted.sorted(0)[1]), [[2, 27], [1, 11], [3, 5]]);
		for (const one of [tree, inverted])
			equal([...one.search((frame) => frame === 2, 0).sums.values()].sort(),
				[100, 27]);
		// Frame 1 contains the others, so that their bytes do not count again.
		equal([...tree.search((frame) => frame > 0, small).sums.values()], [43]);
		const { boxes, omitted, rests } = tree.layout(0, 20);

		equal(boxes.map((box) => [tree.frames[box.node], box.level]),
			[[-1, 0], [4, 1], [0, 1], [2, 2], [1, 2], [2, 3], [3, 3]]);
		equal([omitted, rests.length], [1, 0]);
		equal(tree.layout(large, 50).boxes.map((box) => [box.left, box.width]),
			[[0, 50], [0, 50]]);
		equal(kmt.frameTree.build(nodes, "live").layout(0, 100).boxes, []);
		equal(kmt.frameTree.build([[7, 1, 1], [-5, 1, "x"], [0, 2, -3]], "live").totals[0], 1);
	},

	/** Frames that are too narrow are counted, and their area is hatched. */
	narrowFrames() {
		const nodes = [[-1, 0, 0]];

		for (let i = 1; i <= 9000; i++)
			nodes.push([0, i, 1]);
		const tree = kmt.frameTree.build(nodes, "live");
		const narrow = tree.layout(0, 1000);
		const wide = tree.layout(0, 9000);

		equal([narrow.boxes.length, narrow.omitted, narrow.rests.length], [2, 9000, 1]);
		equal([narrow.rests[0].n, Math.round(narrow.rests[0].width)], [9000, 1000]);
		equal([wide.boxes.length, wide.omitted], [4000, 5002]);
	},
};

for (const [name, test] of Object.entries(tests)) {
	try {
		test();
		console.log("ok " + name);
	} catch (error) {
		console.log("not ok " + name + "\n" + error.stack);
		process.exitCode = 1;
	}
}
