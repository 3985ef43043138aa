// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the data of the page. Parts that are missing or of a wrong type become empty, and
// model.problems names them, so that other code needs no checks.
(function (kmt) {
	"use strict";

	const FORMAT = 1;
	const LISTS = ["cuts", "names"];
	const OBJECT_LISTS = ["gaps", "marks", "kinds", "sites", "sites_rest", "caches", "leaks",
		"findings", "lifetimes"];
	const OBJECTS = ["capture", "trust", "windows", "series"];
	const SITE_LISTS = ["lifetimes", "sizes", "ages", "caches", "tasks", "freed_by"];

	function isObject(value) {
		return value !== null && typeof value === "object" && !Array.isArray(value);
	}

	function list(value) {
		return Array.isArray(value) ? value : [];
	}

	function parse(text, problems) {
		let data = null;

		try {
			data = JSON.parse(text);
		} catch (error) {
			problems.push("The data of this page cannot be read: " + error.message);
		}
		if (!isObject(data))
			return {};
		if (data.format !== FORMAT)
			problems.push("The data has format " + String(data.format) +
				", but this page reads format " + FORMAT + ".");
		return data;
	}

	function addParts(model, data, problems) {
		for (const key of LISTS.concat(OBJECT_LISTS)) {
			model[key] = list(data[key]);
			if (!Array.isArray(data[key]))
				problems.push("The part \"" + key + "\" is missing.");
		}
		// An entry keeps its index, which other parts refer to.
		for (const key of OBJECT_LISTS)
			model[key] = model[key].map((entry) => (isObject(entry) ? entry : {}));
		for (const key of OBJECTS) {
			model[key] = isObject(data[key]) ? data[key] : {};
			if (!isObject(data[key]))
				problems.push("The part \"" + key + "\" is missing.");
		}
		// These may be absent: see report/html/data-format.md.
		for (const key of ["stacks", "tree", "heat"])
			model[key] = data[key] === undefined ? null : data[key];
		model.comparison = isObject(data.comparison) ? data.comparison : null;
	}

	function addWindows(model) {
		const given = model.windows;

		model.windows = {
			n: Math.max(0, given.n || 0),
			width_ns: given.width_ns || 0,
			start_ns: given.start_ns || 0,
		};
	}

	/** Give each kind its series. Nothing is live before a capture begins. */
	function addSeries(model) {
		const start = model.windows.start_ns > 0 ? null : 0;
		const all = list(model.series.kinds);

		model.kindSeries = model.kinds.map((kind, i) => kmt.series.ofArrays(all[i], start));
	}

	function siteOf(model, given, index) {
		const kind = model.kinds[given.kind];
		const site = Object.assign({}, given, {
			index,
			kindName: kind ? String(kind.kind) : "",
			name: model.name(given.site),
			moduleName: model.name(given.module, ""),
			dirName: model.name(given.dir, ""),
			sourceName: model.name(given.source, ""),
			series: kmt.series.ofSite(list(model.series.sites)[index]),
		});

		for (const key of SITE_LISTS)
			site[key] = list(given[key]);
		return site;
	}

	/** Read the text of the data element. */
	function read(text) {
		const problems = [];
		const data = parse(text, problems);
		const model = { problems, program: String(data.program || "kmemtrace-report") };

		/** Return entry i of the table of names. */
		model.name = (i, none) => {
			if (typeof model.names[i] === "string")
				return model.names[i];
			return none === undefined ? "(unknown)" : none;
		};
		if (Object.keys(data).length)
			addParts(model, data, problems);
		else
			addParts(model, {}, []);
		addWindows(model);
		addSeries(model);
		model.sites = model.sites.map((site, i) => siteOf(model, site, i));
		return model;
	}

	/** Return the sum of a number over objects; values that are not known count as 0. */
	function total(objects, key) {
		return objects.reduce((sum, object) => sum + (object[key] || 0), 0);
	}

	kmt.model = { read, total, isObject, list };
})(window.kmt);
