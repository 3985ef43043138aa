// SPDX-License-Identifier: GPL-2.0-or-later
// The only global name of the page. Each file adds one property.
"use strict";
window.kmt = {};
