// SPDX-License-Identifier: GPL-2.0-or-later
// Values per window. A series is an array with one value for each window, or
// {"s": [[window, value]...]} with the windows whose value differs: from 0 for sums, from
// the window before for live memory.
(function (kmt) {
	"use strict";

	function isSparse(series) {
		return series !== null && typeof series === "object" && Array.isArray(series.s);
	}

	/** Return the sum of the windows from..to (both included). */
	function sum(series, from, to) {
		let total = 0;

		if (Array.isArray(series)) {
			for (let i = Math.max(from, 0); i <= to && i < series.length; i++)
				total += series[i] || 0;
		} else if (isSparse(series)) {
			for (const [index, value] of series.s)
				if (index >= from && index <= to)
					total += value;
		} else {
			return null;
		}
		return total;
	}

	/** Return the live memory at the end of a window, 0 before the first one. */
	function at(series, window) {
		let last = 0;

		if (Array.isArray(series))
			return window < 0 ? 0 : series[Math.min(window, series.length - 1)] || 0;
		if (!isSparse(series))
			return null;
		for (const [index, value] of series.s) {
			if (index > window)
				break;
			last = value;
		}
		return last;
	}

	/** Return live memory as an array with n values. */
	function dense(series, n) {
		const values = new Array(n).fill(0);

		if (Array.isArray(series)) {
			for (let i = 0; i < n; i++)
				values[i] = series[Math.min(i, series.length - 1)] || 0;
		} else if (isSparse(series)) {
			let next = 0;
			let last = 0;

			for (let i = 0; i < n; i++) {
				while (next < series.s.length && series.s[next][0] <= i)
					last = series.s[next++][1];
				values[i] = last;
			}
		}
		return values;
	}

	/** Add arrays of equal length. */
	function added(arrays, n) {
		const total = new Array(n).fill(0);

		for (const values of arrays)
			for (let i = 0; i < n; i++)
				total[i] += values[i];
		return total;
	}

	kmt.series = { sum, at, dense, added };
})(window.kmt);
