// SPDX-License-Identifier: GPL-2.0-or-later
// Nothing of a capture may become code or an element, and a page loads nothing.

/* Elements that the page uses. Any other one came from a name. */
const ELEMENTS = new Set(`a bdi body button canvas caption circle dd details dialog div dl
	dt figcaption figure form g h1 h2 h3 h4 head header html input label legend li line link
	main meta nav noscript ol optgroup option output p path polyline progress rect script
	section select span strong style summary svg table tbody td text tfoot th thead title tr
	ul`.split(/\s+/));

/** Runs in the page before its scripts: names call this function. */
export function installTrap() {
	window.attacked = 0;
	window.attack = () => {
		window.attacked++;
	};
}

/** Count the elements that could run code or load something. Runs in the page. */
function census() {
	const all = [...document.querySelectorAll("*")];
	const handlers = all.flatMap((element) => element.getAttributeNames()
		.filter((name) => /^on|^srcdoc$/i.test(name) ||
			(/^(href|src|action|xlink:href)$/i.test(name) &&
				!element.getAttribute(name).startsWith("#")))
		.map((name) => `${element.localName} ${name}`));

	return {
		names: [...new Set(all.map((element) => element.localName))],
		scripts: document.scripts.length,
		styles: document.querySelectorAll("style").length,
		handlers,
		attacked: window.attacked,
	};
}

/** Check that the page has only its own elements. */
export async function checkElements(page, template, expect) {
	const found = await page.evaluate(census);

	expect.equal(found.names.filter((name) => !ELEMENTS.has(name)), [], "unknown elements");
	expect.equal(found.scripts, template.scripts + 1, "scripts, with the data");
	expect.equal(found.styles, template.styles, "styles");
	expect.equal(found.handlers, [], "attributes that run or load something");
	expect.equal(found.attacked, 0, "names that ran");
}

/** Check that the page forbids to run or to load what was added to it. */
export async function checkPolicy(watched, expect) {
	const {page} = watched;
	const policy = await page.evaluate(() => {
		const metas = document.querySelectorAll("meta[http-equiv=Content-Security-Policy]");
		return [...metas].map((meta) => meta.content);
	});

	expect.equal(policy.length, 1, "content security policies");
	for (const rule of ["default-src 'none'", "script-src 'sha256-", "style-src 'sha256-"])
		expect.that((policy[0] || "").includes(rule), `the policy has no ${rule}`);
	expect.that(!/unsafe|\*|https?:/.test(policy[0]), `the policy is open: ${policy[0]}`);
	const before = watched.incidents.length;
	const refused = await page.evaluate(async () => {
		const names = new Set();
		document.addEventListener("securitypolicyviolation",
			(event) => names.add(event.effectiveDirective));
		const attempt = (run) => {
			try {
				run();
			} catch {
				/* Trusted types refuse this. */
			}
		};
		attempt(() => {
			const image = document.createElement("img");
			image.src = "http://192.0.2.1/image.png";
			document.body.append(image);
			image.remove();
		});
		attempt(() => {
			const script = document.createElement("script");
			script.textContent = "window.attacked = 1";
			document.body.append(script);
			script.remove();
		});
		await fetch("http://192.0.2.1/data").catch(() => {});
		await new Promise((done) => setTimeout(done, 0));
		return [[...names].sort(), window.attacked || 0];
	});

	expect.equal(refused[1], 0, "scripts that ran in spite of the policy");
	for (const directive of ["img-src", "connect-src"])
		expect.that(refused[0].includes(directive), `${directive} was not refused`);
	// The browser reports what it refused.
	watched.incidents = watched.incidents.filter((text, i) =>
		i < before || !/^console:|^requests http:.*192[.]0[.]2[.]1/.test(text));
}
