// SPDX-License-Identifier: GPL-2.0-or-later
// The comparison with a base, against the JSON document of the comparison.

import {execFileSync} from "node:child_process";

const NOISE = {unknown: "not known", within: "within noise", exceeds: "exceeds noise"};

/** Return the JSON document of the comparison that a page shows. */
function comparison(given, fields) {
	return JSON.parse(execFileSync(given.program, ["-q", "--json", "--fields",
		fields.join(","), ...given.options, ...given.captures],
	{encoding: "utf8", maxBuffer: 1 << 29, stdio: ["ignore", "pipe", "ignore"]}));
}

/** Return all rows of the table, of all its pages. */
async function readRows(page) {
	const rows = [];

	for (;;) {
		rows.push(...await page.$$eval("#comparison-table tbody tr", (elements) =>
			elements.map((element) => Object.fromEntries(
				[...element.querySelectorAll("td[data-key]")].map((cell) => {
					const value = cell.querySelector(".value");
					return [cell.dataset.key, value === null ? cell.textContent :
						value.hasAttribute("data-value") ?
							Number(value.dataset.value) : null];
				})))));
		const next = page.locator("#comparison-table .pager button").nth(1);
		if (await next.isDisabled())
			return rows;
		await next.click();
	}
}

/** Return a row of the document in the form of the table, for comparing. */
function rowOf(line, field) {
	const cell = line.figures[field];

	return JSON.stringify([line.kind, line.callsite, cell.base, cell.new, cell.difference,
		NOISE[cell.noise], line.match]);
}

function hasFigure(cell) {
	const values = cell.base_values ? [...cell.base_values, ...cell.new_values] :
		[cell.base, cell.new];

	return values.some((value) => value !== null && value !== 0);
}

/** Compare the table of a field with the document. */
async function checkField(page, document, field, expect) {
	await page.selectOption("#comparison-field", {label: field});
	const rows = await readRows(page);
	const shown = rows.map((row) => JSON.stringify([row.kindName, row.name, row.base,
		row.current, row.difference, row.noise.split(",")[0], row.match.split(";")[0]]));
	const expected = document.callsites.filter((line) => hasFigure(line.figures[field]))
		.map((line) => rowOf(line, field));

	expect.equal(shown.sort(), expected.sort(), field);
	expect.equal(rows.map((row) => row.rank), rows.map((_, i) => i + 1), `${field}, ranks`);
	const {order} = document.fields.find((entry) => entry.field === field);
	expect.equal(rows.map((row) => row.name), order.map((i) => document.callsites[i].callsite),
		`${field}, order`);
}

/** Compare the section with the document, for each field, and use its filter. */
export async function checkComparison(page, given, expect) {
	expect.about(`${given.name}, comparison`);
	const fields = await page.$$eval("#comparison-field option", (options) =>
		options.map((option) => option.textContent));
	const document = comparison(given, fields);

	expect.that(fields.includes("live") && fields.length > 4, `fields: ${fields}`);
	for (const field of fields)
		await checkField(page, document, field, expect);
	await page.selectOption("#comparison-field", {label: "live"});
	const all = await readRows(page);
	await page.fill("#comparison input[data-filter=name]", "card");
	expect.equal((await readRows(page)).map((row) => row.name).sort(),
		all.map((row) => row.name).filter((name) => name.includes("card")).sort(),
		"rows with card");
	const text = await page.textContent("#comparison");
	for (const capture of [...document.base, ...document.new])
		expect.that(text.includes(capture.path), `${capture.path} is not shown`);
	expect.that(text.includes("Noise is not known") === !document.noise.known,
		"what is known about noise");
}
