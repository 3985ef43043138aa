// SPDX-License-Identifier: GPL-2.0-or-later
// Open pages from disk in headless Chromium and watch what they do.

import path from "node:path";
import {createRequire} from "node:module";
import {pathToFileURL} from "node:url";

/* Milliseconds that an action may take: a loaded machine is slow, and a page that
 * hangs must fail in the end. */
const DEADLINE = 240000;

const FLAGS = [
	"--disable-gpu", "--disable-quic", "--no-first-run",
	"--disable-background-networking", "--disable-component-update",
	"--disable-sync", "--disable-dev-shm-usage",
];

/** The three ways in which each page is opened. */
export const VIEWS = [
	{name: "light", colorScheme: "light", viewport: {width: 1280, height: 900}},
	{name: "dark", colorScheme: "dark", viewport: {width: 1280, height: 900}},
	{name: "narrow", colorScheme: "light", viewport: {width: 360, height: 740}},
];

/** Start the browser with a profile of its own. modules: the folder node_modules. */
export async function launch(modules, executablePath) {
	const require = createRequire(path.join(modules, "tests.js"));
	const {chromium} = require("playwright-core");
	return chromium.launch({
		executablePath, args: FLAGS, headless: true, chromiumSandbox: false,
		timeout: DEADLINE,
	});
}

/** A page of a report, and everything that it did besides showing itself. */
export class WatchedPage {
	/** Open the file in the given view. init: a function that runs before any
	 * script of the page. */
	static async open(browser, file, view, init = null) {
		const context = await browser.newContext({
			colorScheme: view.colorScheme, viewport: view.viewport,
			offline: true, reducedMotion: "reduce",
		});
		context.setDefaultTimeout(DEADLINE);
		context.setDefaultNavigationTimeout(DEADLINE);
		const watched = new WatchedPage();
		watched.context = context;
		watched.incidents = [];
		context.on("request", (request) => {
			const scheme = new URL(request.url()).protocol;
			const own = request.url() === pathToFileURL(file).href;
			if (!own && scheme !== "data:" && scheme !== "blob:")
				watched.incidents.push(`requests ${request.url().slice(0, 200)}`);
		});
		context.on("page", (page) => watched.watch(page));
		if (init)
			await context.addInitScript(init);
		watched.page = await context.newPage();
		await watched.page.goto(pathToFileURL(file).href);
		return watched;
	}

	/** Record the messages, errors, and dialogs of a page. */
	watch(page) {
		const add = (text) => this.incidents.push(text.slice(0, 500));
		page.on("console", (message) => add(`console: ${message.text()}`));
		page.on("pageerror", (error) => add(`error: ${error.stack || error}`));
		page.on("crash", () => add("crash"));
		page.on("dialog", (dialog) => {
			add(`dialog: ${dialog.message()}`);
			dialog.dismiss();
		});
		page.on("popup", () => add("opens a window"));
		page.on("download", () => add("downloads a file"));
	}

	/** Return whether the page fits into the width of the window. Charts are drawn
	 * anew some time after the window has changed. */
	async fits() {
		return this.page.waitForFunction(() => document.documentElement.scrollWidth <=
			document.documentElement.clientWidth, undefined, {timeout: DEADLINE})
			.then(() => true, () => false);
	}

	/** Return the elements that reach beyond the right edge, unless an element
	 * around them scrolls. */
	async wideElements() {
		return this.page.evaluate(() => {
			const width = document.documentElement.clientWidth;
			const scrolls = (element) => {
				for (let e = element.parentElement; e; e = e.parentElement)
					if (e !== document.body && e !== document.documentElement &&
						getComputedStyle(e).overflowX !== "visible")
						return true;
				return false;
			};
			return [...document.body.querySelectorAll("*")]
				.filter((e) => e.getBoundingClientRect().right > width + 1 &&
					!scrolls(e))
				.slice(0, 5)
				.map((e) => `${e.tagName}#${e.id}.${e.getAttribute("class")}`);
		});
	}

	async screenshot(file) {
		await this.page.screenshot({path: file, fullPage: true,
			timeout: DEADLINE});
	}

	async close() {
		await this.context.close();
	}
}
