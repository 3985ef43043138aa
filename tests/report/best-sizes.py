#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The best sets of kmalloc sizes, against all sets of small random problems."""
import itertools
import os
import random
import resource
import subprocess
import sys

SLAB = 256
UNIT = 256
NONE, POWERS, DIVISORS = range(3)


def required_alignment(request, guarantee):
    """Return the alignment that kmalloc() guarantees for a request."""
    divisor = request & -request
    if guarantee == DIVISORS or (guarantee == POWERS and divisor == request):
        return divisor
    return 1


def is_allowed(sizes, align, limit, guarantee):
    """Serve each possible request, and compare the alignments."""
    for request in range(1, limit + 1):
        size = min(s for s in sizes if s >= request)
        if max(size & -size, align) < required_alignment(request, guarantee):
            return False
    return True


def cost(sizes, objects, by_slab):
    """Return the bytes that the objects take, rounded down."""
    units = 0
    for request, count in objects.items():
        size = min(s for s in sizes if s >= request)
        each = SLAB * UNIT // (SLAB // size) if by_slab else size * UNIT
        units += count * each
    return units // UNIT


def candidates(align, smallest, limit, objects, by_slab):
    """Return the sizes of which sets are made."""
    sizes = range(smallest, limit + 1, align)
    if not by_slab:
        return list(sizes)
    # With a cost of its own, a size is tried only if it was requested.
    return [s for s in sizes if s == limit or
            any(s == max(-(-r // align) * align, smallest) for r in objects)]


def best_sets(problem, objects, by_slab):
    """Return the cost of the best set of each number of sizes, or None."""
    align, smallest, limit, guarantee, max_n = problem
    sizes = candidates(align, smallest, limit, objects, by_slab)
    best = []
    for n in range(1, max_n + 1):
        costs = [cost(chosen + (limit,), objects, by_slab)
                 for chosen in itertools.combinations(sizes[:-1], n - 1)
                 if is_allowed(chosen + (limit,), align, limit, guarantee)]
        best.append(min(costs) if costs else None)
    return best


def run(problem, objects, by_slab):
    """Return the lines of the program as lists of numbers, or None."""
    text = ' '.join(map(str, problem)) + '\n'
    text += ''.join(f'{size} {count}\n' for size, count in objects.items())
    program = os.path.join(os.environ.get('top_builddir', '.'),
                           'tests/report/best-sizes-dump')
    lines = subprocess.run([program] + ['--slab'] * by_slab, input=text,
                           capture_output=True, text=True,
                           check=True).stdout.splitlines()
    return [None if line == '-' else list(map(int, line.split()))
            for line in lines]


def check(problem, objects, by_slab):
    """Compare all results of a problem."""
    align, smallest, limit, guarantee, max_n = problem
    expected = best_sets(problem, objects, by_slab)
    found = run(problem, objects, by_slab)
    assert len(found) == max_n
    for n, (want, line) in enumerate(zip(expected, found), 1):
        context = (problem, objects, by_slab, n, want, line)
        if line is None:
            # The program tries requested sizes only, so large sets of few
            # requests do not exist, and would not be better.
            tried = {max(-(-r // align) * align, smallest) for r in objects}
            assert want is None or n > len(tried | {limit}), context
            continue
        sizes = tuple(line[1:])
        assert len(set(sizes)) == n and sizes[-1] == limit, context
        assert all(s % align == 0 and s >= smallest for s in sizes), context
        assert is_allowed(sizes, align, limit, guarantee), context
        assert cost(sizes, objects, by_slab) == line[0] == want, context


def check_time():
    """The sizes of a kernel with pages of 64 KiB take little time, although each
    multiple of 8 is a candidate; all pairs of candidates would take 9 s."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    lines = run((8, 8, 131072, DIVISORS, 22), {100: 5, 40000: 1}, False)
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    assert lines[-1] is not None
    assert used < 3, used


def draw(rng):
    """Return a random problem with its requests."""
    align = rng.choice((4, 8))
    limit = align * rng.choice((4, 8, 8, 16))
    smallest = align * rng.choice((1, 1, 2))
    objects = {rng.randint(1, limit): rng.choice((1, 2, 7, 1000))
               for _ in range(rng.randint(1, 12))}
    max_n = 4 if limit // align == 16 else 6
    return ((align, smallest, limit, rng.randrange(3), max_n), objects)


def main():
    seed = int(os.environ.get('KMT_SEED', random.randrange(1 << 32)))
    print(f'KMT_SEED={seed}')
    rng = random.Random(seed)
    for _ in range(120):
        problem, objects = draw(rng)
        check(problem, objects, False)
        if problem[3] == NONE:
            check(problem, objects, True)
    # One class for all, and as many classes as requests.
    check((8, 8, 64, NONE, 3), {8: 1, 40: 2, 64: 3}, False)
    check((8, 8, 64, DIVISORS, 8), {24: 5}, False)
    check_time()


if __name__ == '__main__':
    sys.exit(main())
