// SPDX-License-Identifier: GPL-2.0-or-later
// Count what was checked, and keep what failed.

/** The checks of one run. A failed check does not end the run. */
export class Expectations {
	constructor() {
		this.failures = [];
		this.checked = 0;
		this.subject = "";
	}

	/** Name the page or the action that the next checks belong to. */
	about(subject) {
		this.subject = subject;
	}

	fail(text) {
		const failure = `${this.subject}: ${text}`.slice(0, 600);
		this.failures.push(failure);
		console.log(`FAIL ${failure}`);
	}

	/** Check that a condition holds. */
	that(condition, text) {
		this.checked++;
		if (!condition)
			this.fail(text);
	}

	/** Check that two values have the same JSON. */
	equal(actual, expected, text) {
		const a = JSON.stringify(actual);
		const e = JSON.stringify(expected);
		this.that(a === e, `${text}: ${a} instead of ${e}`);
	}
}
