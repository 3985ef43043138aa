// SPDX-License-Identifier: GPL-2.0-or-later
// Sort, filter, and open call sites, select spans, and compare with the JSON report.

import {byKind, bySite, report} from "./report-json.mjs";

/* Columns of sums and of live memory, which the page knows for each span. */
const OF_SPAN = ["allocs", "frees", "requested", "allocated", "wasted", "live"];
const OF_CAPTURE = [...OF_SPAN, "live_objects", "peak", "cross_frees"];

/** Return the rows of the table of call sites: key, name, and figures. */
async function readSites(page) {
	return page.evaluate(() => [...document.querySelectorAll("#sites tr[data-site]")]
		.map((row) => {
			const site = window.kmt.app.model.sites[Number(row.dataset.site)];
			const figures = {};
			for (const cell of row.querySelectorAll("td[data-key]")) {
				const value = cell.querySelector(".value");
				figures[cell.dataset.key] = value === null ? cell.textContent :
					value.hasAttribute("data-value") ?
						Number(value.getAttribute("data-value")) : null;
			}
			return {key: `${site.address} ${site.kindName}`, figures};
		}));
}

/** Return the figures of each kind in the table of totals. */
async function readTotals(page) {
	return page.evaluate(() => [...document.querySelectorAll("#totals tr[data-kind]")]
		.map((row) => [row.dataset.kind, Object.fromEntries(
			[...row.querySelectorAll("td[data-key] .value[data-value]")].map((value) =>
				[value.closest("td").dataset.key, Number(value.dataset.value)]))]));
}

function compare(shown, expected, columns, what, expect) {
	for (const column of columns)
		expect.equal(shown[column], expected[column], `${what}, ${column}`);
}

/** Compare the tables with a document of the report. */
async function compareTables(page, document, columns, expect) {
	const sites = bySite(document);
	const kinds = byKind(document);
	const none = Object.fromEntries(columns.map((column) => [column, 0]));
	const rows = await readSites(page);
	const totals = await readTotals(page);

	for (const {key, figures} of rows)
		// A call site without an event in the span is not in the document.
		compare(figures, sites.get(key) || none, columns, key, expect);
	for (const [kind, figures] of totals)
		compare(figures, kinds.get(kind) || none,
			columns.filter((column) => column !== "cross_frees"), kind, expect);
	expect.that(totals.length > 0, "no totals");
	return rows;
}

/** Compare the figures of the whole capture. */
export async function checkFigures(page, given, expect) {
	expect.about(`${given.name}, figures`);
	const document = report(given.program, given.capture, "--lines", "0");
	const rows = await compareTables(page, document, OF_CAPTURE, expect);
	const sites = bySite(document);

	if (given.complete)
		expect.equal(rows.length, sites.size, "call sites");
}

/** Compare the names of call sites; the page truncates long ones. */
export async function checkNames(page, given, expect) {
	const document = report(given.program, given.capture, "--lines", "0");
	const rows = new Map((await readSites(page)).map((row) => [row.key, row.figures]));

	for (const site of document.callsites) {
		const shown = rows.get(`${site.address} ${site.kind}`);
		expect.that(shown && shown.name.startsWith(site.symbol.slice(0, 200)),
			`${site.symbol.slice(0, 80)} is shown as ${shown?.name}`);
		if (site.source)
			expect.that(shown.sourceName.startsWith(site.source.file.slice(0, 200)),
				`${site.source.file.slice(0, 80)} is shown as ${shown.sourceName}`);
	}
	expect.that(document.callsites.some((site) => site.source), "no source lines");
}

/** Check that a column of names is shown only if a call site has such a name, and that
 * the table of leak candidates fits into a wide window. */
export async function checkColumns(page, given, expect) {
	const found = await page.evaluate(() => ({
		empty: [...document.querySelectorAll("#sites th.text[data-key]")]
			.map((title) => title.dataset.key).filter((key) =>
				window.kmt.app.model.sites.every((site) => !site[key])),
		missing: ["moduleName", "dirName", "sourceName"].filter((key) =>
			!document.querySelector(`#sites th[data-key=${key}]`) &&
			window.kmt.app.model.sites.some((site) => site[key])),
		lines: Math.max(...[...document.querySelectorAll("#leak-table thead th")]
			.map((title) => title.getBoundingClientRect().height /
				parseFloat(getComputedStyle(title).fontSize))),
		hidden: [...document.querySelectorAll("#leaks .scroll")].map((table) =>
			table.scrollWidth - table.clientWidth),
	}));

	expect.about(`${given.name}, columns`);
	expect.equal(found.empty, [], "columns without a name");
	expect.equal(found.missing, [], "names without a column");
	expect.that(found.lines < 8,
		`headings of leak candidates: ${found.lines} em high`);
	expect.that(found.hidden.every((width) => width <= 0),
		`${found.hidden} pixels of the leak candidates are hidden`);
}

function isSorted(values, descending) {
	const known = values.filter((value) => value !== null);
	const ends = values.slice(known.length).every((value) => value === null);

	return ends && known.every((value, i) => i === 0 || (descending ?
		known[i - 1] >= value : known[i - 1] <= value));
}

/** Sort by each column, in both directions. */
export async function checkSorting(page, given, expect) {
	expect.about(`${given.name}, sorting`);
	const keys = await page.evaluate(() => [...document.querySelectorAll(
		"#sites th[data-key] button")].map((button) => button.parentElement.dataset.key));

	expect.that(keys.length > 10, `only ${keys.length} columns sort`);
	for (const key of keys) {
		const orders = [];
		for (let click = 0; click < 2; click++) {
			await page.click(`#sites th[data-key=${key}] button`);
			const order = await page.getAttribute(`#sites th[data-key=${key}]`,
				"aria-sort");
			const values = (await readSites(page)).map((row) => row.figures[key]);
			orders.push(order);
			expect.that(isSorted(values, order === "descending"),
				`${key} is not ${order}: ${values.slice(0, 8)}`);
		}
		expect.equal(orders.sort(), ["ascending", "descending"], `orders of ${key}`);
	}
}

/** Filter by text and by number, and by both. */
export async function checkFilters(page, given, expect) {
	expect.about(`${given.name}, filters`);
	const all = await readSites(page);
	const limit = [...all].sort((a, b) => a.figures.allocs - b.figures.allocs)[
		Math.floor(all.length / 2)].figures.allocs;
	const text = given.word;
	const hasText = ({figures}) => figures.name.toLowerCase().includes(text);
	const isMore = ({figures}) => figures.allocs > limit;
	const keysOf = (rows) => rows.map((row) => row.key).sort();
	const filter = (key, value) => page.fill(`#sites input[data-filter=${key}]`, value);
	const shows = async (accepts, what) => expect.equal(keysOf(await readSites(page)),
		keysOf(all.filter(accepts)), what);

	await filter("name", text);
	await shows(hasText, `rows with ${text}`);
	await filter("allocs", `>${limit}`);
	await shows((row) => hasText(row) && isMore(row), "rows with both");
	await filter("name", "");
	await shows(isMore, `rows with more than ${limit} allocations`);
	await filter("allocs", "not a number");
	expect.equal(await page.getAttribute("#sites input[data-filter=allocs]", "aria-invalid"),
		"true", "an invalid filter");
	await filter("allocs", "");
	await shows(() => true, "rows without filters");
}

/** Open each call site, compare its figures, and close it by key and by button. */
export async function checkDetails(page, given, expect) {
	expect.about(`${given.name}, details`);
	const sites = bySite(report(given.program, given.capture, "--lines", "0"));
	const n = Math.min(given.details, await page.locator("#sites tr[data-site]").count());

	for (let i = 0; i < n; i++) {
		await page.locator("#sites tr[data-site] button.link").nth(i).focus();
		await page.keyboard.press("Enter");
		await page.waitForSelector("dialog#details[open]");
		const shown = await page.evaluate(() => {
			const dialog = document.getElementById("details");
			const site = window.kmt.app.model.sites[Number(dialog.dataset.site)];
			const values = [...dialog.querySelectorAll("[data-key] dd .value[data-value]")];
			return {
				key: `${site.address} ${site.kindName}`,
				sizes: site.sizes.reduce((sum, [, count]) => sum + count, 0),
				text: dialog.textContent,
				source: site.sourceName,
				figures: Object.fromEntries(values.map((value) =>
					[value.closest("[data-key]").dataset.key,
						Number(value.dataset.value)])),
			};
		});
		compare(shown.figures, sites.get(shown.key), OF_CAPTURE, shown.key, expect);
		expect.equal(shown.sizes, sites.get(shown.key).allocs, `${shown.key}, sizes`);
		expect.that(shown.text.includes(shown.source), `${shown.key}, source line`);
		await (i % 2 ? page.keyboard.press("Escape") : page.click("#details-close"));
		await page.waitForSelector("dialog#details:not([open])", {state: "attached"});
		expect.equal(await page.evaluate(() => document.activeElement.closest("tr")
			?.dataset.site), await page.locator("#sites tr[data-site]").nth(i)
			.getAttribute("data-site"), "the focus after closing");
	}
}

/** Return the selected span in windows and in ns. */
async function readSpan(page) {
	return page.evaluate(() => {
		const {span} = window.kmt.app;
		return {from: span.from, to: span.to, whole: span.whole,
			start: span.startNs(), stop: span.stopNs()};
	});
}

/** Compare the growth in a span with the difference of two reports. */
async function compareGrowth(page, before, after, expect) {
	const [start, end] = [before ? bySite(before) : new Map(), bySite(after)];
	const live = (sites, key) => sites.get(key)?.live || 0;

	for (const {key, figures} of await readSites(page))
		expect.equal(figures.growth, live(end, key) - live(start, key), `${key}, growth`);
}

/** Compare the tables with --time of the selected span. */
async function compareSpan(page, given, expect) {
	const span = await readSpan(page);
	const at = (...options) => report(given.program, given.capture, "--lines", "0",
		...options);

	// A window ends before the first moment of the next one. The report's moments are
	// both included.
	const time = `${span.start}ns,${span.stop - 1}ns`;
	expect.about(`${given.name}, span ${time}`);
	const document = at("--time", time);
	await compareTables(page, document, OF_SPAN, expect);
	await compareGrowth(page, span.from > 0 ? at("--time", `,${span.start - 1}ns`) : null,
		document, expect);
	return span;
}

/** Select spans by times, by keys, and by the mouse. */
export async function checkSpans(page, given, expect) {
	const n = await page.evaluate(() => window.kmt.app.model.windows.n);
	const width = await page.evaluate(() => window.kmt.app.model.windows.width_ns);

	for (const [from, to] of [[0, 0], [1, Math.floor(n / 2)], [Math.floor(n / 2), n - 1]]) {
		await page.fill("#span-from", String(from * width / 1e9));
		await page.fill("#span-to", String((to + 1) * width / 1e9));
		await page.click("#span-apply");
		const span = await compareSpan(page, given, expect);
		expect.equal([span.from, span.to], [from, to], "windows from the form");
	}
	await page.click("#span-reset");
	await page.locator("#live-chart").focus();
	await page.keyboard.press("ArrowRight");
	await page.keyboard.press("ArrowRight");
	await page.keyboard.press("Shift+ArrowRight");
	let span = await compareSpan(page, given, expect);
	expect.equal([span.from, span.to], [1, 2], "windows from keys");
	await page.keyboard.press("Escape");
	expect.that((await readSpan(page)).whole, "Escape does not select everything");
	await page.locator("#live-chart .u-over").scrollIntoViewIfNeeded();
	const box = await page.locator("#live-chart .u-over").boundingBox();
	await page.mouse.move(box.x + box.width * 0.3, box.y + box.height / 2);
	await page.mouse.down();
	await page.mouse.move(box.x + box.width * 0.45, box.y + box.height / 2, {steps: 4});
	await page.mouse.move(box.x + box.width * 0.6, box.y + box.height / 2, {steps: 4});
	await page.mouse.up();
	span = await compareSpan(page, given, expect);
	expect.that(Math.abs(span.from - 0.3 * n) <= 1.5 && Math.abs(span.to - 0.6 * n) <= 1.5,
		`the mouse selected windows ${span.from} to ${span.to} of ${n}`);
	await page.click("#span-reset");
	expect.that((await readSpan(page)).whole, "the button does not select everything");
	await checkFigures(page, given, expect);
}
