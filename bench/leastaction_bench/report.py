"""What was measured, as text, as pictures and as a page of the book."""

import math

from . import plots

OURS = "leastaction"
# peers that are no competitors but show the scale
YARDSTICK = "rk4"


def seconds(time):
    if time is None:
        return "–"
    for unit, size in (("s", 1), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9)):
        if time >= size:
            digits = max(0, 2 - math.floor(math.log10(time / size)))
            return f"{time / size:.{digits}f} {unit}"
    return f"{time:.1e} s"


def best_time(case, name, error):
    found = case["contestants"].get(name, {}).get("best", {}).get(f"{error:.0e}")
    return found and found["time"]


def best_peer(case, error):
    """The fastest peer that reaches an error, and its time."""
    times = {n: best_time(case, n, error) for n in case["contestants"] if n not in (OURS, YARDSTICK)}
    reached = {n: t for n, t in times.items() if t is not None}
    return min(reached.items(), key=lambda item: item[1], default=(None, None))


def ratio(case, error):
    ours, (_, peer) = best_time(case, OURS, error), best_peer(case, error)
    return ours / peer if ours is not None and peer is not None else None


def ratio_text(case, error):
    value = ratio(case, error)
    if value is not None:
        return f"{value:.2f}"
    ours, (_, peer) = best_time(case, OURS, error), best_peer(case, error)
    if ours is not None:
        return "only we reach it"
    return "not reached by us" if peer is not None else "not reached"


def table(rows):
    """A table in Markdown, aligned so that it reads as text as well."""
    widths = [max(len(str(row[k])) for row in rows) for k in range(len(rows[0]))]
    lines = ["| " + " | ".join(str(x).ljust(w) for x, w in zip(row, widths)) + " |" for row in rows]
    lines.insert(1, "|" + "|".join("-" * (w + 2) for w in widths) + "|")
    return "\n".join(lines)


def ratios(results):
    rows = [["case", "energy error", "leastaction", "setting", "best peer", "its time", "its setting", "ratio"]]
    for case in results["cases"]:
        for error in case["errors"]:
            peer, time = best_peer(case, error)
            ours = case["contestants"].get(OURS, {}).get("best", {}).get(f"{error:.0e}")
            theirs = peer and case["contestants"][peer]["best"][f"{error:.0e}"]
            rows.append(
                [case["title"], f"{error:.0e}", seconds(ours and ours["time"]), ours["setting"] if ours else "–",
                 peer or "–", seconds(time), theirs["setting"] if theirs else "–", ratio_text(case, error)]
            )  # fmt: skip
    return table(rows)


def everybody(results, case):
    """All contestants of a case."""
    rows = [["contestant", *(f"{error:.0e}" for error in case["errors"]), "getting ready"]]
    for name, found in case["contestants"].items():
        times = [seconds(best_time(case, name, error)) for error in case["errors"]]
        rows.append([name, *times, seconds(found["setup"])])
    return table(rows)


def steps(results):
    rows = [["what", "contestant", "one step", "leastaction ÷ it"]]
    for case in results["steps"]:
        for name, time in case["seconds"].items():
            ours = case["seconds"].get(OURS)
            rows.append([case["title"], name, seconds(time), f"{ours / time:.3g}" if ours else "–"])
    return table(rows)


def losses(results):
    """Where a peer is faster, or reaches what we do not."""
    found = []
    for case in results["cases"]:
        for error in case["errors"]:
            value, (peer, time) = ratio(case, error), best_peer(case, error)
            if value is not None and value > 1:
                found.append(f"- {case['title']}, {error:.0e}: {peer} is {value:.2f} × faster.")
            elif value is None and peer is not None:
                found.append(f"- {case['title']}, {error:.0e}: {peer} reaches it in {seconds(time)}, we do not.")
    return "\n".join(found) or "Nowhere in this run."


def not_there(results):
    lines = [f"- {name}: {reason}" for name, reason in results["absent"].items()]
    titles = {case["name"]: case["title"] for case in (*results["cases"], *results["steps"])}
    for name, failures in results["failures"].items():
        lines += [f"- {name}, {titles.get(case, case)}: {reason}" for case, reason in failures.items()]
    return "\n".join(lines) or "Everybody took part in everything that was asked of them."


def text(results):
    parts = [ratios(results)] if results["cases"] else []
    parts += [f"{case['title']}\n\n{everybody(results, case)}" for case in results["cases"]]
    if results["steps"]:
        parts.append(steps(results))
    parts += ["Where we lose\n\n" + losses(results), "Who did not take part\n\n" + not_there(results)]
    return "\n\n".join(parts)


def pictures(results, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for case in results["cases"]:
        plots.work_precision(case, folder / f"bench-{case['name']}.svg")


def versions(results):
    machine = results["machine"]
    rows = [["what", "version"], *([name, version or "of this repository"] for name, version in results["versions"].items())]
    rows += [["rustc", machine["rustc"]], ["Python", machine["python"]]]
    return f"{machine['processor']}, {machine['vectors']}, {machine['system']}; one core.\n\n{table(rows)}"


PAGE = """\
# Benchmarks

This page is written by `bench/run --book`; every number on it is of one run on one machine.

The same work is done by leastaction and by its peers: each reads or is given the same system and runs it for the same time.
What counts is the time to reach an energy error: the largest relative error over the whole run, for the fastest setting that
reaches it, and only if the next tighter settings reach it as well. Each contestant is a process of its own on the same core,
only one works at a time, they take turns, and the shortest of many runs counts. Times are of the integration alone; getting
ready (parsing, deriving, compiling) is listed apart. Systems are given to leastaction as text files (`bench/systems`). Peers
get equations of motion in the form that is fastest for them, and the best of their flags.

The ratio is our time divided by that of the best peer: below 1 we are faster.

{ratios}

## Where we lose

{losses}

## Single steps

{steps}

## All contestants

{cases}

## Who did not take part

{absent}

## Machine and versions

{versions}

The yardstick `rk4` is the classical Runge–Kutta method written by hand in Rust for each system. How to run the benchmark, and
how each peer is used, is said in `bench/README.md`.
"""


def write_book(results, source):
    pictures(results, source / "pictures")
    sections = [
        f"### {case['title'][0].upper()}{case['title'][1:]}\n\n{everybody(results, case)}\n\n"
        f"![Energy error against time: {case['title']}](pictures/bench-{case['name']}.svg)"
        for case in results["cases"]
    ]
    page = PAGE.format(
        ratios=ratios(results), losses=losses(results), steps=steps(results), cases="\n\n".join(sections),
        absent=not_there(results), versions=versions(results),
    )  # fmt: skip
    (source / "benchmarks.md").write_text(page)
