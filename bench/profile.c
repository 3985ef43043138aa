// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A plugin of QEMU that counts how often each kernel instruction is executed in
 * the measured parts of vm/count, for bench/instructions, and of vm/mixture,
 * for bench/allocators.
 *
 * The module reads the processor's counter at the beginning and at the end of
 * each round, and is the only module of its guest.  The plugin counts all
 * instructions of this CPU between two such reads, so the sum of a round is the
 * figure that vm/count itself measures with vm/run --icount.
 *
 * Arguments:
 *   out=FILE      receives a line "RUN ADDRESS COUNT" for each run and each
 *                 instruction that it executed, in decimal, hexadecimal, and
 *                 decimal; runs are numbered from 0 to MAX_RUNS - 1
 *   rounds=N      rounds of each run; the first round is not counted, as in
 *                 vm/count, because it fills the allocator's lists
 *   counter=NAME  a word in the disassembly of an instruction that reads the
 *                 counter
 *   modules=A-B   the range of addresses of modules, hexadecimal, without B
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT	 __attribute__((visibility("default")))
#define MAX_RUNS 64
/* Room for more instructions than a guest of bench/instructions executes. */
#define TABLE_BITS 22
/* Kernel code is at or above this address; code of programs is below. */
#define KERNEL_BEGIN UINT64_C(0xffff000000000000)

/*
 * No package of Debian contains QEMU's header of plugins, so the declarations
 * are repeated here.  They have not changed since QEMU 6.0.
 */
typedef uint64_t qemu_plugin_id_t;
typedef void insn_callback(unsigned int cpu, void *data);
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS };

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *
qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
char *qemu_plugin_insn_disas(const struct qemu_plugin_insn *insn);
void qemu_plugin_register_vcpu_tb_trans_cb(
	qemu_plugin_id_t id,
	void (*callback)(qemu_plugin_id_t, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
					    insn_callback *callback,
					    enum qemu_plugin_cb_flags flags,
					    void *data);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id,
				    void (*callback)(qemu_plugin_id_t, void *),
				    void *data);
EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc,
			       char **argv);

/* QEMU refuses a plugin for a version of the interface that it lacks. */
#ifndef PLUGIN_VERSION
#define PLUGIN_VERSION 1
#endif
EXPORT int qemu_plugin_version = PLUGIN_VERSION;

/* An instruction, and how often each run executed it. */
typedef struct {
	uint64_t address;   /* 0: this entry of the table is free */
	uint64_t *executed; /* executions by run; NULL: no run executed it */
} Instruction;

/* A hash table with open addressing. Entries never move, because callbacks hold
 * pointers to them. */
static Instruction *table;
static unsigned int n_instructions;

static const char *out, *counter;
static uint64_t modules_begin, modules_end;
static unsigned long rounds;

static bool in_round;
static unsigned int round_cpu; /* CPU that is in the round */
static unsigned long n_rounds; /* rounds that have ended, of all runs */

static void give_up(const char *why)
{
	fprintf(stderr, "profile: %s\n", why);
	exit(1);
}

static Instruction *find(uint64_t address)
{
	uint64_t i =
		(address * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - TABLE_BITS);

	while (table[i].address && table[i].address != address)
		i = (i + 1) & ((1U << TABLE_BITS) - 1);
	if (!table[i].address) {
		table[i].address = address;
		if (++n_instructions == 1U << (TABLE_BITS - 1))
			give_up("too many instructions");
	}
	return &table[i];
}

static void count(unsigned int cpu, void *data)
{
	Instruction *instruction = data;

	if (!in_round || cpu != round_cpu || n_rounds % rounds == 0 ||
	    n_rounds / rounds >= MAX_RUNS)
		return;
	if (!instruction->executed) {
		instruction->executed = calloc(MAX_RUNS, sizeof(uint64_t));
		if (!instruction->executed)
			give_up("out of memory");
	}
	instruction->executed[n_rounds / rounds]++;
}

/*
 * Called when the counter is read: one read begins a round, the next read ends
 * it. The round includes the read that ends it, but not the read that begins
 * it.
 */
static void read_counter(unsigned int cpu, void *data)
{
	count(cpu, data);
	if (in_round)
		n_rounds++;
	in_round = !in_round;
	round_cpu = cpu;
}

static bool reads_counter(const struct qemu_plugin_insn *insn, uint64_t address)
{
	char *text;
	bool reads;

	if (address < modules_begin || address >= modules_end)
		return false;
	text = qemu_plugin_insn_disas(insn);
	reads = strstr(text, counter);
	free(text);
	return reads;
}

static void translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t i, n = qemu_plugin_tb_n_insns(tb);

	(void)id;
	for (i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint64_t address = qemu_plugin_insn_vaddr(insn);

		if (address < KERNEL_BEGIN)
			continue;
		qemu_plugin_register_vcpu_insn_exec_cb(
			insn,
			reads_counter(insn, address) ? read_counter : count,
			QEMU_PLUGIN_CB_NO_REGS, find(address));
	}
}

static void write_counts(qemu_plugin_id_t id, void *data)
{
	FILE *f = fopen(out, "w");
	unsigned int i, run;

	(void)id;
	(void)data;
	if (!f) {
		perror(out);
		return;
	}
	for (i = 0; i < 1U << TABLE_BITS; i++)
		for (run = 0; table[i].executed && run < MAX_RUNS; run++)
			if (table[i].executed[run])
				fprintf(f, "%u %" PRIx64 " %" PRIu64 "\n", run,
					table[i].address,
					table[i].executed[run]);
	if (fclose(f) != 0)
		perror(out);
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc,
			char **argv)
{
	int i;

	(void)info;
	for (i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "out=", 4))
			out = strdup(argv[i] + 4);
		else if (!strncmp(argv[i], "counter=", 8))
			counter = strdup(argv[i] + 8);
		else if (!strncmp(argv[i], "rounds=", 7))
			rounds = strtoul(argv[i] + 7, NULL, 10);
		else if (sscanf(argv[i], "modules=%" SCNx64 "-%" SCNx64,
				&modules_begin, &modules_end) != 2)
			return -1;
	}
	table = calloc(1U << TABLE_BITS, sizeof(*table));
	if (!table || !out || !counter || !rounds || !modules_end)
		return -1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
	qemu_plugin_register_atexit_cb(id, write_counts, NULL);
	return 0;
}
