// SPDX-License-Identifier: GPL-2.0-or-later
// Values per window of a call site or a kind. A series has
//   start         the live bytes before the first window, null if not known
//   at(window)    the live bytes at the end of a window; start for window -1
//   sum(key, from, to)  the sum of allocs, frees, requested or allocated of these windows
//   dense(n)      the live bytes at the end of each window, as an array
(function (kmt) {
	"use strict";

	const KEYS = ["live", "allocs", "frees", "requested", "allocated"];
	// A window's entry in the flat array of a call site: its number and these keys.
	const ENTRY = 1 + KEYS.length;

	/** The series of a call site: [start, entry of a window with events...], ascending. */
	class SparseSeries {
		constructor(flat) {
			this.flat = flat;
			this.start = flat[0] || 0;
		}

		at(window) {
			const { flat } = this;
			let last = this.start;

			for (let i = 1; i < flat.length && flat[i] <= window; i += ENTRY)
				last = flat[i + 1] || 0;
			return last;
		}

		sum(key, from, to) {
			const { flat } = this;
			const offset = 1 + KEYS.indexOf(key);
			let total = 0;

			for (let i = 1; i < flat.length && flat[i] <= to; i += ENTRY)
				if (flat[i] >= from)
					total += flat[i + offset] || 0;
			return total;
		}

		dense(n) {
			const { flat } = this;
			const values = new Array(n);
			let last = this.start;
			let next = 1;

			for (let window = 0; window < n; window++) {
				for (; next < flat.length && flat[next] <= window; next += ENTRY)
					last = flat[next + 1] || 0;
				values[window] = last;
			}
			return values;
		}
	}

	/** The series of a kind: one array for each key. */
	class DenseSeries {
		constructor(arrays, start) {
			this.arrays = arrays;
			this.start = start;
		}

		at(window) {
			const live = kmt.model.list(this.arrays.live);

			return window < 0 ? this.start : live[Math.min(window, live.length - 1)] || 0;
		}

		sum(key, from, to) {
			return kmt.model.list(this.arrays[key]).slice(from, to + 1)
				.reduce((total, value) => total + value, 0);
		}

		dense(n) {
			return Array.from({ length: n }, (_, i) => this.at(i));
		}
	}

	/** Return the series of a call site, null if this file has none. */
	function ofSite(given) {
		return Array.isArray(given) ? new SparseSeries(given) : null;
	}

	/** Return the series of arrays {live, allocs, ...}, null if this file has none. */
	function ofArrays(given, start) {
		return kmt.model.isObject(given) ? new DenseSeries(given, start) : null;
	}

	/** Add arrays of equal length. */
	function added(arrays, n) {
		const total = new Array(n).fill(0);

		for (const values of arrays)
			for (let i = 0; i < n; i++)
				total[i] += values[i];
		return total;
	}

	kmt.series = { ofSite, ofArrays, added };
})(window.kmt);
