// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Preloaded into dbench and tbench for bench/workloads, which runs one client.
 *
 * A client ends after one pass over its load file.  Otherwise it would rewind
 * the file until a time has passed, and the amount of work would depend on the
 * speed.
 *
 * Shared memory is an anonymous mapping, and semaphores do nothing, because the
 * kernels of vm/ lack those of System V.  The semaphores only let all clients
 * begin together.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/sem.h>
#include <sys/shm.h>

static size_t shared_size;

void rewind(FILE *stream)
{
	(void)stream;
	exit(0);
}

int shmget(key_t key, size_t size, int flags)
{
	(void)key;
	(void)flags;
	shared_size = size;
	return 1;
}

void *shmat(int id, const void *address, int flags)
{
	(void)id;
	(void)address;
	(void)flags;
	return mmap(NULL, shared_size, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

int shmctl(int id, int command, struct shmid_ds *buf)
{
	(void)id;
	(void)command;
	(void)buf;
	return 0;
}

int semget(key_t key, int n, int flags)
{
	(void)key;
	(void)n;
	(void)flags;
	return 1;
}

/* dbench polls GETZCNT, the number of clients that wait for the beginning,
 * until all clients wait: always report the only client. */
int semctl(int id, int n, int command, ...)
{
	(void)id;
	(void)n;
	return command == GETZCNT ? 1 : 0;
}

int semop(int id, struct sembuf *operations, size_t n)
{
	(void)id;
	(void)operations;
	(void)n;
	return 0;
}
