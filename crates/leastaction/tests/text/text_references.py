"""Reference states for the systems of tests/text/*.toml, by other means than the program's own.

The Lagrangians are typed again as SymPy expressions, the Euler-Lagrange equations are derived by SymPy, and the motion is
computed by extrapolation of the explicit midpoint rule (Gragg, Bulirsch, Stoer) with mpmath at 40 digits. Run with two
step sizes; digits in which both agree are printed. Needs sympy, mpmath (and gmpy2 for speed): python3 text_references.py
"""
import sympy as sp
import mpmath as mp

mp.mp.dps = 40
t = sp.Symbol("t")
R = sp.Rational


def magnetic_trap():
    q = sp.symbols("x y z"); v = sp.symbols("vx vy vz")
    (x, y, z), (vx, vy, vz) = q, v
    m, e, B, k, kz, a, b = R(1), R(1), R(2), R(3, 10), R(1, 2), R(1, 20), R(1, 25)
    r2 = x**2 + y**2
    L = m/2*(vx**2 + vy**2 + vz**2) + e*B/2*(x*vy - y*vx) - (k/2*r2 + kz/2*z**2 + a*r2**2 + b*r2*z**2)
    return q, v, L, [R(1), R(0), R(1, 2)], [R(0), R(7, 10), R(-1, 5)], 10


def relativistic():
    q = sp.symbols("x y"); v = sp.symbols("vx vy")
    (x, y), (vx, vy) = q, v
    m, c, k = R(1), R(2), R(3)
    L = -m*c**2*sp.sqrt(1 - (vx**2 + vy**2)/c**2) - k/2*(x**2 + y**2)
    return q, v, L, [R(1), R(0)], [R(0), R(3, 2)], 10


def shaken_pendulum():
    q = sp.symbols("theta,"); v = sp.symbols("w,")
    (th,), (w,) = q, v
    m, l, g, a, Om = R(1), R(1), R(981, 100), R(1, 10), R(20)
    Y = a*sp.cos(Om*t)
    x, y = l*sp.sin(th), Y - l*sp.cos(th)
    vx = sp.diff(x, th)*w
    vy = sp.diff(y, th)*w + sp.diff(y, t)
    L = m/2*(vx**2 + vy**2) - m*g*y
    return q, v, sp.expand(L), [R(29, 10)], [R(1, 5)], 10


def triple_pendulum():
    q = sp.symbols("a b c"); v = sp.symbols("va vb vc")
    l = [R(1), R(4, 5), R(3, 5)]; m = [R(1), R(1, 2), R(1, 4)]; g = R(981, 100)
    L, vx, vy, y = 0, 0, 0, 0
    for i in range(3):
        vx += l[i]*sp.cos(q[i])*v[i]; vy += l[i]*sp.sin(q[i])*v[i]; y -= l[i]*sp.cos(q[i])
        L += m[i]/2*(vx**2 + vy**2) - m[i]*g*y
    return q, v, L, [R(1), R(1, 2), R(-1, 4)], [R(0), R(0), R(1)], 5


def elastic_spherical():
    q = sp.symbols("r theta phi"); v = sp.symbols("vr vth vph")
    (r, th, ph), (vr, vth, vph) = q, v
    m, g, k, l = R(1), R(981, 100), R(40), R(1)
    L = m/2*(vr**2 + r**2*vth**2 + r**2*sp.sin(th)**2*vph**2) + m*g*r*sp.cos(th) - k/2*(r - l)**2
    return q, v, L, [R(13, 10), R(1), R(0)], [R(0), R(1, 10), R(2)], 10


def motion(make, H):
    q, v, L, q0, v0, T = make()
    n = len(q)
    Lv = [sp.diff(L, x) for x in v]
    M = sp.Matrix(n, n, lambda i, j: sp.diff(Lv[i], v[j]))
    F = sp.Matrix([sp.diff(L, q[i]) - sum(sp.diff(Lv[i], q[j])*v[j] for j in range(n)) - sp.diff(Lv[i], t) for i in range(n)])
    f = sp.lambdify([*q, *v, t], [*M, *F], "mpmath", cse=True)
    momenta = sp.lambdify([*q, *v, t], Lv, "mpmath")
    energy = sp.lambdify([*q, *v, t], sum(p*w for p, w in zip(Lv, v)) - L, "mpmath")

    def rate(s, y):
        out = f(*y, s)
        a = mp.lu_solve(mp.matrix(n, n) + mp.matrix([out[i*n:(i + 1)*n] for i in range(n)]), mp.matrix(out[n*n:])) if n > 1 else [out[1]/out[0]]
        return [*y[n:], *[a[i] for i in range(n)]]

    y = [mp.mpf(x.p)/x.q for x in (*q0, *v0)]
    steps = int(round(T/H))
    h = mp.mpf(T)/steps
    K = 13
    for s in range(steps):
        t0 = s*h
        rows = []
        for k in range(1, K + 1):
            N = 2*k
            d = h/N
            a, b = y, [yi + d*fi for yi, fi in zip(y, rate(t0, y))]
            for i in range(1, N):
                a, b = b, [ai + 2*d*fi for ai, fi in zip(a, rate(t0 + i*d, b))]
            end = [(ai + bi + d*fi)/2 for ai, bi, fi in zip(a, b, rate(t0 + h, b))]
            row = [end]
            for j in range(1, k):
                ratio = mp.mpf(k)**2/mp.mpf(k - j)**2 - 1
                row.append([x + (x - z)/ratio for x, z in zip(row[-1], rows[-1][j - 1])])
            rows.append(row)
        y = rows[-1][-1]
    return y[:n], y[n:], momenta(*y, mp.mpf(T)), energy(*y, mp.mpf(T)), T


if __name__ == "__main__":
    print("# system, t, quantity, value; made by text_references.py (SymPy equations, extrapolation with 40 digits)")
    for make, names, H in [(magnetic_trap, "x y z", 0.1), (relativistic, "x y", 0.1), (shaken_pendulum, "theta", 0.05),
                           (triple_pendulum, "a b c", 0.02), (elastic_spherical, "r theta phi", 0.05)]:
        coarse, fine = motion(make, H), motion(make, H/2)
        worst = max(abs(a - b) for a, b in zip([*coarse[0], *coarse[2]], [*fine[0], *fine[2]]))
        assert worst < 1e-22, (make.__name__, worst)
        for i, name in enumerate(names.split()):
            print(f"{make.__name__},{fine[4]},{name},{mp.nstr(fine[0][i], 22)}")
        for i, name in enumerate(names.split()):
            print(f"{make.__name__},{fine[4]},p_{name},{mp.nstr(fine[2][i], 22)}")
        print(f"{make.__name__},{fine[4]},energy,{mp.nstr(fine[3], 22)}", flush=True)
