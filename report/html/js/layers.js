// SPDX-License-Identifier: GPL-2.0-or-later
// The layers of kernel memory. Kinds of different layers overlap: slab memory consists of
// pages, so that no figure adds them.
(function (kmt) {
	"use strict";

	const TITLES = { slab: "Slab", pages: "Pages", percpu: "Per-CPU", vmalloc: "vmalloc" };

	/** Return the layer of a kind. */
	function of(kindName) {
		return kindName === "kmalloc" || kindName === "cache" ? "slab" : kindName;
	}

	function title(layer) {
		return TITLES[layer] || layer;
	}

	/** Return the indexes of the kinds of a layer. */
	function kinds(model, layer) {
		const names = model.kinds.map((kind) => String(kind.kind));
		const isSum = (name) => name === "slab" &&
			(names.includes("kmalloc") || names.includes("cache"));

		return names.map((name, i) => (of(name) === layer && !isSum(name) ? i : -1))
			.filter((i) => i >= 0);
	}

	/** Return the layers of the capture that have allocations or live memory. */
	function used(model) {
		const found = [];

		for (const kind of model.kinds) {
			const layer = of(String(kind.kind));

			if ((kind.allocs > 0 || kind.live > 0) && !found.includes(layer))
				found.push(layer);
		}
		return found;
	}

	/** Return the sum of a figure over the kinds of a layer. */
	function total(model, layer, key) {
		return kmt.model.total(kinds(model, layer).map((i) => model.kinds[i]), key);
	}

	kmt.layers = { of, title, kinds, used, total };
})(window.kmt);
