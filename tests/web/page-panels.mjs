// SPDX-License-Identifier: GPL-2.0-or-later
// The flame graph and the other figures of the whole capture, against the JSON report.

import {byKind, bySite, report} from "./report-json.mjs";

/* The metrics of the flame graph, and the figures of the report that they equal. */
const METRICS = {live: "live", allocated: "allocated", wasted: "wasted"};

/** Return the value that the text about the flame graph shows for a frame. */
async function statusValue(page) {
	return page.evaluate(() => Number(document.querySelector(
		"#frames-status .value")?.dataset.value ?? NaN));
}

/** Return the sum of each frame below the root. Runs in the page. */
function frameTotals([source, metric, inverted]) {
	const {model} = window.kmt.app;
	let tree = window.kmt.frameTree.build(model[source].nodes, metric);
	if (inverted)
		tree = tree.inverted();
	return [...tree.children[0].values()].map((node) =>
		[model.name(tree.frames[node]), tree.totals[node]]).sort();
}

/** Compare the sums of the flame graph with the kinds of the report. */
async function checkFrameSums(page, given, expect) {
	const kinds = byKind(report(given.program, given.capture));
	const sources = await page.$$eval("#frames-source option",
		(options) => options.map((option) => option.value));

	expect.that(sources.includes("stacks") === given.stacks, `trees: ${sources}`);
	for (const source of sources)
		for (const [metric, figure] of Object.entries(METRICS))
			for (const inverted of [false, true]) {
				const totals = await page.evaluate(frameTotals,
					[source, metric, inverted]);
				for (const [kind, total] of totals)
					expect.equal(total, kinds.get(kind)?.[figure] ?? null,
						`${source}, ${metric}, ${kind}`);
			}
}

/** Return the drawn frames: node, name, and place. */
async function drawnFrames(page) {
	return page.$$eval("#frames-chart .frame[data-node]", (frames) => frames.map((frame) => {
		const box = frame.getBoundingClientRect();
		const chart = frame.parentElement.getBoundingClientRect();
		return {node: Number(frame.dataset.node), name: frame.getAttribute("aria-label"),
			found: frame.classList.contains("found"), width: box.width,
			left: box.left - chart.left, top: Math.round(box.top - chart.top)};
	}));
}

/** Return what must not change when the page scrolls. */
function nodesOf(frames) {
	return frames.map((frame) => [frame.node, Math.round(frame.left), frame.top]);
}

/** Zoom, by mouse and by keys, and return. */
async function checkZoom(page, expect) {
	const before = await drawnFrames(page);
	const root = before.find((frame) => frame.node === 0);
	const narrow = before.filter((frame) => frame.node !== 0 && frame.width > 8 &&
		frame.width < 0.6 * root.width).sort((a, b) => a.width - b.width)[0];

	expect.that(narrow, "no frame to zoom to");
	if (!narrow)
		return;
	await page.click(`#frames-chart .frame[data-node="${narrow.node}"]`);
	const zoomed = (await drawnFrames(page)).find((frame) => frame.node === narrow.node);
	expect.that(Math.abs(zoomed.width - root.width) < 2, "a click does not zoom");
	await page.click("#frames-reset");
	expect.equal(nodesOf(await drawnFrames(page)), nodesOf(before), "frames after the reset");
	await page.locator("#frames-chart .frame[tabindex='0']").focus();
	await page.keyboard.press("ArrowDown");
	await page.keyboard.press("ArrowRight");
	await page.keyboard.press("ArrowLeft");
	await page.keyboard.press("ArrowDown");
	const at = await page.evaluate(() => Number(document.activeElement.dataset.node));
	await page.keyboard.press("Enter");
	const entered = (await drawnFrames(page)).find((frame) => frame.node === at);
	expect.that(at > 0 && Math.abs(entered.width - root.width) < 2,
		"the keys do not zoom");
	await page.keyboard.press("Escape");
	expect.equal(nodesOf(await drawnFrames(page)), nodesOf(before), "frames after Escape");
}

/** Draw the other way up, and check that each frame touches its parent. */
async function checkShapes(page, expect) {
	for (const shape of ["icicle", "flame"]) {
		await page.selectOption("#frames-shape", shape);
		const frames = await drawnFrames(page);
		const root = frames.find((frame) => frame.node === 0);
		const edge = shape === "flame" ? Math.max : Math.min;
		expect.equal(root.top, edge(...frames.map((frame) => frame.top)),
			`the root of the ${shape}`);
		expect.that(frames.every((frame) => frame.left >= root.left - 1 &&
			frame.left + frame.width <= root.left + root.width + 1),
		`the ${shape} is wider than its root`);
	}
	await page.selectOption("#frames-shape", "icicle");
}

/** Search for a function, and compare the sum with the call sites of that name. */
async function checkSearch(page, given, expect) {
	const word = given.word;
	const document = report(given.program, given.capture, "--lines", "0");
	const sites = bySite(document);
	const expected = document.callsites.filter((site) => site.symbol.includes(word) &&
		site.kind === "kmalloc").reduce((sum, site) =>
		sum + sites.get(`${site.address} ${site.kind}`).allocated, 0);

	await page.selectOption("#frames-metric", "allocated");
	await page.selectOption("#frames-kind", {label: "kmalloc"});
	await page.selectOption("#frames-direction", "callers");
	await page.fill("#frames-search", word);
	const shown = await page.evaluate(() => Number(document.querySelector(
		"#frames-matches .value")?.dataset.value ?? NaN));
	expect.equal(shown, expected, `allocated bytes of "${word}"`);
	const found = (await drawnFrames(page)).filter((frame) => frame.found);
	expect.that(found.length > 0 && found.every((frame) =>
		frame.name.toLowerCase().includes(word)), `highlighted: ${found.length}`);
	await page.fill("#frames-search", "");
	expect.equal((await drawnFrames(page)).filter((frame) => frame.found).length, 0,
		"highlighted frames without a search");
	expect.equal(await statusValue(page), byKind(document).get("kmalloc").allocated,
		"the selected kind");
	for (const [id, value] of [["metric", "live"], ["kind", ""], ["direction", "callees"]])
		await page.selectOption(`#frames-${id}`, value);
}

/** Check all about the flame graph. */
export async function checkFrames(page, given, expect) {
	expect.about(`${given.name}, flame graph`);
	await checkFrameSums(page, given, expect);
	await page.selectOption("#frames-metric", "allocated");
	await checkZoom(page, expect);
	await checkShapes(page, expect);
	await checkSearch(page, given, expect);
}

/** Compare the call sites whose objects another CPU freed with the report. */
async function checkCrossSites(page, document, expect) {
	const rows = await page.$$eval("#cross-sites tbody tr", (list) => list.map((row) => {
		const cell = (key) => row.querySelector(`[data-key="${key}"]`);
		const number = (key) => Number(cell(key).querySelector(".value").dataset.value);
		return [cell("name").textContent, cell("kindName").textContent,
			number("cross_frees"), number("frees")];
	}));
	const expected = document.callsites.filter((site) => site.cross_cpu_frees > 0);
	const counts = (list) => list.map((row) => row[2]);

	expect.that(rows.length === Math.min(10, expected.length),
		`${rows.length} call sites with frees on another CPU`);
	expect.equal(counts(rows), expected.map((site) => site.cross_cpu_frees)
		.sort((a, b) => b - a).slice(0, 10), "the most frees on another CPU");
	for (const [name, kind, cross, frees] of rows)
		expect.that(expected.some((site) => name.startsWith(site.symbol) &&
			site.kind === kind && site.cross_cpu_frees === cross &&
			site.frees === frees), `${name}: ${cross} of ${frees} frees`);
}

/** Compare waste, frees across CPUs, lifetimes, and leaks with the report. */
export async function checkOthers(page, given, expect) {
	expect.about(`${given.name}, other panels`);
	const document = report(given.program, given.capture);
	const kinds = byKind(document);
	const shown = await page.evaluate(() => {
		const numbers = (selector) => [...document.querySelectorAll(selector)]
			.map((element) => Number(element.dataset.value ?? element.dataset.count));
		const sum = (list) => list.reduce((total, number) => total + number, 0);
		const column = (n) => sum(numbers(
			`#waste-classes tbody tr td:nth-of-type(${n}) .value`));
		return {
			requested: column(2), allocated: column(3), wasted: column(4),
			cross: sum(numbers("#heat-map td.cross")),
			freed: sum(numbers("#lifetimes rect.column")),
			leaks: document.querySelectorAll("#leak-table tbody tr").length,
			findings: document.querySelectorAll("#finding-list > li").length,
		};
	});
	const sum = (figure) => ["kmalloc", "cache", "pages", "percpu", "vmalloc"]
		.reduce((total, kind) => total + (kinds.get(kind)?.[figure] || 0), 0);

	for (const figure of ["requested", "allocated", "wasted"])
		expect.equal(shown[figure], kinds.get("kmalloc")[figure], `kmalloc, ${figure}`);
	expect.equal(shown.cross, sum("cross_frees"), "frees on another CPU");
	await checkCrossSites(page, document, expect);
	expect.that(given.complete ? shown.freed === sum("frees") : shown.freed <= sum("frees"),
		`lifetimes of ${shown.freed} objects instead of ${sum("frees")}`);
	expect.that(shown.leaks > 0, "no leak candidate");
	expect.that(given.complete || shown.findings > 0, "no findings");
}
