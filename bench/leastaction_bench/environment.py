"""What the contestants are made of: builds those in Rust, finds out versions, describes the machine."""

import csv
import functools
import importlib.metadata
import json
import math
import pathlib
import platform
import re
import subprocess
import sys
import tomllib

from . import contestants as who
from .contestants import Contestant
from .process import Worker

BENCH = pathlib.Path(__file__).resolve().parent.parent
ROOT = BENCH.parent
SYSTEMS = BENCH / "systems"
PEERS = BENCH / "peers"

# contestants in Rust: name, binary, feature, curves
RUST = [
    (who.RK4, "rk4", None, who.one_trajectory(who.rk4)),
    (who.SPLITTING, "splitting", None, who.splitting("split6")),
    (who.SPLITTING_AVX2, "splitting", None, who.splitting("split6+avx2")),
    ("ode_solvers", "ode_solvers", "ode_solvers", who.tolerance_curves("dop853")),
    ("differential-equations", "differential-equations", "differential-equations", who.tolerance_curves("dop853", "rkv988e")),
    ("diffsol", "diffsol", "diffsol", who.tolerance_curves("tsit45")),
    ("russell_ode", "russell_ode", "russell_ode", who.tolerance_curves("dopri8")),
]
# contestants in Python: name, worker and what it is called with, packages they need, curves
PYTHON = [
    (who.HEYOKA, ("heyoka_worker",), ("heyoka",), who.heyoka),
    (who.HEYOKA_TYPED, ("heyoka_worker", "typed"), ("heyoka",), who.heyoka_typed),
    ("scipy", ("scipy_worker",), ("scipy", "numba"), who.tolerance_curves("dop853", "lsoda")),
    ("mpmath", ("mpmath_worker",), ("mpmath", "gmpy2"), lambda case: {}),
    ("mujoco", ("mujoco_worker",), ("mujoco",), who.mujoco),
]


def build(contestants):
    """Builds contestants, rows (name, binary, feature, …); name → why not, for those that cannot be built.

    All at once; if that fails, one by one, so that one that cannot be built leaves the others alone.
    """
    if not cargo(dict.fromkeys(c[1] for c in contestants), [c[2] for c in contestants if c[2]]):
        return {}
    reasons = {name: cargo([binary], [feature] if feature else []) for name, binary, feature, *_ in contestants}
    return {name: reason for name, reason in reasons.items() if reason}


def cargo(binaries, features):
    """Builds binaries; the reason why not, if they cannot be built."""
    command = ["cargo", "build", "--release", "--locked", "--quiet", "--features", ",".join(features)]
    for binary in binaries:
        command += ["--bin", binary]
    done = subprocess.run(command, cwd=PEERS, capture_output=True, text=True)
    if done.returncode == 0:
        return None
    said = [line for line in done.stderr.splitlines() if re.match(r"\s*(error|thread|.*not found)", line)]
    return (said or done.stderr.splitlines() or ["cargo failed"])[0].strip()


def locked_version(package):
    lock = tomllib.loads((PEERS / "Cargo.lock").read_text())
    return next((p["version"] for p in lock["package"] if p["name"] == package), "")


def rust_worker(binary, cores):
    return Worker([PEERS / "target" / "release" / binary, SYSTEMS], cores)


def fitting(system):
    """The methods of leastaction that fit a system."""
    file = "double-pendulum-from-rest" if system == "ensemble" else system
    command = [PEERS / "target" / "release" / "leastaction", SYSTEMS, "methods", file]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def gather(core, only=()):
    """All contestants that can take part, and why others cannot."""
    missing = json.loads((BENCH / ".venv" / "environment.json").read_text())["missing"]
    present = []

    def wanted(name):
        # both of heyoka go by its name
        return not only or {name, name.partition(",")[0]} & set(only) or name in who.YARDSTICKS

    rust = [row for row in RUST if wanted(row[0])]
    absent = build([(who.OURS, "leastaction", None), *rust])
    if who.OURS in absent:
        raise SystemExit(f"leastaction itself cannot be built: {absent[who.OURS]}")
    version = locked_version("leastaction")
    for name, picks in ((who.OURS, True), (who.SCAN, False)):
        curves = who.leastaction(functools.cache(fitting), lambda case, picks=picks: case.picked != picks)
        present.append(Contestant(name, rust_worker("leastaction", {core}), curves, version, picks))
    for name, binary, feature, curves in rust:
        if name not in absent:
            present.append(Contestant(name, rust_worker(binary, {core}), curves, locked_version(feature or "")))
    for name, (script, *words), packages, curves in PYTHON:
        if not wanted(name):
            continue
        lacking = [f"{p}: {missing[p]}" for p in packages if p in missing]
        if lacking:
            absent[name] = "; ".join(lacking)
        else:
            worker = Worker([sys.executable, BENCH / "workers" / f"{script}.py", SYSTEMS, *words], {core})
            present.append(Contestant(name, worker, curves, importlib.metadata.version(packages[0])))
    return present, absent


def write_ensemble():
    """The initial angles of the ensemble: a sequence that fills the square (-pi, pi)² evenly (Roberts, 2018)."""
    root = 1.32471795724474602596  # the real root of x³ = x + 1
    made = SYSTEMS / "ensemble.csv.new"
    with open(made, "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["q1", "q2"])
        for k in range(1, 10_001):
            rows.writerow([repr(math.tau * ((k * share) % 1.0 - 0.5)) for share in (1 / root, 1 / root**2)])
    # at once, because another run may be reading it
    made.replace(SYSTEMS / "ensemble.csv")


def machine():
    """The processor and the tools, without names of hosts or people."""
    try:
        text = pathlib.Path("/proc/cpuinfo").read_text()
        processor = re.search(r"model name\s*: (.*)", text).group(1)
        flags = re.search(r"flags\s*: (.*)", text).group(1).split()
    except (OSError, AttributeError):
        processor, flags = platform.processor(), []
    rustc = subprocess.run(["rustc", "--version"], capture_output=True, text=True, cwd=ROOT).stdout.split()
    return {
        "processor": processor,
        "vectors": "AVX-512" if "avx512f" in flags else "AVX2" if "avx2" in flags else "SSE2",
        "system": platform.system(),
        "python": platform.python_version(),
        "rustc": rustc[1] if len(rustc) > 1 else "",
    }
