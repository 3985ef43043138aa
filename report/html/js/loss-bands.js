// SPDX-License-Identifier: GPL-2.0-or-later
// The times in which events were lost, as bands for any time axis.
(function (kmt) {
	"use strict";

	/**
	 * Return the gaps as disjoint bands [[from, until]...], with times as shares of the
	 * axis from 0 to 1. A band is at least as wide as the share least, so that a short
	 * gap remains visible.
	 */
	function bands(model, least) {
		const { n, width_ns, start_ns } = model.windows;
		const length = n * width_ns;

		if (!(length > 0))
			return [];
		const shares = model.gaps.map((gap) => {
			const from = (gap.from_ns - start_ns) / length;
			const until = Math.max((gap.until_ns - start_ns) / length, from + least);

			return [Math.max(0, from), Math.min(1, until)];
		}).filter(([from, until]) => from < until);
		const merged = [];

		for (const [from, until] of shares.sort((a, b) => a[0] - b[0])) {
			const last = merged[merged.length - 1];

			if (last && from <= last[1])
				last[1] = Math.max(last[1], until);
			else
				merged.push([from, until]);
		}
		return merged;
	}

	kmt.lossBands = bands;
})(window.kmt);
