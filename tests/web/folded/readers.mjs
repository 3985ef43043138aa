// SPDX-License-Identifier: GPL-2.0-or-later
// Let speedscope and d3-flame-graph read folded stacks in headless Chromium, without
// network, and print what they hold as JSON.
//
//     node readers.mjs MODULES CHROMIUM FILE...
//
// MODULES is a folder node_modules. The result has an object for each FILE:
// {speedscope: [[frames, weight]...], drawn: [[frames, weight]...]}, where a drawn
// frame has the weight of all stacks through it.

import fs from "node:fs";
import path from "node:path";
import {createRequire} from "node:module";
import {pathToFileURL} from "node:url";

/* Milliseconds that an action may take: a loaded machine is slow, and a page that
 * hangs must fail in the end. */
const DEADLINE = 240000;
const FLAGS = ["--disable-dev-shm-usage", "--disable-background-networking",
	"--enable-unsafe-swiftshader"];
/* The modules of d3 that d3-flame-graph uses, each after those that it needs. */
const D3 = ["color", "dispatch", "ease", "format", "interpolate", "timer", "time",
	"time-format", "array", "scale", "selection", "transition", "hierarchy"];

const [modules, executablePath, ...files] = process.argv.slice(2);
const require = createRequire(path.join(modules, "readers.js"));
const {chromium} = require("playwright-core");

/** Return a file of a module. */
function moduleFile(...parts) {
	return path.join(modules, ...parts);
}

/** Open a page without network, whose requests of other schemes are errors. */
async function openPage(browser) {
	const context = await browser.newContext({offline: true});
	context.setDefaultTimeout(DEADLINE);
	const page = await context.newPage();
	page.on("pageerror", (error) => {
		throw error;
	});
	page.on("request", (request) => {
		if (!/^(file|blob|data|about):/.test(request.url()))
			throw new Error(`request of ${request.url()}`);
	});
	return page;
}

// ---- speedscope ----

/** Return the stacks of a profile in the format that speedscope exports. */
function stacksOf(document) {
	const [profile] = document.profiles;
	const frames = document.shared.frames.map((frame) => frame.name);
	const stacks = [];
	const open = [];
	let last = profile.startValue;

	if (document.profiles.length !== 1 || profile.type !== "evented")
		throw new Error("not one profile of events");
	for (const event of profile.events) {
		if (event.at !== last)
			stacks.push([open.map((i) => frames[i]), event.at - last]);
		last = event.at;
		if (event.type === "O")
			open.push(event.frame);
		else if (open.pop() !== event.frame)
			throw new Error("a frame ends that is not the innermost one");
	}
	if (open.length || last !== profile.endValue)
		throw new Error("a frame does not end");
	return stacks;
}

/** Open a file with speedscope, and export its profile with Control-s. */
async function readWithSpeedscope(browser, file) {
	const release = moduleFile("speedscope", "dist", "release", "index.html");
	/* speedscope loads a local profile as a script that calls a function. */
	const script = file + ".js";
	const page = await openPage(browser);
	const messages = [];

	fs.writeFileSync(script, "speedscope.loadFileFromBase64(\"stacks.txt\", \"" +
		fs.readFileSync(file).toString("base64") + "\")\n");
	page.on("console", (message) => messages.push(message.text()));
	await page.addInitScript(() => {
		const original = URL.createObjectURL;

		URL.createObjectURL = (blob) => {
			window.exported = blob.text();
			return original.call(URL, blob);
		};
	});
	await page.goto(pathToFileURL(release).href + "#localProfilePath=" +
		encodeURIComponent(script.slice(1)));
	/* The title names the file once the profile is open. */
	await page.waitForFunction(() => document.title.includes("stacks.txt"));
	await page.keyboard.press("Control+s");
	await page.waitForFunction(() => window.exported);
	const text = await page.evaluate(() => window.exported);
	await page.context().close();
	if (!messages.includes("Importing as collapsed stack format"))
		throw new Error(`speedscope took another format: ${messages}`);
	return stacksOf(JSON.parse(text));
}

// ---- d3-flame-graph ----

/** Return the lines of a file as the tree that d3-flame-graph takes. */
function treeOf(file) {
	const root = {name: "root", value: 0, children: []};

	for (const line of fs.readFileSync(file, "utf8").trimEnd().split("\n")) {
		const at = line.lastIndexOf(" ");
		const weight = Number(line.slice(at + 1));
		let node = root;

		root.value += weight;
		for (const name of line.slice(0, at).split(";")) {
			let child = node.children.find((c) => c.name === name);
			if (!child) {
				child = {name, value: 0, children: []};
				node.children.push(child);
			}
			child.value += weight;
			node = child;
		}
	}
	return root;
}

/** Draw a file, and return the frames of the drawing. */
async function drawWithD3(browser, file) {
	const page = await openPage(browser);

	await page.setContent("<!DOCTYPE html><div id=chart></div>");
	for (const name of D3)
		await page.addScriptTag({
			path: moduleFile(`d3-${name}`, "dist", `d3-${name}.min.js`),
		});
	await page.addScriptTag({
		path: moduleFile("d3-flame-graph", "dist", "d3-flamegraph.umd.min.js"),
	});
	const drawn = await page.evaluate((tree) => {
		/* global d3, flamegraph */
		const chart = flamegraph.default().width(1200).minFrameSize(0)
			.transitionDuration(0).selfValue(false);

		d3.select("#chart").datum(tree).call(chart);
		return [...document.querySelectorAll("#chart g.frame")].map((frame) => {
			const node = d3.select(frame).datum();
			return [node.ancestors().map((n) => n.data.name).reverse().slice(1),
				node.value];
		});
	}, treeOf(file));
	await page.context().close();
	return drawn.filter(([frames]) => frames.length);
}

const browser = await chromium.launch({
	executablePath, args: FLAGS, headless: true, chromiumSandbox: false,
	timeout: DEADLINE,
});
const result = {};
try {
	for (const file of files)
		result[file] = {
			speedscope: await readWithSpeedscope(browser, file),
			drawn: await drawWithD3(browser, file),
		};
} finally {
	await browser.close();
}
process.stdout.write(JSON.stringify(result));
