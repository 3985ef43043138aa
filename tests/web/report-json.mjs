// SPDX-License-Identifier: GPL-2.0-or-later
// Figures of kmemtrace-report --json, under the names that the page uses.

import {execFileSync} from "node:child_process";

const NAMES = {
	allocs: "allocs", frees: "frees", requested: "bytes_requested",
	allocated: "bytes_allocated", wasted: "bytes_wasted", live: "live_bytes_allocated",
	live_objects: "live_objects", peak: "peak_bytes_allocated",
	cross_frees: "cross_cpu_frees",
};

function named(figures) {
	return Object.fromEntries(Object.entries(NAMES)
		.map(([name, key]) => [name, figures[key]]));
}

/** Run kmemtrace-report --json with these options; return its document. */
export function report(program, capture, ...options) {
	return JSON.parse(execFileSync(program, ["-q", "--json", ...options, capture],
		{encoding: "utf8", maxBuffer: 1 << 29, stdio: ["ignore", "pipe", "ignore"]}));
}

/** Return the figures of each call site by "address kind". */
export function bySite(document) {
	return new Map(document.callsites.map((site) =>
		[`${site.address} ${site.kind}`, named(site)]));
}

/** Return the figures of each kind. */
export function byKind(document) {
	return new Map(Object.entries(document.kinds)
		.map(([kind, figures]) => [kind, named(figures)]));
}
