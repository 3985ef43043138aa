// SPDX-License-Identifier: GPL-2.0-or-later
// The lines of a comparison with a base, as rows for one field.
(function (kmt) {
	"use strict";

	const NOISE = ["unknown", "within", "exceeds"];
	const MATCH = ["same", "aligned", "removed", "added"];

	const known = (value) => (kmt.format.isNumber(value) ? value : null);

	/** Return the cell of a line for a field as an object. */
	function cellOf(given) {
		const [base, current, difference, noise, doubt, p, rank] = kmt.model.list(given);

		return {
			base: known(base), current: known(current), difference: known(difference),
			ratio: base > 0 && kmt.format.isNumber(current) ? current / base : null,
			noise: NOISE[noise] || NOISE[0], p: known(p), rank: known(rank),
			doubtfulBase: Boolean(doubt & 1), doubtfulNew: Boolean(doubt & 2),
		};
	}

	/** Return the rows of field number i, the most relevant one first. */
	function rows(model, i) {
		return kmt.model.list(model.comparison.lines).map((given, index) => {
			const [kind, name, match, guess, cells] = kmt.model.list(given);

			return Object.assign({
				index, kindName: model.name(kind, ""), name: model.name(name),
				match: MATCH[match] || MATCH[0], guess: model.name(guess, ""),
			}, cellOf(kmt.model.list(cells)[i]));
		}).filter((row) => row.rank !== null).sort((a, b) => a.rank - b.rank);
	}

	kmt.comparison = { rows };
})(window.kmt);
