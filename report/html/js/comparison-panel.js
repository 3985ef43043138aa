// SPDX-License-Identifier: GPL-2.0-or-later
// The section with the difference to the base of --diff, one field at a time.
(function (kmt) {
	"use strict";

	const { el, name, sentence, value } = kmt.dom;
	const NOISE = {
		unknown: "not known", within: "within noise", exceeds: "exceeds noise",
	};
	const LOSS = {
		none: "no loss", events: "events were lost", cut_off: "cut off",
		unknown: "losses not known",
	};

	/** Mark a figure with "~" if losses affect it. */
	function mark(shown, isDoubtful) {
		return el("span", {}, isDoubtful ? el("span", { title: "Losses affect this figure" },
			"~") : null, shown);
	}

	/** Show a difference with its sign. */
	function signed(row, unit) {
		return el("span", {}, row.difference > 0 ? "+" : null, value(row.difference, unit));
	}

	function noiseText(row) {
		return NOISE[row.noise] + (row.p === null ? "" : ", p = " + row.p.toFixed(3));
	}

	function matchText(row) {
		return row.match + (row.guess ? "; possibly " + row.guess : "");
	}

	function columns(field) {
		const number = (key, title, hint, more) => Object.assign({
			key, title, hint, unit: field.unit, value: (row) => row[key],
		}, more);

		return [
			{
				key: "rank", title: "#", unit: "count", ascending: true,
				hint: "Order: first what exceeds noise, then by the size of the difference",
				value: (row) => row.rank,
			},
			{ key: "name", title: "Call site", unit: "text", value: (row) => row.name },
			{ key: "kindName", title: "Kind", unit: "text", class: "short",
				value: (row) => row.kindName },
			number("base", "Base", "Value of the base; the median of several captures",
				{ cell: (row) => mark(value(row.base, field.unit), row.doubtfulBase) }),
			number("current", "New", "Value of this side; the median of several captures",
				{ cell: (row) => mark(value(row.current, field.unit), row.doubtfulNew) }),
			number("difference", "Difference", "New minus base",
				{ cell: (row) => mark(signed(row, field.unit),
					row.doubtfulBase || row.doubtfulNew) }),
			number("ratio", "Ratio", "New divided by base", { unit: "rate" }),
			{ key: "noise", title: "Noise", unit: "text", class: "short",
				hint: "Whether the difference exceeds that of captures of one side",
				value: noiseText },
			{ key: "match", title: "Match", unit: "text", class: "short",
				hint: "How the call sites of both sides were matched", value: matchText },
		];
	}

	function captureText(capture) {
		return el("li", {}, name(String(capture.name)), capture.kernel_release ?
			[", ", name(String(capture.kernel_release))] : null, ", ",
		value(capture.duration_ns, "time"), ", ", LOSS[capture.loss] || LOSS.unknown);
	}

	function side(title, captures) {
		return el("div", {}, el("p", {}, title), el("ul", {},
			kmt.model.list(captures).filter(kmt.model.isObject).map(captureText)));
	}

	/** Describe the noise of the figures in the table of a field. */
	function noiseNote(comparison, field) {
		const { format } = kmt;

		if (!format.isNumber(comparison.smallest_p))
			return "Noise is not known: a side has one capture. Take three or more " +
				"captures of each side.";
		if (comparison.smallest_p > comparison.error_rate)
			return "Noise is not known: the smallest p-value of so few captures is " +
				comparison.smallest_p.toFixed(3) + ", above the error rate of " +
				comparison.error_rate + ".";
		return format.grouped(field.exceeding) + " of " + format.grouped(field.varying) +
			" lines with different values exceed noise. If nothing had changed, up to " +
			format.grouped(Math.ceil(field.varying * comparison.error_rate)) +
			" would on average (error rate " + comparison.error_rate + ", smallest possible p-value " +
			comparison.smallest_p.toFixed(3) + ").";
	}

	function build(body, app) {
		const { model } = app;
		const { comparison } = model;
		const fields = kmt.model.list(comparison.fields).filter(kmt.model.isObject);
		const choice = el("select", { id: "comparison-field" },
			fields.map((field, i) => el("option", { value: i }, String(field.name))));
		const note = el("p", { class: "note", role: "status" });
		const place = el("div", { id: "comparison-table" });

		const show = () => {
			const i = Number(choice.value);
			const field = fields[i];

			note.textContent = noiseNote(comparison, field);
			place.replaceChildren(kmt.table.create({
				label: "Comparison of " + field.name, noun: "lines", sort: "rank",
				columns: columns(field), rows: kmt.comparison.rows(model, i),
				data: (row) => ({ line: row.index }),
			}).element);
		};

		if (!fields.length || !kmt.model.list(comparison.lines).length)
			return "Neither side has a line.";
		choice.addEventListener("change", show);
		body.append(el("div", { class: "columns" }, side("Base", comparison.base),
			side("New: this page", comparison.new)),
		comparison.per ? el("p", { class: "note" }, "Sums are divided: ",
			sentence(comparison.per), ".") : "",
		el("p", {}, el("label", { for: "comparison-field" }, "Field "), choice), note, place);
		show();
		return undefined;
	}

	kmt.panels.add({
		id: "comparison", title: "Comparison", order: 15, build,
		when: (app) => app.model.comparison !== null,
		note: "Differences to the base. \"~\" marks figures that losses affect.",
	});
})(window.kmt);
