"""Scans settings or has them picked, times the promising ones in interleaved rounds, and finds the time to an error."""

import itertools
import sys
import time
from dataclasses import dataclass, field

from . import slices
from .contestants import NO_PEERS
from .process import Failed

# a scanned setting counts if it and the next tighter ones reach the error, so that no lucky run does
ROBUST = 3
# how long a contestant may take for an answer, in seconds, beyond a multiple of the case's limit
PATIENCE = 60
# so many failures in a row end a curve: before it has any points, because loose settings may fail where tight ones do not, and after
GIVE_UP, GIVE_UP_LATER = 6, 2
# seconds of a slice in a scan
LOOK = 0.002
# after so many rounds only settings go on whose time is at most so many times the fastest of their contestant
FIRST, CLOSE = 16, 1.1
# processes are started anew after so many rounds: where code and data happen to lie may make a setting twice as slow. If getting
# ready for the rounds takes so many seconds, they are started anew once
LIFE, LONG = 8, 20
# settings get a place in the rounds whose time in the scan is at most so many times the fastest, so that noise there decides nothing:
# up to MANY for each error, and FEW of contestants that are AFAR times slower than the fastest peer, in one of SELDOM rounds
NEAR, MANY = 2.0, 8
AFAR, FEW, SELDOM = 5.0, 2, 8


@dataclass(frozen=True)
class Effort:
    """How much is measured: rounds of timing, the seconds of a slice, those that a setting may take in all rounds, and of how many
    settings one is tried in scans."""

    rounds: int
    slice: float
    most: float
    stride: int

    def every(self, time):
        """How often a setting takes part: in each round, in every second or fourth or, if it is slow, every eighth one."""
        taken = max(self.slice, min(3 * time, 10 * self.slice), time)
        return next((n for n in (1, 2, 4) if taken * self.rounds / n <= self.most), 8)


FULL, QUICK = Effort(64, 0.003, 0.5, 1), Effort(12, 0.003, 0.1, 3)


@dataclass
class Point:
    """A setting with its error and its time, in seconds."""

    curve: str
    setting: str
    error: float
    time: float
    # the error that it was picked for, and how long that took
    asked: float | None = None
    picking: float | None = None
    # times in the rounds, None where it did not take part; its time is made of them
    slices: list = field(default_factory=list)


def say(text):
    print(text, file=sys.stderr, flush=True)


def scan(contestant, case, stride=1):
    """Points of all curves of a contestant, and those it picks."""
    points = picked(contestant, case) if contestant.picks and case.picked else []
    for curve, settings in contestant.curves(case).items():
        found = scan_curve(contestant, case, curve, itertools.islice(settings, 0, None, stride))
        points += found
        if found:
            say(f"  {contestant.name:26} {curve:20} {len(found)} settings")
    return points


def patience(case):
    return PATIENCE + 20 * case.limit


def look(contestant, case, setting):
    """Error and time of a setting; the shorter of two slices if that does not take long."""
    ask, wait = contestant.worker.ask, patience(case)
    error = ask("error", case.system, case.until, setting, patience=wait)
    question = ("time", case.system, case.until, setting, LOOK)
    taken = ask(*question, patience=wait)
    return error, taken if taken > case.limit / 4 else min(taken, ask(*question, patience=wait))


def picked(contestant, case):
    """What a contestant picks for each of the errors, which is what its users get."""
    points = []
    for asked in case.errors:
        try:
            question = ("pick", case.system, case.until, f"{asked:e}")
            seconds, setting = contestant.worker.words(*question, patience=10 * patience(case))
            error, time = look(contestant, case, setting)
        except Failed as failure:
            fail(contestant, case, f"tolerance {asked:.0e}: {failure}")
            continue
        say(f"  {contestant.name:26} {asked:.0e} {setting:24} error {error:.1e}, picked in {float(seconds):.2f} s")
        points.append(Point(f"tolerance {asked:.0e}", setting, error, time, asked, float(seconds)))
        if error > asked:
            fail(contestant, case, f"tolerance {asked:.0e}: missed, {setting} has an error of {error:.1e}")
    return points


def scan_curve(contestant, case, curve, settings):
    """Points from loose to tight, until enough of them reach the smallest error or a run takes too long."""
    points, failed = [], []
    for setting in settings:
        try:
            error, time = look(contestant, case, setting)
        except Failed as failure:
            failed.append(f"{setting}: {failure}")
            if len(failed) >= (GIVE_UP_LATER if points else GIVE_UP):
                break
            continue
        failed = []
        points.append(Point(curve, setting, error, time))
        reached = [p.error <= min(case.errors) for p in points[-ROBUST:]]
        if time > case.limit or (len(reached) == ROBUST and all(reached)) or stagnates(points):
            break
    if failed:
        fail(contestant, case, failed[0])
    return points


def fail(contestant, case, reason):
    contestant.failures.setdefault(case.name, []).append(reason)


def stagnates(points):
    """Whether rounding is all that is left: tighter settings have not helped for a while."""
    if len(points) < 12:
        return False
    best_before = min(p.error for p in points[:-8])
    return best_before < 1e-12 and min(p.error for p in points[-8:]) > 0.5 * best_before


def robust(points):
    """Points with the largest error of themselves and the next tighter ones of their curve."""
    judged = []
    for k, point in enumerate(points):
        following = [p for p in points[k : k + ROBUST] if p.curve == point.curve]
        judged.append((point, max(p.error for p in following)))
    return judged


def fastest(points, error, count=1, timed=False):
    """The fastest points that reach an error robustly, of those timed in rounds or of all. What was picked for an error counts
    for that one alone."""
    reached = [point for point, worst in robust(points) if worst <= error and point.asked in (None, error)]
    reached = [point for point in reached if any(point.slices) or not timed]
    return sorted(reached, key=lambda point: point.time)[:count]


def hopes(points):
    """What settings may take: no more than the tighter ones of their curve, whatever the scan says."""
    hoped, tighter = {}, {}
    for point in reversed(points):
        tighter[point.curve] = min(point.time, tighter.get(point.curve, point.time))
        hoped[id(point)] = tighter[point.curve]
    return hoped


def promising(scans, error):
    """The settings of each contestant that may be its fastest to an error: (name, point, whether it is much slower than a peer)."""
    peers = [found[0].time for name, points in scans.items() if name not in NO_PEERS and (found := fastest(points, error))]
    for name, points in scans.items():
        hoped = hopes(points)
        found = sorted(fastest(points, error, len(points)), key=lambda p: (hoped[id(p)], p.time))[:MANY]
        near = [p for p in found if hoped[id(p)] <= NEAR * hoped[id(found[0])]]
        afar = bool(peers and found and hoped[id(found[0])] > AFAR * min(peers))
        yield from ((name, p, afar) for p in (found[:FEW] if afar or len(near) < FEW else near))


def places(scans, case, effort):
    """Who takes part in the rounds, and in every which: (name, point, every). Those for the same error are next to each other."""
    chosen = {}
    for error in case.errors:
        for name, point, afar in promising(scans, error):
            every = SELDOM if afar else effort.every(point.time)
            _, _, before = chosen.get(id(point), (name, point, every))
            chosen[id(point)] = name, point, min(every, before)
    return list(chosen.values())


def time_in_rounds(contestants, case, scans, effort):
    """Rounds in which the promising settings of all contestants get a slice each."""
    by_name = {c.name: c for c in contestants}
    taking_part = [(by_name[name], point, every) for name, point, every in places(scans, case, effort)]
    say(f"  {effort.rounds} rounds of {len(taking_part)} settings")
    life = LIFE
    for number in range(effort.rounds):
        if number == FIRST:
            taking_part = still_promising(taking_part, case, scans)
        if number % life == 0:
            taken = start_anew(taking_part, case)
            life = LIFE if taken < LONG else effort.rounds // 2
        # to and fro, so that nobody is always the one before
        for contestant, point, every in taking_part if number // SELDOM % 2 == 0 else reversed(taking_part):
            its_turn = number % every == 0
            point.slices.append(ask_time(contestant, case, point.setting, effort.slice) if its_turn else None)
    still_promising(taking_part, case, scans)


def start_anew(taking_part, case):
    """New processes, which get ready for what they will be asked; the seconds that takes."""
    start = time.monotonic()
    for contestant, _, _ in taking_part:
        contestant.worker.stop()
    for contestant, point, _ in taking_part:
        ask_time(contestant, case, point.setting, 0.0)
    return time.monotonic() - start


def still_promising(taking_part, case, scans):
    """Those whose times in the rounds are close to the fastest of their contestant, for one of the errors."""
    for _, point, _ in taking_part:
        if any(point.slices):
            point.time = slices.time(point.slices)
    close = set()
    for points in scans.values():
        for error in case.errors:
            found = fastest(points, error, len(points), timed=True)
            close |= {id(p) for p in found if p.time <= CLOSE * found[0].time}
    return [place for place in taking_part if id(place[1]) in close]


def ask_time(contestant, case, setting, budget):
    """A slice: the median of the runs of a setting that fit into some seconds."""
    try:
        return contestant.worker.ask("time", case.system, case.until, setting, budget, patience=patience(case))
    except Failed:
        return None


def setup_time(contestant, case, point):
    """How long it takes to get ready: parse, derive, compile."""
    try:
        return contestant.worker.ask("setup", case.system, case.until, point.setting, patience=patience(case))
    except Failed:
        return None


def measure_case(contestants, case, effort):
    """Everything about a case, as data."""
    say(case.title)
    scans = {c.name: scan(c, case, effort.stride) for c in contestants}
    time_in_rounds(contestants, case, scans, effort)
    result = {"name": case.name, "title": case.title, "errors": list(case.errors), "contestants": {}}
    for contestant in contestants:
        points = scans[contestant.name]
        if not points:
            continue
        best = {error: fastest(points, error, timed=True) for error in case.errors}
        settings = [found[0] for found in best.values() if found]
        result["contestants"][contestant.name] = {
            "points": [{k: v for k, v in vars(p).items() if k != "slices"} for p in points],
            "best": {f"{error:.0e}": vars(found[0]) if found else None for error, found in best.items()},
            "setup": setup_time(contestant, case, settings[0]) if settings else None,
        }
    for contestant in contestants:
        contestant.worker.stop()
    return result


def measure_steps(contestants, case, effort):
    """The time of a step of each of those named."""
    say(case.title)
    by_name = {c.name: c for c in contestants}
    taken = {name: [] for name, _ in case.settings if name in by_name}
    for number in range(effort.rounds):
        for name, setting in case.settings:
            if name in by_name and number % LIFE == 0:
                by_name[name].worker.stop()
            if name not in by_name or case.name in by_name[name].failures:
                continue
            try:
                time = by_name[name].worker.ask("time", case.system, case.until, setting, effort.slice, patience=600)
            except Failed as failure:
                fail(by_name[name], case, str(failure))
                continue
            taken[name].append(time / case.steps)
    taken = {name: times for name, times in taken.items() if times}
    times = {name: slices.time(times) for name, times in taken.items()}
    return {"name": case.name, "title": case.title, "seconds": times, "slices": taken}


def measure_cores(worker, case, effort):
    """The time on the wall for each number of threads, by a worker that may use as many cores."""
    say(case.title)
    times = {}
    if len(worker.cores) < max(case.threads):
        return {"name": case.name, "title": case.title, "seconds": times, "absent": f"there are {len(worker.cores)} cores"}
    for _ in range(effort.rounds // 4):
        for threads in case.threads:
            question = ("wall", case.system, case.until, f"{case.setting}/{threads}", 0.0)
            try:
                time = worker.ask(*question, patience=600)
            except Failed as failure:
                return {"name": case.name, "title": case.title, "seconds": {}, "absent": str(failure)}
            # the shortest: this clock is never set back, and whoever else wants one of the cores only adds
            times[str(threads)] = min(times.get(str(threads), float("inf")), time)
    worker.stop()
    return {"name": case.name, "title": case.title, "seconds": times}
