// SPDX-License-Identifier: GPL-2.0-or-later
// Cards that name the first suspects of each kind of fault.
(function (kmt) {
	"use strict";

	const { el, button, name, sentence, value } = kmt.dom;
	const NEXT = 2;

	/** Return the call sites with the largest values above 0. */
	function largest(sites, key, n) {
		return sites.filter((site) => site[key] > 0)
			.sort((a, b) => b[key] - a[key]).slice(0, n);
	}

	/** Return the share of the figures of the site's layer: layers overlap. */
	function share(model, site, key) {
		const layer = kmt.layers.of(site.kindName);
		const whole = kmt.layers.total(model, layer, key);

		return whole > 0 ? [value(site[key] / whole, "share"), " of all ",
			kmt.layers.title(layer).toLowerCase()] : null;
	}

	/** Return the largest call site of each layer: slab memory comes first. */
	function largestOfLayers(model, key) {
		return kmt.layers.used(model).flatMap((layer) => largest(model.sites.filter(
			(site) => kmt.layers.of(site.kindName) === layer), key, 1));
	}

	const OTHER_LAYERS = "Most of other kinds of memory:";

	function live(model) {
		return {
			id: "most-live", title: "Holds most live memory", unit: "bytes", key: "live",
			sites: largestOfLayers(model, "live"), next: OTHER_LAYERS,
			none: "No memory is live at the end of the capture.",
			explain: (site) => ["in ", value(site.live_objects, "count"),
				" live objects of ", name(site.kindName), " at the end, ",
				share(model, site, "live")],
		};
	}

	function mean(site, key) {
		const bytes = Math.round(site[key] / site.allocs);

		return el("span", { class: "value" }, kmt.format.exact(bytes, "bytes"));
	}

	function waste(model) {
		return {
			id: "most-wasted", title: "Wastes most memory", unit: "bytes",
			key: "wasted", sites: largest(model.sites, "wasted", NEXT + 1),
			none: "Each object received what it requested.",
			explain: (site) => ["allocated but not requested: ",
				value(site.allocs, "count"), " allocations of ", name(site.kindName),
				" requested ", mean(site, "requested"), " on average and received ",
				mean(site, "allocated"), "; ", share(model, site, "wasted"), " waste"],
		};
	}

	/** Return the call sites of the leak candidates, most likely first. */
	function leaks(model) {
		const candidates = model.leaks.filter((leak) => leak.doubt === "none")
			.slice(0, NEXT + 1).map((leak) => Object.assign({}, leak, {
				index: leak.site >= 0 ? leak.site : null,
				name: model.name(leak.name),
				kindName: model.kinds[leak.kind] ?
					String(model.kinds[leak.kind].kind) : "",
			}));

		return {
			id: "top-leak", title: "First leak candidate", unit: "bytes",
			key: "growth", sites: candidates, sign: "+",
			none: model.leaks.length ? "No candidate is certain; the doubtful ones are below." :
				"No call site grew throughout the capture.",
			explain: (leak) => [leak.text ? sentence(leak.text) :
				["grew in ", value(leak.grown, "count"), " of ",
					value(leak.windows, "count"), " windows"]],
		};
	}

	function crossCpu(model) {
		return {
			id: "most-cross-cpu", title: "Most frees on another CPU", unit: "count",
			key: "cross_frees", sites: largest(model.sites, "cross_frees", NEXT + 1),
			none: "No object was freed on another CPU than it was allocated on.",
			explain: (site) => ["frees on another CPU than the allocation, ",
				value(site.cross_frees / site.frees, "share"), " of the ",
				value(site.frees, "count"), " frees of its objects", freedBy(site, model)],
		};
	}

	/** Name the code that frees most objects of a call site. */
	function freedBy(site, model) {
		const [first] = site.freed_by;

		return Array.isArray(first) ? [", mostly by ", name(model.name(first[0]))] : ".";
	}

	function peak(model) {
		return {
			id: "highest-peak", title: "Highest peak", unit: "bytes", key: "peak",
			sites: largestOfLayers(model, "peak"), next: OTHER_LAYERS,
			none: "No memory was allocated.",
			explain: (site) => ["of ", name(site.kindName), " live at the same time; ",
				value(site.live, "bytes"), " at the end"],
		};
	}

	function siteName(site, app) {
		const shown = name(site.name);

		if (site.index === null || !app.model.sites[site.index])
			return shown;
		return button(shown, () => app.openSite(site.index), { class: "link" });
	}

	function card(given, app) {
		const [first, ...next] = given.sites;
		const element = el("div", { class: "card", id: given.id }, el("h3", {}, given.title));

		if (!first) {
			element.append(el("p", { class: "nothing" }, given.none));
			return element;
		}
		element.append(el("p", {}, siteName(first, app)),
			el("p", { class: "main" }, given.sign || "", value(first[given.key], given.unit)),
			el("p", {}, given.explain(first)));
		if (next.length)
			element.append(el("p", { class: "muted" }, given.next || "Next:"), el("ul", {},
				next.map((site) => el("li", {}, siteName(site, app), " ",
					given.sign || "", value(site[given.key], given.unit),
					site.kindName ? " (" + site.kindName + ")" : ""))));
		return element;
	}

	function build(body, app) {
		const { model } = app;

		if (!model.sites.length && !model.leaks.length)
			return "The capture has no call sites.";
		body.append(el("div", { class: "cards" }, [live, waste, leaks, crossCpu, peak]
			.map((make) => card(make(model), app))));
		if (model.capture.source === "relay")
			body.append(el("p", { class: "muted" }, "Pages of ", name("relay_open_buf"),
				" are the buffers that recorded this capture."));
		return undefined;
	}

	kmt.panels.add({
		id: "suspects", title: "Suspects", order: 20,
		note: "The call sites to look at first. All figures are of the whole capture.", build,
	});
})(window.kmt);
