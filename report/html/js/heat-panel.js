// SPDX-License-Identifier: GPL-2.0-or-later
// The section with the heat map: which CPU frees objects that which CPU allocated,
// and the call sites of these objects.
(function (kmt) {
	"use strict";

	const { el } = kmt.dom;
	// Most rows and columns; more CPUs are grouped.
	const MOST = 32;
	// Most rows whose cells show their numbers.
	const WITH_NUMBERS = 12;
	// Call sites that are shown at once.
	const SITES = 10;

	/** Group the CPUs; return the names of the groups and the sums of their cells. */
	function grouped(heat) {
		const step = Math.ceil(heat.cpus.length / MOST);
		const names = [];
		const sums = [];

		for (let i = 0; i < heat.cpus.length; i += step) {
			const last = heat.cpus[Math.min(i + step, heat.cpus.length) - 1] +
				(heat.block || 1) - 1;

			names.push(last !== heat.cpus[i] ? `${heat.cpus[i]}–${last}` : String(last));
		}
		for (let i = 0; i < names.length; i++)
			sums.push(new Array(names.length).fill(0));
		for (const [from, to, count] of kmt.model.list(heat.frees)) {
			const row = sums[Math.floor(from / step)];

			if (row && Math.floor(to / step) in row)
				row[Math.floor(to / step)] += count;
		}
		return { names, sums };
	}

	function cell(names, from, to, count, most) {
		const text = `allocated on CPU ${names[from]}, freed on CPU ${names[to]}: ` +
			kmt.format.grouped(count);
		const element = el("td", { title: text, "data-value": count,
			class: from === to ? "same" : "cross" }, names.length <= WITH_NUMBERS ?
			kmt.format.value(count, "count") :
			el("span", { class: "hidden" }, kmt.format.grouped(count)));
		// The logarithm keeps small counts visible beside large ones.
		const heat = count > 0 ? 0.08 + 0.72 * Math.log1p(count) / Math.log1p(most) : 0;

		element.style.setProperty("--heat", heat.toFixed(3));
		return element;
	}

	/** Name a group by its first CPU where there is no room for both. */
	function heading(names, i, scope) {
		const text = names.length <= WITH_NUMBERS ? names[i] : names[i].split("–")[0];

		return el("th", { scope, title: `CPU ${names[i]}` }, text);
	}

	function table({ names, sums }) {
		const most = Math.max(1, ...sums.map((row) => Math.max(...row)));

		return el("table", { id: "heat-map", class: "heat" },
			el("caption", {}, "Rows: the CPU that allocated; columns: the CPU that freed"),
			el("thead", {}, el("tr", {}, el("td", {}), names.map((_, i) =>
				heading(names, i, "col")))),
			el("tbody", {}, sums.map((row, from) => el("tr", {},
				heading(names, from, "row"),
				row.map((count, to) => cell(names, from, to, count, most))))));
	}

	/** Return the sums of all frees and of those in another row than the allocation. */
	function summary(heat) {
		let all = 0;
		let cross = 0;

		for (const [from, to, count] of kmt.model.list(heat.frees)) {
			all += count;
			if (from !== to)
				cross += count;
		}
		return [all, cross];
	}

	function siteColumns() {
		const number = (key, title, unit, hint) => ({ key, title, unit, hint,
			value: (site) => (kmt.format.isNumber(site[key]) ? site[key] : null) });

		return [
			{ key: "name", title: "Call site of the allocation", unit: "text", opens: true,
				value: (site) => site.name },
			{ key: "kindName", title: "Kind", unit: "text", class: "short",
				value: (site) => site.kindName },
			number("cross_frees", "On another CPU", "count",
				"Objects that were freed on another CPU than the one that allocated them"),
			number("frees", "Frees", "count", "All freed objects of the call site"),
			{ key: "share", title: "Share", unit: "share",
				hint: "Share of the frees that were on another CPU",
				value: (site) => (site.frees > 0 ? site.cross_frees / site.frees : null) },
		];
	}

	/** Return the table of the call sites whose objects another CPU freed. */
	function sites(app) {
		const rows = app.model.sites.filter((site) => site.cross_frees > 0);

		if (!rows.length)
			return null;
		return el("div", { id: "cross-sites" }, kmt.table.create({
			label: "Call sites with frees on another CPU", noun: "call sites",
			sort: "cross_frees", filters: false, pageSize: SITES,
			columns: siteColumns(), rows, open: (site) => app.openSite(site.index),
			data: (site) => ({ site: site.index }),
		}).element);
	}

	function build(body, app) {
		const heat = app.model.heat;

		if (!kmt.model.isObject(heat) || !kmt.model.list(heat.cpus).length)
			return "No free of a recorded allocation.";
		const [all, cross] = summary(heat);

		if (!all)
			return "No free of a recorded allocation.";
		body.append(el("p", { id: "heat-summary" }, kmt.dom.value(cross, "count"), " of ",
			kmt.dom.value(all, "count"), ` frees (${kmt.format.share(cross / all)}) ` +
			"were on another CPU than the allocation" +
			(heat.block > 1 ? ", not counting those of a group of CPUs." : ".")),
		el("div", { class: "scroll", tabindex: 0, role: "region",
			"aria-label": "Frees by CPU" }, table(grouped(heat))), sites(app) || "");
		return undefined;
	}

	kmt.panels.add({
		id: "cross-cpu", title: "Frees across CPUs", order: 90, build,
		note: "All frees of the whole capture. Colours are on a logarithmic scale.",
	});
})(window.kmt);
