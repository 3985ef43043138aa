// SPDX-License-Identifier: GPL-2.0-or-later
// Where the labels of marks are drawn in a chart.
(function (kmt) {
	"use strict";

	const GAP = 4;

	/**
	 * Return the place of each label: row, counted from above, and left, whether the
	 * label ends at its mark instead of beginning there, which labels beyond the right
	 * edge do. A label is below all earlier labels that it would overlap, so labels of
	 * marks that are close together are read from above in the order of their times.
	 * labels: [{x, width}] in the order of time.
	 */
	function place(labels, right) {
		const placed = [];

		for (const { x, width } of labels) {
			const left = x + width + GAP > right;
			const from = left ? x - width - GAP : x;
			const until = from + width + GAP;
			const row = placed.reduce((most, other) =>
				(from < other.until && other.from < until ?
					Math.max(most, other.row + 1) : most), 0);

			placed.push({ from, until, row, left });
		}
		return placed.map(({ row, left }) => ({ row, left }));
	}

	kmt.markLabels = place;
})(window.kmt);
