// SPDX-License-Identifier: GPL-2.0-or-later
// The series of the chart of live memory: by kind, by directory, and by call site.
(function (kmt) {
	"use strict";

	const { series, layers } = kmt;
	const MOST = 8;
	const OTHERS = "--c9";
	/** Stands for all layers, in the place of a layer. */
	const ALL = "all";

	/**
	 * The kinds of a layer, or all kinds: those of the first layer are stacked, and the
	 * others overlap them and are lines.
	 */
	function byKind(model, layer) {
		const all = model.kindSeries;
		const used = layers.used(model).filter((one) => layer === ALL || layer === one);
		const shown = used.flatMap((layer) => layers.kinds(model, layer));
		const stacked = used[0];

		return shown.filter((kind) => all[kind]).map((kind, i) => ({
			name: String(model.kinds[kind].kind),
			values: all[kind].dense(model.windows.n),
			colour: "--c" + (i % 9),
			line: layers.of(String(model.kinds[kind].kind)) !== stacked,
		}));
	}

	function layerTotal(model, layer) {
		const n = model.windows.n;

		return series.added(layers.kinds(model, layer).map((kind) => model.kindSeries[kind])
			.filter(Boolean).map((one) => one.dense(n)), n);
	}

	/** Keep the series with the largest values, and add one for all others. */
	function largest(entries, model, layer) {
		const peak = (entry) => Math.max(0, ...entry.values);
		const sorted = entries.map((entry) => [peak(entry), entry])
			.filter(([most]) => most > 0).sort((a, b) => b[0] - a[0])
			.map(([, entry]) => entry).slice(0, MOST);
		const shown = series.added(sorted.map((entry) => entry.values), model.windows.n);
		// A window's values come from one moment, so that others are never negative
		// unless a series was cut.
		const others = layerTotal(model, layer).map((value, i) => Math.max(0, value - shown[i]));

		sorted.forEach((entry, i) => {
			entry.colour = "--c" + i;
		});
		if (others.some((value) => value > 0))
			sorted.push({ name: "all others", values: others, colour: OTHERS });
		return sorted;
	}

	function byDirectory(model, layer) {
		const sums = new Map();
		const n = model.windows.n;

		for (const entry of kmt.model.list(model.series.dirs).filter(kmt.model.isObject)) {
			const kind = model.kinds[entry.kind];

			if (!kind || layers.of(String(kind.kind)) !== layer)
				continue;
			const values = series.ofArrays(entry, 0).dense(n);
			const sum = sums.get(entry.name);

			sums.set(entry.name, sum ? series.added([sum, values], n) : values);
		}
		return largest([...sums].map(([dir, values]) => ({
			name: model.name(dir, "(no directory)"), values,
		})), model, layer);
	}

	function bySite(model, layer) {
		return largest(model.sites.filter((site) => site.series &&
			layers.of(site.kindName) === layer).map((site) => ({
			name: site.name, values: site.series.dense(model.windows.n),
		})), model, layer);
	}

	/**
	 * Return the series for "kind", "dir" or "site" of a layer; of ALL layers only for
	 * "kind".
	 */
	function of(model, by, layer) {
		if (by === "kind")
			return byKind(model, layer);
		return by === "dir" ? byDirectory(model, layer) : bySite(model, layer);
	}

	/** Return the largest sum of the stacked series, at the end of a window. */
	function peak(shown, model) {
		const n = model.windows.n;
		const sums = series.added(shown.filter((one) => !one.line).map((one) => one.values), n);
		const value = Math.max(0, ...sums);
		const { start_ns, width_ns } = model.windows;

		return value > 0 ? { value, atNs: start_ns + (sums.indexOf(value) + 1) * width_ns } : null;
	}

	kmt.liveSeries = { of, peak, ALL };
})(window.kmt);
