// SPDX-License-Identifier: GPL-2.0-or-later
// The section with what is wrong or doubtful in the capture.
(function (kmt) {
	"use strict";

	const { el } = kmt.dom;
	// Levels in the order of the list.
	const LEVELS = ["warning", "note"];

	/** List the call sites of a finding, the most frequent first. */
	function sites(model, finding) {
		const entries = kmt.model.list(finding.sites);

		if (!entries.length)
			return null;
		return el("details", {},
			el("summary", {}, finding.sites_are ? String(finding.sites_are) : "call sites"),
			el("ul", {}, entries.map(([count, first, second]) => el("li", {},
				kmt.dom.value(count, "count"), " ", kmt.dom.name(model.name(first)),
				second >= 0 ? [", ", kmt.dom.name(model.name(second))] : null))));
	}

	function build(body, app) {
		const level = (finding) => Math.max(0, LEVELS.indexOf(finding.level));
		const findings = app.model.findings.map((finding, i) => [finding, i])
			.sort(([a, i], [b, j]) => level(a) - level(b) || i - j);

		if (!findings.length)
			return "None.";
		body.append(el("ul", { class: "findings", id: "finding-list" },
			findings.map(([finding]) => el("li", {},
				el("strong", { class: `level-${LEVELS[level(finding)]}` }, LEVELS[level(finding)]), " ",
				el("bdi", {}, String(finding.text)), sites(app.model, finding)))));
		return undefined;
	}

	kmt.panels.add({
		id: "findings", title: "Findings", order: 25, build,
		note: "Frees without an allocation, allocations of live addresses, and damaged " +
			"records. Lost events or the start of the recording explain a note; " +
			"neither explains a warning.",
	});
})(window.kmt);
