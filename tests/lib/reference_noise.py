# SPDX-License-Identifier: GPL-2.0-or-later
"""Permutation tests of a comparison, enumerated in exact arithmetic."""

import fractions
import itertools
import math

Fraction = fractions.Fraction


def mean(values):
    """Return the exact mean."""
    return sum(map(Fraction, values)) / len(values)


def splits(values, n_base):
    """Return all (base, new), the observed one first."""
    numbers = range(len(values))
    return [([values[i] for i in chosen],
             [values[i] for i in numbers if i not in chosen])
            for chosen in itertools.combinations(numbers, n_base)]


def two_sided(values, n_base):
    """Return the p-value of one figure."""
    distances = [abs(mean(new) - mean(base)) for base, new in splits(values, n_base)]
    return Fraction(sum(d >= distances[0] for d in distances), len(distances))


def smallest(n_base, n_new):
    """Return the smallest p-value that two_sided() can return."""
    return Fraction(2 if n_base == n_new else 1, math.comb(n_base + n_new, n_base))


def judge(values, n_base, error_rate):
    """Return whether the difference of the sides exceeds noise."""
    n_new = len(values) - n_base
    rate = Fraction(str(error_rate))
    if min(n_base, n_new) < 2 or smallest(n_base, n_new) > rate:
        return "unknown"
    return "within" if two_sided(values, n_base) > rate else "exceeds"


def limit_of(base, absolute, fraction):
    """Return the growth that a rule allows."""
    return max(Fraction(absolute), Fraction(fraction) * max(mean(base), 0))


def excess(base, new, absolute, fraction):
    """Return the statistic of the joint test."""
    allowed = limit_of(base, absolute, fraction)
    noise = Fraction(sum(abs(v - mean(base)) for v in base)
                     + sum(abs(v - mean(new)) for v in new), len(base) + len(new))
    above = mean(new) - mean(base) - allowed
    if allowed + noise:
        return above / (allowed + noise)
    return math.inf if above > 0 else 0


def alone(values, n_base, absolute, fraction):
    """Return the p-value of a line that may have grown by its limit."""
    base = values[:n_base]
    allowed = limit_of(base, absolute, fraction)
    shifted = base + [v - allowed for v in values[n_base:]]
    growths = [mean(new) - mean(base) for base, new in splits(shifted, n_base)]
    return Fraction(sum(g >= growths[0] for g in growths), len(growths))


def step_down(lines, n_base, absolute, fraction):
    """Return the p-values of all lines, by the definition of Westfall and Young."""
    tables = [[excess(base, new, absolute, fraction)
               for base, new in splits(values, n_base)] for values in lines]
    answers = []
    for i, table in enumerate(tables):
        worse = [j for j, other in enumerate(tables)
                 if other[0] > table[0] or (other[0] == table[0] and j >= i)]
        joint = 0
        # The p-value of a line is the maximum over all lines that are at least
        # as significant, each tested against itself and less significant ones.
        for j in worse + [i]:
            rest = [other for k, other in enumerate(tables)
                    if other[0] < tables[j][0]
                    or (other[0] == tables[j][0] and k <= j)]
            count = sum(max(row) >= tables[j][0] for row in zip(*rest))
            joint = max(joint, Fraction(count, len(table)))
        answers.append(max(joint, alone(lines[i], n_base, absolute, fraction))
                       if table[0] > 0 else 1)
    return answers
