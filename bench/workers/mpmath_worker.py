"""mpmath with 64 digits: the Simpson step of the double pendulum by Newton's method, as the authors of the papers computed it.

Setting: simpson:STEPS. Energies and derivatives are written out by hand and each sine and cosine is computed once.
"""

import mpmath
from mpmath import mp, mpf

import conversation

mp.dps = 64


class Pendulum:
    """L over m l²: v1² + v2²/2 + c v1 v2 + w (2 cos q1 + cos q2) with c = cos(q1 - q2)."""

    w = (2 * mp.pi) ** 2

    def derivatives(self, q, v):
        """L_q, L_v, L_qq, L_qv, L_vv."""
        sine, cosine = mp.sin(q[0] - q[1]), mp.cos(q[0] - q[1])
        (s1, c1), (s2, c2) = ((mp.sin(x), mp.cos(x)) for x in q)
        a, w = v[0] * v[1], self.w
        lq = (-sine * a - 2 * w * s1, sine * a - w * s2)
        lv = (2 * v[0] + cosine * v[1], v[1] + cosine * v[0])
        lqq = ((-cosine * a - 2 * w * c1, cosine * a), (cosine * a, -cosine * a - w * c2))
        lqv = ((-sine * v[1], -sine * v[0]), (sine * v[1], sine * v[0]))
        lvv = ((mpf(2), cosine), (cosine, mpf(1)))
        return lq, lv, lqq, lqv, lvv

    def energy(self, q, p):
        cosine = mp.cos(q[0] - q[1])
        kinetic = (p[0] ** 2 - 2 * cosine * p[0] * p[1] + 2 * p[1] ** 2) / (2 * (2 - cosine**2))
        return kinetic - self.w * (2 * mp.cos(q[0]) + mp.cos(q[1]))


# quadratic basis on the nodes 0, 1/2, 1 and Simpson's rule: phi_k(d_i) is 1 if k = i, else 0
SLOPES = ((mpf(-3), mpf(4), mpf(-1)), (mpf(-1), mpf(0), mpf(1)), (mpf(1), mpf(-4), mpf(3)))
WEIGHTS = (mpf(1) / 6, mpf(2) / 3, mpf(1) / 6)


def step(system, q, p, h):
    """Solves G_0 = -p, G_1 = 0 for the increments of the middle and the end, by Newton's method."""
    v = velocities(q, p)
    z = [[h / 2 * x for x in v], [h * x for x in v]]
    for _ in range(30):
        residual, jacobian, force = equations(system, q, p, z, h)
        change = mpmath.lu_solve(mpmath.matrix(jacobian), mpmath.matrix(residual))
        for k in range(2):
            for i in range(2):
                z[k][i] -= change[2 * k + i]
        if max(abs(x) for x in change) < mpf(10) ** -60:
            break
    _, _, force = equations(system, q, p, z, h)
    return [q[i] + z[1][i] for i in range(2)], [p[i] + force[i] for i in range(2)]


def velocities(q, p):
    cosine = mp.cos(q[0] - q[1])
    over = 1 / (2 - cosine**2)
    return [(p[0] - cosine * p[1]) * over, (2 * p[1] - cosine * p[0]) * over]


def equations(system, q, p, z, h):
    """The residuals of G_0 and G_1, their derivatives with respect to z, and the momentum gained."""
    nodes = [[mpf(0)] * 2, *z]
    residual = [p[0], p[1], mpf(0), mpf(0)]
    jacobian = [[mpf(0)] * 4 for _ in range(4)]
    gained = [mpf(0)] * 2
    for i in range(3):
        slope, b = SLOPES[i], WEIGHTS[i]
        at = [q[j] + nodes[i][j] for j in range(2)]
        v = [sum(slope[k] * nodes[k][j] for k in (1, 2)) / h for j in range(2)]
        lq, lv, lqq, lqv, lvv = system.derivatives(at, v)
        for j in range(2):
            gained[j] += b * h * lq[j]
        for k in (0, 1):
            own = k == i
            for j in range(2):
                residual[2 * k + j] += b * (slope[k] * lv[j] + (h * lq[j] if own else 0))
                for m in (1, 2):
                    for n in range(2):
                        entry = slope[k] * slope[m] / h * lvv[j][n]
                        if own:
                            entry += slope[m] * lqv[j][n]
                        if m == i:
                            entry += slope[k] * lqv[n][j]
                            if own:
                                entry += h * lqq[j][n]
                        jacobian[2 * k + j][2 * (m - 1) + n] += b * entry
    return residual, jacobian, gained


class Run:
    def __init__(self, until, steps):
        self.system, self.steps = Pendulum(), steps
        self.h = mpf(until) / steps

    def reset(self):
        self.q, self.p = [mp.pi / 4, mp.pi / 3], [mpf(0)] * 2

    def run(self):
        for _ in range(self.steps):
            self.q, self.p = step(self.system, self.q, self.p, self.h)

    def error(self):
        initial = self.system.energy(self.q, self.p)
        worst = mpf(0)
        for _ in range(self.steps):
            self.q, self.p = step(self.system, self.q, self.p, self.h)
            worst = max(worst, abs(self.system.energy(self.q, self.p) / initial - 1))
        return float(worst)


class Mpmath:
    def ready(self, system, until, setting):
        method, steps = setting.split(":")
        if (system, method) != ("double-pendulum", "simpson"):
            raise ValueError("only the Simpson step of the double pendulum is written for mpmath")
        if mpmath.libmp.BACKEND != "gmpy":
            raise RuntimeError("mpmath does not use gmpy2")
        return Run(until, int(steps))


if __name__ == "__main__":
    conversation.answer(Mpmath())
