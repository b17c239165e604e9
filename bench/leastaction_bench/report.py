"""What was measured, as text, as pictures and as a page of the book."""

import math

from . import plots, slices
from .cases import CASES, CORES, STEPS
from .contestants import OURS, SCAN
from .targets import best_peer, best_time, ratio, reasons, spread_to, steps_ratio, verdicts


def seconds(time):
    if time is None:
        return "–"
    for unit, size in (("s", 1), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9)):
        if time >= size:
            digits = max(0, 2 - math.floor(math.log10(time / size)))
            return f"{time / size:.{digits}f} {unit}"
    return f"{time:.1e} s"


def ratio_text(case, error):
    ours, (name, peer) = best_time(case, OURS, error), best_peer(case, error)
    spread = spread_to(case, name, error)
    if spread is not None:
        return slices.text(spread)
    if ours is not None:
        return "only we reach it"
    return "not reached by us" if peer is not None else "not reached"


def table(rows):
    """A table in Markdown, aligned so that it reads as text as well."""
    widths = [max(len(str(row[k])) for row in rows) for k in range(len(rows[0]))]
    lines = ["| " + " | ".join(str(x).ljust(w) for x, w in zip(row, widths)) + " |" for row in rows]
    lines.insert(1, "|" + "|".join("-" * (w + 2) for w in widths) + "|")
    return "\n".join(lines)


def time_and_setting(case, name, error):
    found = name and case["contestants"].get(name, {}).get("best", {}).get(f"{error:.0e}")
    return f"{seconds(found['time'])} ({found['setting']})" if found else "–"


def ratios(results):
    rows = [["case", "energy error", "leastaction", "best peer", "its time", "ratio", "our best setting"]]
    for case in results["cases"]:
        for error in case["errors"]:
            peer, _ = best_peer(case, error)
            rows.append(
                [case["title"], f"{error:.0e}", time_and_setting(case, OURS, error), peer or "–",
                 time_and_setting(case, peer, error), ratio_text(case, error), time_and_setting(case, SCAN, error)]
            )  # fmt: skip
    return table(rows)


def must_show(results):
    """The targets, and whether they are met."""
    rows = [["case", "against", "measured", "target", "met"]]
    for v in verdicts(results):
        rows.append([v.title, v.against, v.measured, v.bound, {True: "yes", False: "no", None: "–"}[v.met]])
    why = "\n".join(f"- {reason}" for reason in reasons(results))
    return f"{table(rows)}\n\nWhy some are missed:\n\n{why}" if why else table(rows)


def everybody(results, case):
    """All contestants of a case."""
    rows = [["contestant", *(f"{error:.0e}" for error in case["errors"]), "getting ready", "picking a setting"]]
    for name, found in case["contestants"].items():
        times = [seconds(best_time(case, name, error)) for error in case["errors"]]
        picking = [seconds(p["picking"]) for p in found["points"] if p["picking"] is not None]
        rows.append([name, *times, seconds(found["setup"]), ", ".join(picking)])
    return table(rows)


def steps(results):
    rows = [["what", "contestant", "one step", "leastaction ÷ it"]]
    for case in results["steps"]:
        for name, time in case["seconds"].items():
            value = steps_ratio(case, name)
            rows.append([case["title"], name, seconds(time), f"{value:.3g}" if value else "–"])
    return table(rows)


def cores(results):
    rows = [["what", "threads", "time on the wall", "one thread ÷ it"]]
    for case in results["cores"]:
        for threads, time in case["seconds"].items():
            rows.append([case["title"], threads, seconds(time), f"{case['seconds']['1'] / time:.2f}"])
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
    """Who could not take part at all, and where others failed."""
    lines = [f"- {name}: {reason}" for name, reason in results["absent"].items()]
    lines += [f"- {case['title']}: {case['absent']}" for case in results["cores"] if "absent" in case]
    titles = {case["name"]: case["title"] for case in (*results["cases"], *results["steps"])}
    for name, failures in results["failures"].items():
        lines += [f"- {name}, {titles[case]}: {reason}" for case, reasons in failures.items() for reason in reasons]
    return "\n".join(lines) or "Everybody took part in everything that was asked of them."


def not_run(results):
    """Cases that this run does not have, because it was of some alone or was ended."""
    there = {case["name"] for kind in ("cases", "steps", "cores") for case in results[kind]}
    return [case.title for case in (*CASES, *STEPS, *CORES) if case.name not in there]


def remarks(results):
    """What a reader of the page must know of the run."""
    said = []
    if results["quick"]:
        said.append(
            " **This was a quick run**: of the settings of peers only every third was tried, which makes them slower than they are, and"
            " there were few repetitions. Its ratios are no result; a target that it would meet is not counted as met."
        )
    if missing := not_run(results):
        said.append(" Not in this run: " + "; ".join(missing) + ".")
    return "".join(said)


def text(results):
    parts = [ratios(results)] if results["cases"] else []
    parts += [f"{case['title']}\n\n{everybody(results, case)}" for case in results["cases"]]
    if results["steps"]:
        parts.append(steps(results))
    if results["cores"]:
        parts.append(cores(results))
    if results["cases"]:
        parts.append("Where we lose\n\n" + losses(results))
    parts += ["What failed\n\n" + not_there(results), "What it must show\n\n" + must_show(results)]
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

This page is written by `bench/run --book`; every number on it was measured on one machine, and all contestants of a case in one run.{remarks}

The same work is done by leastaction and by its peers: each reads or is given the same system and runs it for the same time.
What counts is the time to reach an energy error: the largest relative error over the whole run. leastaction is asked for that
error with `--tolerance` and runs with the method and the step that it picks; a run that misses the error does not count. For peers it is
the fastest setting that reaches it, if the next tighter settings reach it as well. Each contestant is a process of its own on the same core,
only one works at a time. They take turns of some milliseconds; the median of the runs of a turn is taken, and of many turns the lower quartile. Times are of the integration alone; getting
ready (parsing, deriving, compiling) and picking a setting are listed apart. Systems are given to leastaction as text files (`bench/systems`). Peers
get equations of motion in the form that is fastest for them, and the best of their flags; `heyoka, as typed` gets the Lagrangian of the same text.

The ratio is our time divided by that of the best peer: below 1 we are faster. It is taken round by round, so that both are seen in the same
fast and slow periods of the machine; the median counts, and the quartiles are in brackets where they differ. Settings are in brackets: method, number of steps and
tolerance for leastaction. Our best setting is that of a scan over methods and numbers of steps, as it is made for peers: what
there is to gain by picking better.

{ratios}

## What it must show

The ratios that the project has set itself; two of them are the other way round, as written.

{targets}

## Where we lose

{losses}

## Single steps

{steps}

## Two cores

{cores}

## All contestants

{cases}

## What failed

{absent}

## Machine and versions

{versions}

The yardsticks are written by hand in Rust: `rk4`, the classical Runge–Kutta method, for each system, and `splitting by hand`, a
symplectic Nyström method of order 6, for the chains, as the compiler makes it for every processor of the kind and with AVX2. How to run the benchmark, and
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
        absent=not_there(results), versions=versions(results), cores=cores(results), targets=must_show(results),
        remarks=remarks(results),
    )  # fmt: skip
    (source / "benchmarks.md").write_text(page)
