// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions and variables of the kernel that modules cannot use. The scenario
 * passes their addresses, which it reads in /proc/kallsyms. The processor must
 * not enforce indirect branch tracking: the kernel removes the instruction
 * ENDBR from functions that it never calls by address, and this module calls
 * them by address.
 */
#include "kmt_gap.h"

#include <linux/kstrtox.h>
#include <linux/module.h>
#include <linux/string.h>

static char *symbols = "";
module_param(symbols, charp, 0400);
MODULE_PARM_DESC(symbols, "Addresses of functions, as NAME=HEX,NAME=HEX...");

void *gap_symbol(const char *name)
{
	size_t length = strlen(name);
	unsigned long address;
	char digits[20];
	const char *p;

	for (p = symbols; *p; p += strcspn(p, ","), p += *p == ',') {
		if (strncmp(p, name, length) || p[length] != '=')
			continue;
		p += length + 1;
		strscpy(digits, p, min(strcspn(p, ",") + 1, sizeof(digits)));
		if (!kstrtoul(digits, 16, &address) && address)
			return (void *)address;
	}
	pr_info("no %s\n", name);
	return NULL;
}
