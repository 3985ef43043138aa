// SPDX-License-Identifier: GPL-2.0-or-later
// The section with requested against allocated bytes for each cache.
(function (kmt) {
	"use strict";

	const { el } = kmt.dom;
	const KMALLOC = /^(dma-)?kmalloc-/;
	// Other caches with the most waste that are shown.
	const OTHERS = 15;
	const COLUMNS = ["cache", "allocations", "requested", "allocated", "wasted", "of it",
		"requested (dark) of allocated (light)", "live", "wasted of live"];

	/** Draw the requested part of the allocated bytes; most: the widest bar. */
	function bar(cache, most) {
		const inner = el("span", { class: "bar-inner" });
		const outer = el("span", { class: "bar-outer", role: "img",
			"aria-label": kmt.format.value(cache.requested, "bytes") + " of " +
				kmt.format.value(cache.allocated, "bytes") }, inner);

		// A bar of less than two pixels could not be seen.
		outer.style.width = `max(2px, ${100 * cache.allocated / most}%)`;
		inner.style.width = `${100 * Math.min(1, cache.requested / cache.allocated)}%`;
		return outer;
	}

	function row(model, cache, most) {
		const wasted = cache.allocated - cache.requested;
		const cell = (number, unit) => el("td", {}, kmt.dom.value(number, unit));

		return el("tr", {},
			el("th", { scope: "row", class: "text short" },
				kmt.dom.name(model.name(cache.cache))),
			cell(cache.allocs, "count"), cell(cache.requested, "bytes"),
			cell(cache.allocated, "bytes"), cell(wasted, "bytes"),
			cell(cache.allocated > 0 ? wasted / cache.allocated : null, "share"),
			el("td", { class: "bar-cell" }, cache.allocated > 0 ? bar(cache, most) : null),
			cell(cache.live, "bytes"), cell(cache.live - cache.live_requested, "bytes"));
	}

	function table(model, id, caption, caches) {
		const most = Math.max(1, ...caches.map((cache) => cache.allocated));

		return el("div", { class: "scroll", tabindex: 0, role: "region",
			"aria-label": caption },
		el("table", { id, class: "classes" }, el("caption", {}, caption),
			el("thead", {}, el("tr", {}, COLUMNS.map((text, i) =>
				el("th", { scope: "col", class: i === 0 || i === 6 ? "text" : null }, text)))),
			el("tbody", {}, caches.map((cache) => row(model, cache, most)))));
	}

	/** Return the size in the name of a kmalloc cache, for sorting. */
	function sizeOf(name) {
		const [, number, unit] = /-(\d+)([kM]?)$/.exec(name) || [null, "0", ""];

		return Number(number) * { "": 1, k: 1024, M: 1048576 }[unit];
	}

	function build(body, app) {
		const model = app.model;
		const caches = model.caches.filter((cache) => cache.allocated > 0);
		const name = (cache) => model.name(cache.cache);
		const wasted = (cache) => cache.allocated - cache.requested;
		const classes = caches.filter((cache) => KMALLOC.test(name(cache)))
			.sort((a, b) => sizeOf(name(a)) - sizeOf(name(b)) || (name(a) < name(b) ? -1 : 1));
		const others = caches.filter((cache) => !KMALLOC.test(name(cache)) && wasted(cache) > 0)
			.sort((a, b) => wasted(b) - wasted(a)).slice(0, OTHERS);

		if (classes.length)
			body.append(table(model, "waste-classes", "kmalloc caches", classes));
		if (others.length)
			body.append(table(model, "waste-caches", "Other caches and kinds with the most waste",
				others));
		return classes.length || others.length ? undefined :
			"No memory of a cache was wasted, or the capture has no caches.";
	}

	kmt.panels.add({
		id: "size-classes", title: "Waste by size class", order: 70, build,
		note: "Requested against allocated bytes of the whole capture.",
	});
})(window.kmt);
