// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>

#include "import/perf-command.h"

/*
 * Options of perf record up to Linux 6.18 that require a value. An option with
 * an optional value needs no entry, because this value is in the same word.
 */
#define SHORT_WITH_VALUE "cCDeFGjkmoprtu"

static const struct {
	const char *name;
	char letter; /* equivalent short option; '!' for --control, '/' for
		      * --filter, 'o' if the import ignores the option */
} long_with_value[] = {
	{"affinity", 'o'},
	{"branch-filter", 'j'},
	{"buildid-dir", 'o'},
	{"call-graph", 'o'},
	{"cgroup", 'G'},
	{"clang-opt", 'o'},
	{"clang-path", 'o'},
	{"clockid", 'k'},
	{"control", '!'},
	{"count", 'c'},
	{"cpu", 'C'},
	{"delay", 'D'},
	{"event", 'e'},
	{"filter", '/'},
	{"for-each-cgroup", 'G'},
	{"freq", 'F'},
	{"max-size", 'o'},
	{"mmap-flush", 'o'},
	{"mmap-pages", 'm'},
	{"num-thread-synthesize", 'o'},
	{"off-cpu-thresh", 'o'},
	{"output", 'o'},
	{"pid", 'p'},
	{"proc-map-timeout", 'o'},
	{"realtime", 'r'},
	{"setup-filter", 'o'},
	{"switch-max-files", 'o'},
	{"switch-output-event", 'o'},
	{"synth", 'o'},
	{"tid", 't'},
	{"uid", 'u'},
	{"vmlinux", 'o'},
};

typedef struct {
	KmtPerfCommand command;
	const char *event; /* the last -e; --filter applies to it */
} Parser;

static gboolean is_memory_event(const char *event)
{
	return !event || strstr(event, "kmem") || strstr(event, "percpu") ||
	       strstr(event, "vmalloc");
}

static void set_value(Parser *p, char letter, const char *value)
{
	switch (letter) {
	case 'C':
		p->command.cpus = value;
		break;
	case 'D':
		p->command.delay = value;
		break;
	case 'e':
		p->event = value;
		break;
	case 'G':
		p->command.cgroups = value;
		break;
	case 'p':
	case 't':
	case 'u':
		p->command.tasks = value;
		break;
	case '/':
		if (is_memory_event(p->event))
			p->command.filter = value;
		break;
	case '!':
		p->command.control = TRUE;
		break;
	default:
		break;
	}
}

/* Parse a long option "--name". Returns whether the next word is its value. */
static gboolean parse_long(Parser *p, const char *name, const char *next)
{
	gsize length = strcspn(name, "=");
	const char *value = name[length] ? name + length + 1 : next;

	for (gsize i = 0; i < G_N_ELEMENTS(long_with_value); i++) {
		if (strlen(long_with_value[i].name) != length ||
		    strncmp(long_with_value[i].name, name, length) != 0)
			continue;
		if (value)
			set_value(p, long_with_value[i].letter, value);
		return !name[length];
	}
	if (strcmp(name, "all-cpus") == 0)
		p->command.all_cpus = TRUE;
	if (strcmp(name, "exclude-perf") == 0 && is_memory_event(p->event))
		p->command.exclude_perf = TRUE;
	if (strncmp(name, "switch-output", length) == 0)
		p->command.switch_output = TRUE;
	return FALSE;
}

/*
 * Parse short options "-abc". Returns whether the next word is the value of the
 * last one.
 */
static gboolean parse_short(Parser *p, const char *letters, const char *next)
{
	for (; *letters; letters++) {
		if (*letters == 'a')
			p->command.all_cpus = TRUE;
		/* -z=9, -Iax: the rest of the word is the optional value. */
		if (strchr("zIS", *letters))
			return FALSE;
		if (!strchr(SHORT_WITH_VALUE, *letters))
			continue;
		if (letters[1])
			set_value(p, *letters, letters + 1);
		else if (next)
			set_value(p, *letters, next);
		return !letters[1];
	}
	return FALSE;
}

KmtPerfCommand kmt_perf_command_parse(const char *const *words)
{
	Parser p = {0};

	while (words && *words && strcmp(*words, "record") != 0) {
		if (strcmp(*words, "kmem") == 0)
			p.command.all_cpus = TRUE;
		words++;
	}
	if (!words || !*words)
		return (KmtPerfCommand){0};
	p.command.is_perf_record = TRUE;
	/* The first word that is not an option is the command that perf
	 * records; its options must not be parsed. */
	while (*++words && (*words)[0] == '-' && (*words)[1] &&
	       strcmp(*words, "--") != 0) {
		const char *word = *words;
		gboolean has_value =
			word[1] == '-' ? parse_long(&p, word + 2, words[1])
				       : parse_short(&p, word + 1, words[1]);

		if (has_value && words[1])
			words++;
	}
	return p.command;
}
