"""Prints coefficients.rs: polynomials and constants of the elementary functions, from mpmath.

    python3 coefficients.py > coefficients.rs && rustfmt coefficients.rs

The polynomials are minimax, by Remez' exchange. The printed error is relative to the whole function and measured after rounding of the
coefficients.
"""
from mpmath import asin, atan, cos, exp, floor, ldexp, log, mp, mpf, pi, sin, sinh, sqrt, tan, tanh

mp.dps = 80

def fit(error, lo, hi, count):
    """Rounded coefficients. The lowest few are rounded first and the others fitted again, where that is better."""
    candidates = []
    given = []
    for first in range(min(count, 4)):
        rest = lambda z, p: error(z, mp.polyval(given[::-1], z) + z ** first * p if given else p)
        free = [mpf(float(c)) for c in minimax(rest, lo, hi, count - first)]
        candidates.append(given + free)
        given = given + free[:1]
    return min(candidates, key=lambda c: largest(error, lo, hi, c))

def largest(error, lo, hi, c):
    grid = [lo + (hi - lo) * (i + mpf(1) / 3) / 500 for i in range(500)]
    return max(abs(error(z, mp.polyval(c[::-1], z))) for z in grid)

def minimax(error, lo, hi, count):
    """The polynomial p on [lo, hi] whose error(z, p(z)), linear in p, is smallest at its largest: Remez' exchange."""
    grid = [(lo + hi) / 2 - (hi - lo) / 2 * cos(pi * i / 400) for i in range(401)]
    grid = [z for z in grid if abs(z) > mpf(10) ** -8]
    zero = [error(z, mpf(0)) for z in grid]
    slope = [error(z, mpf(1)) - e for z, e in zip(grid, zero)]
    last = len(grid) - 1
    places = [round(last * (1 - float(cos(pi * i / count))) / 2) for i in range(count + 1)]
    for _ in range(12):
        # error(z_i) = (−1)^i E
        matrix = mp.matrix(count + 1, count + 1)
        for i, k in enumerate(places):
            for j in range(count):
                matrix[i, j] = slope[k] * grid[k] ** j
            matrix[i, count] = -(-1) ** i
        found = mp.lu_solve(matrix, mp.matrix([-zero[k] for k in places]))
        coefficients = list(found)[:count]
        errors = [e + s * mp.polyval(coefficients[::-1], z) for z, e, s in zip(grid, zero, slope)]
        # the largest error of each run of one sign
        runs = [[0]]
        for k in range(1, last + 1):
            if (errors[k] > 0) == (errors[runs[-1][0]] > 0):
                runs[-1].append(k)
            else:
                runs.append([k])
        tops = [max(run, key=lambda k: abs(errors[k])) for run in runs]
        while len(tops) > count + 1:
            tops.remove(tops[0] if abs(errors[tops[0]]) < abs(errors[tops[-1]]) else tops[-1])
        if len(tops) < count + 1 or tops == places:
            break
        places = tops
    return coefficients

def show(name, comment, lo, hi, count, error):
    """error(z, p): the relative error of the whole function if the polynomial has the value p at z."""
    lo, hi = mpf(lo), mpf(hi)
    c = fit(error, lo, hi, count)
    worst = largest(error, lo, hi, c)
    print(f"/// {comment}; relative error 2^{float(mp.log(worst, 2)):.1f}.")
    print(f"pub(super) const {name}: [f64; {count}] = [" + ", ".join(repr(float(x)) for x in c) + "];\n")

def bits(x, n):
    """x cut to its first n bits."""
    e = int(floor(log(abs(x), 2)))
    return ldexp(floor(ldexp(x, n - 1 - e)), e - n + 1)

def constant(name, comment, x):
    print(f"/// {comment}.")
    print(f"pub(super) const {name}: f64 = {float(x)!r};\n")

def parts(name, what, x, sizes):
    for i, size in enumerate(sizes):
        head = bits(x, size) if i + 1 < len(sizes) else mpf(float(x))
        comment = f"{what}: its first {size} bits" if i == 0 else f"{what}: what is left, {'to ' if i + 1 == len(sizes) else ''}{size} bits"
        constant(f"{name}_{i + 1}", comment, head)
        assert mpf(float(head)) == head
        x -= head

print("//! Made by `coefficients.py`: polynomials and constants of the elementary functions.\n//!")
print("//! Polynomials are lists from the lowest power up.\n")

def odd(f):
    """x + x³ P(x²)"""
    def error(z, p):
        x = sqrt(z)
        return (x + x * z * p) / f(x) - 1
    return error

def even(z, p):
    return (1 - z / 2 + z * z * p) / cos(sqrt(z)) - 1

def log_of(s):
    return log((1 + s) / (1 - s))

# a little beyond the interval, for arguments that rounding moves there
wide = mpf("1.0001")
quarter = (pi / 4) ** 2 * wide
half = log(2) / 2 * wide
s2 = (3 - sqrt(8)) ** 2 * wide
t2 = tan(pi / 8) ** 2 * wide
show("SIN", "sin x = x + x³ P(x²) for |x| ≤ π/4", 0, quarter, 6, odd(sin))
show("COS", "cos x = 1 − x²/2 + x⁴ P(x²) for |x| ≤ π/4", 0, quarter, 6, even)
show("EXP", "exp x = 1 + x + x² P(x) for |x| ≤ ln 2/2", -half, half, 10, lambda x, p: (1 + x + x * x * p) / exp(x) - 1)
show("LN", "ln((1 + s)/(1 − s)) = 2s + s³ P(s²) for |s| ≤ 3 − √8", 0, s2, 7, lambda z, p: (2 + z * p) * sqrt(z) / log_of(sqrt(z)) - 1)
show("LN_TAIL", "ln((1 + s)/(1 − s)) = 2s + 2s³/3 + 2s⁵/5 + s⁷ P(s²) for |s| ≤ 3 − √8", 0, s2, 8, lambda z, p: (2 + 2 * z / 3 + 2 * z * z / 5 + z ** 3 * p) * sqrt(z) / log_of(sqrt(z)) - 1)
show("ASIN", "asin x = x + x³ P(x²) for |x| ≤ 1/2", 0, wide / 4, 13, odd(asin))
show("ATAN", "atan x = x + x³ P(x²) for |x| ≤ tan π/8", 0, t2, 11, odd(atan))
show("SINH", "sinh x = x + x³ P(x²) for |x| ≤ 1", 0, wide, 8, odd(sinh))
show("TANH", "tanh x = x + x³ P(x²) for |x| ≤ 1/2", 0, wide / 4, 10, odd(tanh))

constant("TWO_OVER_PI", "2/π", 2 / pi)
parts("HALF_PI", "π/2", pi / 2, [33, 33, 53])
constant("LOG2_E", "1/ln 2", 1 / log(2))
parts("LN_2", "ln 2", log(2), [32, 53])
constant("PI_2_HIGH", "π/2, rounded", pi / 2)
constant("PI_2_LOW", "π/2 − its rounded value", pi / 2 - mpf(float(pi / 2)))
constant("PI_4_HIGH", "π/4, rounded", pi / 4)
constant("PI_4_LOW", "π/4 − its rounded value", pi / 4 - mpf(float(pi / 4)))
constant("THIRD_HIGH", "2/3, rounded", mpf(2) / 3)
constant("THIRD_LOW", "2/3 − its rounded value", mpf(2) / 3 - mpf(float(mpf(2) / 3)))
constant("FIFTH_HIGH", "2/5, rounded", mpf(2) / 5)
constant("FIFTH_LOW", "2/5 − its rounded value", mpf(2) / 5 - mpf(float(mpf(2) / 5)))

mp.prec = 1600
words = 22
x = int(floor(ldexp(2 / pi, 64 * (words - 2))))
print("/// The bits of 2/π: two words of zeros, then what follows the point.")
print(f"pub(super) const TWO_OVER_PI_BITS: [u64; {words}] = [" + ", ".join(f"0x{(x >> (64 * (words - 1 - i))) & (2**64 - 1):016x}" for i in range(words)) + "];\n")
y = int(floor(ldexp(pi / 2, 127)))
print("/// π/2 · 2^127.")
print(f"pub(super) const HALF_PI_BITS: u128 = 0x{y:032x};")
