"""mpmath with 64 digits: the Simpson step of the double pendulum by Newton's method, as the authors of the papers computed it.

Setting: simpson:STEPS. Everything is written out for this step, because an operation takes a microsecond: what is constant within a
step is computed once, what vanishes is left out, the previous step is continued as a guess, and the last correction is the one that
leaves less than 64 digits.
"""

import mpmath
from mpmath import mp, mpf

import conversation

mp.dps = 64
# corrections are squared from one iteration to the next
ENOUGH = mpf(10) ** -33
MOST = 30

# L over m l²: v1² + v2²/2 + cos(q1 - q2) v1 v2 + W (2 cos q1 + cos q2)
W = (2 * mp.pi) ** 2


def circle(a, b):
    """Forces of gravity and their derivatives, cos(a - b) and sin(a - b) at angles a, b."""
    (c1, s1), (c2, s2) = mp.cos_sin(a), mp.cos_sin(b)
    return -2 * W * s1, -W * s2, -2 * W * c1, -W * c2, c1 * c2 + s1 * s2, s1 * c2 - c1 * s2


def momenta(node, v):
    """L_v."""
    return 2 * v[0] + node[4] * v[1], v[1] + node[4] * v[0]


def force(node, v):
    """L_q, and sin(a - b) times the velocities, of which L_qv consists."""
    by1, by2 = node[5] * v[0], node[5] * v[1]
    pull = by1 * v[1]
    return node[0] - pull, node[1] + pull, by1, by2


def solve(rows):
    """Solves four linear equations, the right-hand sides in the last column."""
    for k in range(4):
        pivot = max(range(k, 4), key=lambda i: abs(rows[i][k]))
        rows[k], rows[pivot] = rows[pivot], rows[k]
        top = rows[k]
        for row in rows[k + 1 :]:
            factor = row[k] / top[k]
            for j in range(k + 1, 5):
                row[j] -= factor * top[j]
    x = [None] * 4
    for k in (3, 2, 1, 0):
        row, rest = rows[k], rows[k][4]
        for j in range(k + 1, 4):
            rest -= row[j] * x[j]
        x[k] = rest / row[k]
    return x


class Simpson:
    """Takes steps. With increments y of the middle and z of the end the velocities at start, middle and end are (4y - z)/h, z/h and
    (3z - 4y)/h, and G_0 = -p, G_1 = 0 are, six times and three halves of them,

        6p + h L_q(0) - 3 L_v(0) - 4 L_v(1) + L_v(2) = 0        h L_q(1) + L_v(0) - L_v(2) = 0
    """

    def __init__(self, q, p, h):
        self.q, self.p, self.h, self.over = q, p, h, 1 / h
        self.first = circle(*q)
        cosine = self.first[4]
        over = 1 / (2 - cosine * cosine)
        v = (p[0] - cosine * p[1]) * over, (2 * p[1] - cosine * p[0]) * over
        self.y, self.z = [h / 2 * x for x in v], [h * x for x in v]

    def step(self):
        q, p, y, z = self.q, self.p, self.y, self.z
        p6 = 6 * p[0], 6 * p[1]
        for _ in range(MOST):
            change = solve(self.equations(p6, y, z))
            y, z = [y[0] - change[0], y[1] - change[1]], [z[0] - change[2], z[1] - change[3]]
            if max(abs(x) for x in change) < ENOUGH:
                break
        v0, v1, v2 = self.velocities(y, z)
        middle, last = circle(q[0] + y[0], q[1] + y[1]), circle(q[0] + z[0], q[1] + z[1])
        forces = force(self.first, v0), force(middle, v1), force(last, v2)
        sixth = self.h / 6
        self.q = [q[i] + z[i] for i in (0, 1)]
        self.p = [p[i] + sixth * (forces[0][i] + 4 * forces[1][i] + forces[2][i]) for i in (0, 1)]
        self.first = last
        # the parabola of this step, continued
        self.y, self.z = [2 * z[i] - 3 * y[i] for i in (0, 1)], [5 * z[i] - 8 * y[i] for i in (0, 1)]

    def velocities(self, y, z):
        over = self.over
        y4 = 4 * y[0], 4 * y[1]
        return (
            ((y4[0] - z[0]) * over, (y4[1] - z[1]) * over),
            (z[0] * over, z[1] * over),
            ((3 * z[0] - y4[0]) * over, (3 * z[1] - y4[1]) * over),
        )

    def equations(self, p6, y, z):
        """Rows of the matrix of Newton's method for (y, z), with the residuals as last column."""
        q, h, over = self.q, self.h, self.over
        n0, n1, n2 = self.first, circle(q[0] + y[0], q[1] + y[1]), circle(q[0] + z[0], q[1] + z[1])
        v0, v1, v2 = self.velocities(y, z)
        m0, m1, m2 = momenta(n0, v0), momenta(n1, v1), momenta(n2, v2)
        f0a, f0b, a0, b0 = force(n0, v0)
        f1a, f1b, a1, b1 = force(n1, v1)
        a2, b2 = n2[5] * v2[0], n2[5] * v2[1]
        r0 = p6[0] + h * f0a - 3 * m0[0] - 4 * m1[0] + m2[0], p6[1] + h * f0b - 3 * m0[1] - 4 * m1[1] + m2[1]
        r1 = h * f1a + m0[0] - m2[0], h * f1b + m0[1] - m2[1]
        # L_qv = ((-b, -a), (b, a)) with a, b = sin(q1 - q2) v1, v2; L_vv = ((2, c), (c, 1))
        c0, c1, c2 = n0[4] * over, n1[4] * over, n2[4] * over
        cross = n1[4] * v1[0] * v1[1] * h
        mixed, both = c0 + 3 * c2, 4 * (c0 + c2)
        start, middle = 12 * c0 + 4 * c2, 3 * (c0 + c2) - 4 * c1
        return [
            [4 * (b1 - b0) - 32 * over, -4 * (a0 + b1) - start, b0 - b2 + 4 * over, a0 + b2 + middle, r0[0]],
            [4 * (b0 + a1) - start, 4 * (a0 - a1) - 16 * over, middle - b0 - a2, a2 - a0 + 2 * over, r0[1]],
            [h * n1[2] - cross + 16 * over, cross + both, b2 - b1 - 8 * over, -a1 - b2 - mixed, r1[0]],
            [cross + both, h * n1[3] - cross + 8 * over, b1 + a2 - mixed, a1 - a2 - 4 * over, r1[1]],
        ]


def energy(q, p):
    cosine = mp.cos(q[0] - q[1])
    kinetic = (p[0] ** 2 - 2 * cosine * p[0] * p[1] + 2 * p[1] ** 2) / (2 * (2 - cosine**2))
    return kinetic - W * (2 * mp.cos(q[0]) + mp.cos(q[1]))


class Run:
    def __init__(self, until, steps):
        self.steps, self.h = steps, mpf(until) / steps

    def reset(self):
        self.simpson = Simpson([mp.pi / 4, mp.pi / 3], [mpf(0), mpf(0)], self.h)

    def run(self):
        for _ in range(self.steps):
            self.simpson.step()

    def error(self):
        initial, worst = energy(self.simpson.q, self.simpson.p), mpf(0)
        for _ in range(self.steps):
            self.simpson.step()
            worst = max(worst, abs(energy(self.simpson.q, self.simpson.p) / initial - 1))
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
