"""The command: gathers contestants, measures the cases, writes JSON, pictures and the page of the book."""

import argparse
import json
import os
import pathlib
import signal
import sys

from . import environment, report
from .cases import CASES, CORES, STEPS
from .measure import FULL, QUICK, measure_case, measure_cores, measure_steps, say


def arguments():
    parser = argparse.ArgumentParser(prog="bench/run", description=__doc__)
    names = [case.name for case in (*CASES, *STEPS, *CORES)]
    parser.add_argument("--only", action="append", default=[], metavar="CASE", help="one of " + ", ".join(names))
    parser.add_argument("--peer", action="append", default=[], help="only these peers; may be repeated")
    parser.add_argument("--quick", action="store_true", help="few rounds and settings, for development; the book says so")
    parser.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)), help="the core to run on")
    parser.add_argument("--out", type=pathlib.Path, default=environment.BENCH / "out", help="folder for results")
    parser.add_argument("--book", action="store_true", help="write the page of the book and its pictures")
    parser.add_argument("--report", action="store_true", help="measure nothing, report the results of the last run again")
    chosen = parser.parse_args()
    if unknown := set(chosen.only) - set(names):
        parser.error(f"no such case: {', '.join(unknown)}; there are {', '.join(names)}")
    if chosen.book and (chosen.only or chosen.peer):
        parser.error("the book has all cases and peers: leave out --only and --peer")
    return chosen


def measure(chosen):
    """Everything that is to be measured, as data."""
    effort = QUICK if chosen.quick else FULL
    environment.write_ensemble()
    contestants, absent = environment.gather(chosen.core, chosen.peer)
    for name, reason in absent.items():
        say(f"{name} does not take part: {reason}")
    everywhere = environment.rust_worker("leastaction", os.sched_getaffinity(0))

    def wanted(cases):
        return [case for case in cases if not chosen.only or case.name in chosen.only]

    results = {
        "machine": environment.machine(),
        "quick": chosen.quick,
        "versions": {c.name: c.version for c in contestants},
        "absent": absent,
        "steps": [],
        "cores": [],
        "cases": [],
    }

    def keep(kind, result):
        results[kind].append(result)
        results["failures"] = {c.name: c.failures for c in contestants if c.failures}
        store(results, chosen.out)

    try:
        for case in wanted(STEPS):
            keep("steps", measure_steps(contestants, case, effort))
        for case in wanted(CORES):
            keep("cores", measure_cores(everywhere, case, effort))
        for case in wanted(CASES):
            keep("cases", measure_case(contestants, case, effort))
    finally:
        everywhere.stop()
        for contestant in contestants:
            contestant.worker.stop()
    return results


def store(results, folder):
    """After each case, so that what was measured is there if the run is ended."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "results.json").write_text(json.dumps(results, indent=1))


def stored(folder):
    path = folder / "results.json"
    if not path.exists():
        raise SystemExit(f"there is no {path} to report; a run without --report writes it")
    return json.loads(path.read_text())


def main():
    chosen = arguments()
    # a run that is ended ends its contestants
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))
    results = stored(chosen.out) if chosen.report else measure(chosen)
    print(report.text(results))
    report.pictures(results, chosen.out)
    if chosen.book:
        report.write_book(results, environment.ROOT / "book" / "src")


if __name__ == "__main__":
    main()
