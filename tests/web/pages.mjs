// SPDX-License-Identifier: GPL-2.0-or-later
// Open the pages of the HTML report in Chromium, use them, and check what they show.
//
//     node pages.mjs CONFIGURATION     a JSON file that html-pages.py writes

import fs from "node:fs";
import path from "node:path";
import {launch, VIEWS, WatchedPage} from "./browser.mjs";
import {Expectations} from "./expectations.mjs";
import {checkComparison} from "./page-comparison.mjs";
import {checkFrames, checkOthers} from "./page-panels.mjs";
import {checkElements, checkPolicy, installTrap} from "./page-safety.mjs";
import {checkColumns, checkDetails, checkFigures, checkFilters, checkNames, checkSorting,
	checkSpans} from "./page-tables.mjs";

/** Return the number of scripts and styles in the template. */
function readTemplate(file) {
	const text = fs.readFileSync(file, "utf8");

	return {scripts: text.split("<script>").length - 1,
		styles: text.split("<style>").length - 1};
}

async function openPage(browser, given, view, expect) {
	expect.about(`${given.name}, ${view.name}`);
	const watched = await WatchedPage.open(browser, given.page, view, installTrap);

	await watched.page.waitForSelector("html[data-ready=yes]", {state: "attached"});
	return watched;
}

async function closePage(watched, expect) {
	expect.equal(watched.incidents, [], "messages, errors, and requests");
	await watched.close();
}

/** Open a page in one view, save a picture, and check its elements. */
async function look(browser, config, given, view, expect) {
	const watched = await openPage(browser, given, view, expect);
	const {page} = watched;

	await watched.screenshot(path.join(config.out, `${given.name}-${view.name}.png`));
	expect.that(await watched.fits(),
		`is too wide: ${await watched.wideElements()}`);
	await checkElements(page, config.template, expect);
	expect.equal(await page.$$eval(".problem, #problems", (found) =>
		found.map((element) => element.textContent)), [], "problems");
	for (const text of given.texts)
		expect.that((await page.textContent("body")).includes(text),
			`does not show ${JSON.stringify(text)}`);
	if (given.names)
		await checkNames(page, given, expect);
	if (given.compared && !given.hostile && view === VIEWS[0])
		await checkComparison(page, given, expect);
	if (given.figures && view === VIEWS[0])
		await checkFigures(page, given, expect);
	await closePage(watched, expect);
}

/** Check the skip link, the modes, and the print of a page. */
async function checkPage(watched, config, given, expect) {
	const {page} = watched;

	expect.about(`${given.name}, page`);
	await page.keyboard.press("Tab");
	await page.keyboard.press("Enter");
	expect.equal(await page.evaluate(() => document.activeElement.id), "main",
		"the focus after the skip link");
	const theme = () => page.getAttribute("html", "data-theme");
	const first = await theme();
	await page.click("#theme");
	expect.that(await theme() !== first, "the button does not change the mode");
	await page.click("#theme");
	expect.equal(await theme(), first, "the mode after two clicks");
	// The width of A4 in CSS pixels.
	await page.setViewportSize({width: 794, height: 1123});
	await page.emulateMedia({media: "print"});
	expect.that(await watched.fits(),
		`the print is too wide: ${await watched.wideElements()}`);
	await page.pdf({path: path.join(config.out, `${given.name}.pdf`), format: "A4"});
	await page.emulateMedia({media: "screen"});
	await page.setViewportSize(VIEWS[0].viewport);
}

/** Use everything on a page. */
async function use(browser, config, given, expect) {
	const watched = await openPage(browser, given, VIEWS[0], expect);
	const {page} = watched;

	await checkPage(watched, config, given, expect);
	await checkFigures(page, given, expect);
	await checkColumns(page, given, expect);
	await checkFrames(page, given, expect);
	await checkOthers(page, given, expect);
	await checkDetails(page, given, expect);
	await checkFilters(page, given, expect);
	await checkSorting(page, given, expect);
	await checkSpans(page, given, expect);
	expect.about(`${given.name}, after use`);
	await checkElements(page, config.template, expect);
	expect.equal(watched.incidents, [], "messages, errors, and requests");
	await checkPolicy(watched, expect);
	await closePage(watched, expect);
}

async function main() {
	const config = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));
	const expect = new Expectations();
	const browser = await launch(config.modules, config.chromium);

	config.template = readTemplate(config.templateFile);
	try {
		for (const given of config.pages) {
			given.program = config.program;
			for (const view of VIEWS)
				await look(browser, config, given, view, expect);
			if (given.use)
				await use(browser, config, given, expect);
			console.log(`${given.name}: ${expect.checked} checks so far, ` +
				`${expect.failures.length} failed`);
		}
	} finally {
		await browser.close();
	}
	if (expect.failures.length)
		process.exitCode = 1;
}

await main();
