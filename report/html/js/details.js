// SPDX-License-Identifier: GPL-2.0-or-later
// Everything about one call site, in a dialog.
(function (kmt) {
	"use strict";

	const { el, button, name, sentence, value } = kmt.dom;

	const FIGURES = [
		["live", "Live bytes", "bytes"],
		["live_objects", "Live objects", "count"],
		["live_requested", "Requested by live objects", "bytes"],
		["peak", "Peak", "bytes"],
		["allocs", "Allocations", "count"],
		["frees", "Frees", "count"],
		["requested", "Requested", "bytes"],
		["allocated", "Allocated", "bytes"],
		["wasted", "Wasted", "bytes"],
		["cross_frees", "Frees on another CPU", "count"],
		["short_lived", "Short-lived objects", "count"],
		["deferred", "Wait for a grace period", "bytes"],
	];

	/** The mean size, in bytes, because a mean hides its exact value when rounded. */
	function mean(site, key) {
		const bytes = site[key] / site.allocs;

		return el("div", { "data-key": "mean_" + key }, el("dt", {}, "Mean " + key + " size"),
			el("dd", {}, el("span", { class: "value", "data-value": bytes },
				kmt.format.exact(Math.round(bytes), "bytes"))));
	}

	function facts(site) {
		const text = (title, content) => (content ? el("div", {}, el("dt", {}, title),
			el("dd", {}, name(content))) : null);

		return el("dl", { class: "facts" },
			text("Kind", site.kindName), text("Address", site.address),
			text("Module", site.moduleName), text("Directory", site.dirName),
			text("Source line", site.sourceName),
			site.allocs > 0 ? [mean(site, "requested"), mean(site, "allocated")] : null,
			FIGURES.map(([key, title, unit]) => el("div", { "data-key": key },
				el("dt", {}, title), el("dd", {}, value(site[key], unit)))));
	}

	function part(title, content) {
		return el("section", {}, el("h3", {}, title), content);
	}

	/** A small table of [[name, number...]...]. */
	function names(model, entries, titles, units, label) {
		if (!entries.length)
			return el("p", { class: "nothing" }, "Not recorded.");
		return kmt.table.create({
			label, noun: "entries", filters: false, pageSize: 10, sort: "1",
			rows: entries.filter(Array.isArray),
			columns: titles.map((title, i) => ({
				key: String(i), title, unit: units[i],
				value: (entry) => (i ? entry[i] : model.name(entry[0])),
			})),
		}).element;
	}

	function leak(site, model) {
		const given = model.leaks[site.leak];

		if (!given)
			return null;
		return el("div", { class: "banner warn" }, el("p", {}, "Leak candidate"),
			el("p", {}, sentence(given.text || ""), " (growth: ",
				value(given.growth, "bytes"), ")"));
	}

	function chart(site, app) {
		if (!site.series)
			return part("Live memory over time", el("p", { class: "nothing" },
				"This file has no values over time for this call site."));
		const body = el("div", { class: "chart" });
		const section = part("Live memory over time", body);
		const { windows } = app.model;

		// The chart needs a width, which it has when the dialog is open.
		section.draw = () => kmt.chart.create(body, app, [{
			name: site.name, values: site.series.dense(windows.n), start: site.series.start,
			colour: "--c0",
		}], { height: 180 });
		return section;
	}

	function content(site, app) {
		const { model } = app;
		const graph = chart(site, app);
		return {
			graph,
			nodes: [leak(site, model), facts(site), graph, el("div", { class: "columns" },
				part("Requested sizes", kmt.histogram(site.sizes, "bytes")),
				part("Lifetimes of freed objects", 
					kmt.histogram(site.lifetimes, "time")),
				part("Ages of live objects", kmt.histogram(site.ages, "time")),
				part("Caches", names(model, site.caches, ["Cache", "Allocs", "Allocated", "Live"],
					["text", "count", "bytes", "bytes"], "Caches")),
				part("Tasks", names(model, site.tasks, ["Task", "Allocs", "Allocated", "Live"],
					["text", "count", "bytes", "bytes"], "Tasks")),
				part("Freed by", names(model, site.freed_by, ["Call site", "Frees"],
					["text", "count"], "Call sites that free its objects")))],
		};
	}

	/** Create the dialog, and set app.openSite. */
	function install(app) {
		const body = el("div");
		const title = el("h2", { id: "details-title" });
		const dialog = el("dialog", { id: "details", "aria-labelledby": "details-title" },
			el("div", { class: "top" }, title,
				button("Close", () => dialog.close(), { id: "details-close" })), body);
		let graph = null;

		dialog.addEventListener("close", () => {
			if (graph)
				graph.destroy();
			graph = null;
			body.replaceChildren();
		});
		// A click beside the dialog closes it.
		dialog.addEventListener("click", (event) => {
			if (event.target === dialog)
				dialog.close();
		});
		document.body.append(dialog);
		app.openSite = (index) => {
			const site = app.model.sites[index];

			if (!site)
				return;
			const shown = content(site, app);

			dialog.setAttribute("data-site", index);
			title.replaceChildren(name(site.name));
			body.replaceChildren(...shown.nodes.filter(Boolean));
			dialog.showModal();
			dialog.scrollTop = 0;
			if (shown.graph.draw)
				graph = shown.graph.draw();
		};
	}

	kmt.details = { install };
})(window.kmt);
