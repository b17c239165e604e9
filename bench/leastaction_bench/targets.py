"""What the benchmark must show: ratios and their bounds, and whether this run meets them."""

from dataclasses import dataclass, replace

from . import slices
from .contestants import HEYOKA_TYPED, NO_PEERS, OURS, RK4, SPLITTING


def best(case, name, error):
    """The fastest setting with which a contestant reaches an error, if it does."""
    return case["contestants"].get(name, {}).get("best", {}).get(f"{error:.0e}")


def best_time(case, name, error):
    found = best(case, name, error)
    return found and found["time"]


def best_peer(case, error):
    """The fastest peer that reaches an error, and its time."""
    times = {n: best_time(case, n, error) for n in case["contestants"] if n not in NO_PEERS}
    reached = {n: t for n, t in times.items() if t is not None}
    return min(reached.items(), key=lambda item: item[1], default=(None, None))


def spread_to(case, peer, error):
    """Quartiles of our time over that of a peer, round by round, if both reach an error."""
    ours, theirs = best(case, OURS, error), best(case, peer, error)
    if not ours or not theirs:
        return None
    # without rounds in common, there are the times
    return slices.ratios(ours.get("slices"), theirs.get("slices")) or (ours["time"] / theirs["time"],) * 3


def ratio_to(case, peer, error):
    """Our time over that of a peer: the median of the rounds."""
    spread = spread_to(case, peer, error)
    return spread and spread[1]


def steps_ratio(case, name):
    """The same of steps, if both were taken."""
    ours, theirs = (case["seconds"].get(n) for n in (OURS, name))
    if ours is None or theirs is None:
        return None
    spread = slices.ratios(*(case.get("slices", {}).get(n) for n in (OURS, name)))
    return spread[1] if spread else ours / theirs


def ratio(case, error):
    return ratio_to(case, best_peer(case, error)[0], error)


@dataclass(frozen=True)
class Verdict:
    """What was measured against a bound: the number, or words where there is none, and whether that is enough."""

    title: str
    against: str
    measured: str
    bound: str
    met: bool | None


def by_name(results):
    return {case["name"]: case for kind in ("cases", "steps", "cores") for case in results.get(kind, ())}


def number(value):
    return f"{value:.3g}" if value >= 10 else f"{value:.2f}"


@dataclass(frozen=True)
class Peer:
    """Our time over that of the best peer is no larger than a bound; without a bound, the error is reached."""

    case: str
    error: float
    bound: float | None

    def judge(self, cases):
        case = cases[self.case]
        ours, (peer, _), value = best_time(case, OURS, self.error), best_peer(case, self.error), ratio(case, self.error)
        if self.bound is None:
            bound, met = "reached", ours is not None
        else:
            # what no peer reaches is won
            bound, met = f"≤ {self.bound}", ours is not None and (value is None or value <= self.bound)
        measured = "not reached" if ours is None else "no peer reaches it" if value is None else number(value)
        return Verdict(f"{case['title']}, {self.error:.0e}", peer or "–", measured, bound, met)


@dataclass(frozen=True)
class Named:
    """Our time over that of one peer, whoever is the best; without a bound, the error is reached."""

    case: str
    error: float
    bound: float | None
    peer: str
    # how the peer differs from what the other rows of the case are about
    label: str

    def judge(self, cases):
        case = cases[self.case]
        title = f"{case['title']}, {self.error:.0e}, {self.label}"
        bound = "reached" if self.bound is None else f"≤ {self.bound}"
        if self.peer not in case["contestants"]:
            return Verdict(title, self.peer, "not measured", bound, None)
        ours, value = best_time(case, OURS, self.error), ratio_to(case, self.peer, self.error)
        measured = "not reached" if ours is None else "it does not reach it" if value is None else number(value)
        # what it does not reach is won
        met = ours is not None and (None in (self.bound, value) or value <= self.bound)
        return Verdict(title, self.peer, measured, bound, met)


@dataclass(frozen=True)
class Yardstick:
    """Our time over some times that of a yardstick, which may be of another case."""

    case: str
    error: float
    of: str
    times: float
    bound: float

    def judge(self, cases):
        case, other = cases[self.case], cases.get(self.of)
        ours, hand = best_time(case, OURS, self.error), other and best_time(other, SPLITTING, self.error)
        value = ours / (self.times * hand) if ours is not None and hand is not None else None
        against = SPLITTING if self.times == 1 else f"{self.times:g} × {SPLITTING}, n = 1,000"
        measured = number(value) if value is not None else "not reached" if ours is None else "not measured"
        met = None if measured == "not measured" else value is not None and value <= self.bound
        return Verdict(f"{case['title']}, {self.error:.0e}", against, measured, f"≤ {self.bound}", met)


@dataclass(frozen=True)
class Steps:
    """A step of ours over one of another, or the other way round where we are to be faster by a factor."""

    case: str
    of: str
    most: float | None = None
    least: float | None = None

    def judge(self, cases):
        case = cases[self.case]
        ours, other = case["seconds"].get(OURS), case["seconds"].get(self.of)
        bound = f"≤ {self.most}" if self.most else f"{self.of} ÷ ours ≥ {self.least:g}"
        if ours is None or other is None:
            return Verdict(case["title"], self.of, "not measured", bound, None)
        value = steps_ratio(case, self.of) if self.most else 1 / steps_ratio(case, self.of)
        met = value <= self.most if self.most else value >= self.least
        return Verdict(case["title"], self.of, number(value), bound, met)


@dataclass(frozen=True)
class Speedup:
    """Two threads against one."""

    case: str
    least: float

    def judge(self, cases):
        case = cases[self.case]
        times, bound = case["seconds"], f"one ÷ two ≥ {self.least}"
        if {"1", "2"} - set(times):
            return Verdict(case["title"], "one thread", case.get("absent", "not measured"), bound, None)
        value = times["1"] / times["2"]
        return Verdict(case["title"], "one thread", number(value), bound, value >= self.least)


SHORT = ((1e-8, 0.8), (1e-11, 0.65), (1e-14, 0.55))
TYPED = "same text for both"
LONG_TOP = ((1e-8, 0.4), (1e-11, 0.4), (1e-14, None))
TARGETS = [
    *(Peer("double-pendulum", *bound) for bound in SHORT),
    *(Peer("top", *bound) for bound in SHORT),
    *(Peer("double-pendulum-long", error, 0.6) for error in (1e-8, 1e-11, 1e-14)),
    *(Peer("top-long", *bound) for bound in LONG_TOP),
    *(Peer("pendulum-long", error, 0.7) for error in (1e-8, 1e-11)),
    *(Named("top", *bound, HEYOKA_TYPED, TYPED) for bound in SHORT),
    *(Named("top-long", *bound, HEYOKA_TYPED, TYPED) for bound in LONG_TOP),
    Steps("simpson-step", RK4, most=1.5),
    Yardstick("fput-1000", 1e-10, "fput-1000", 1, 1.0),
    Yardstick("fput-10000", 1e-10, "fput-1000", 10, 1.3),
    Peer("ensemble", 1e-8, 0.8),
    Named("ensemble", 1e-8, 0.8, HEYOKA_TYPED, TYPED),
    Speedup("two-cores", 1.8),
    Steps("digits-step", "mpmath", least=30),
]


# what is known of why a target is missed; ARCHITECTURE.md has the profiles
TOP = (
    "The top against equations that were reduced by hand: peers get one coordinate and constants computed beforehand. leastaction finds the reduction in the text, but"
    " solves each step by sweeps, and a sweep is a chain of operations that wait for each other: it takes as long for one node as for eight."
)
WHY = {
    "top": TOP,
    "top-long": TOP,
    "ensemble": (
        "Ensembles against equations derived by hand: a step of a member makes seven sweeps over six points, 42 evaluations, to solve its equations and keep the"
        " structure; an explicit method makes none twice. Three quarters of the time are these sweeps, in registers of eight lanes."
    ),
}


def reasons(results):
    """Why targets are missed, each reason once."""
    cases = by_name(results)
    missed = [target.case for target in TARGETS if target.case in cases and target.judge(cases).met is False]
    return list(dict.fromkeys(WHY[case] for case in missed if case in WHY))


def verdicts(results):
    """All that can be judged: those whose cases were run."""
    cases = by_name(results)
    judged = [(target, target.judge(cases)) for target in TARGETS if target.case in cases]
    doubtful = (Peer, Named, Yardstick) if results.get("quick") else ()
    return [unproved(verdict) if isinstance(target, doubtful) else verdict for target, verdict in judged]


def unproved(verdict):
    """A quick run tries few settings of the others, so that it cannot show that they are slower."""
    return replace(verdict, met=None) if verdict.met else verdict
