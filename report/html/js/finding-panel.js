// SPDX-License-Identifier: GPL-2.0-or-later
// The section with what is wrong or doubtful in the capture.
(function (kmt) {
	"use strict";

	const { el } = kmt.dom;
	// Levels in the order of the list.
	const LEVELS = ["error", "warning", "note"];

	function build(body, app) {
		const level = (finding) => Math.max(0, LEVELS.indexOf(finding.level));
		const findings = app.model.findings.map((finding, i) => [finding, i])
			.sort(([a, i], [b, j]) => level(a) - level(b) || i - j);

		if (!findings.length)
			return "None.";
		body.append(el("ul", { class: "findings", id: "finding-list" },
			findings.map(([finding]) => el("li", {},
				el("strong", { class: `level-${LEVELS[level(finding)]}` }, LEVELS[level(finding)]), " ",
				kmt.dom.name(String(finding.text))))));
		return undefined;
	}

	kmt.panels.add({
		id: "findings", title: "Findings", order: 25, build,
		note: "Frees without an allocation, allocations of live addresses, and damaged records.",
	});
})(window.kmt);
