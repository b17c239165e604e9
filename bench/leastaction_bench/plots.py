"""Work-precision diagrams: energy error against time, one line for the best settings of each contestant."""

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402 (the backend has to be chosen first)

from .contestants import HEYOKA, HEYOKA_TYPED, OURS, RK4, SCAN, SPLITTING, SPLITTING_AVX2  # noqa: E402

plt.rcParams.update({"svg.hashsalt": "leastaction", "font.size": 9})

# colours that can be told apart by everybody (Okabe and Ito), and a mark for each as well
LOOKS = {
    OURS: ("black", "o", "none"),
    SCAN: ("black", ".", "--"),
    HEYOKA: ("#D55E00", "s", "-"),
    HEYOKA_TYPED: ("#D55E00", "s", ":"),
    "scipy": ("#0072B2", "^", "-"),
    "ode_solvers": ("#009E73", "v", "-"),
    "differential-equations": ("#CC79A7", "D", "-"),
    "diffsol": ("#56B4E9", "<", "-"),
    "russell_ode": ("#E69F00", ">", "-"),
    "mujoco": ("#B8A500", "P", "-"),
    RK4: ("#999999", "x", ":"),
    SPLITTING: ("#666666", "+", ":"),
    SPLITTING_AVX2: ("#666666", "1", ":"),
}


def front(points):
    """The points that no other one beats in both time and error."""
    kept = []
    for point in sorted(points, key=lambda p: p["time"]):
        if not kept or point["error"] < kept[-1]["error"]:
            kept.append(point)
    return kept


def work_precision(case, path):
    figure, axes = plt.subplots(figsize=(7.5, 4.2), layout="constrained")
    for name, found in case["contestants"].items():
        points = [p for p in found["points"] if 1e-17 < p["error"] < 1e-2]
        # what is picked is shown as it is, also where another point is better
        points = points if name == OURS and points and points[0]["asked"] else front(points)
        colour, mark, line = LOOKS.get(name, ("#444444", "*", "-"))
        ours = name == OURS
        if ours and points and not points[0]["asked"]:
            line = "-"
        axes.loglog(
            [p["time"] for p in points],
            [p["error"] for p in points],
            marker=mark,
            markersize=8 if ours else 4,
            linestyle=line,
            linewidth=1.2,
            label=name,
            color=colour,
            zorder=3 if ours else 2,
        )
    axes.set_xlabel("time of the integration [s]")
    axes.set_ylabel("largest relative energy error")
    axes.set_title(case["title"])
    axes.grid(True, which="major", linewidth=0.3)
    figure.legend(loc="outside right upper")
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
