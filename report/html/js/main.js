// SPDX-License-Identifier: GPL-2.0-or-later
// Builds the page from its data.
(function (kmt) {
	"use strict";

	/** Build the page. Called once, after all files are loaded. */
	function start() {
		const data = document.getElementById("kmt-data");
		const model = kmt.model.read(data ? data.textContent : "");
		const app = {
			model,
			span: kmt.span.create(model.windows),
			main: document.getElementById("main"),
			openSite: () => {},
		};

		if (!data)
			model.problems.unshift("This page has no data. It is the template of " +
				"kmemtrace-report --html=FILE.");
		kmt.app = app;
		document.getElementById("tools").append(kmt.theme.button());
		kmt.details.install(app);
		kmt.panels.buildAll(app, document.getElementById("navigation"));
		document.documentElement.setAttribute("data-ready", "yes");
	}

	start();
})(window.kmt);
