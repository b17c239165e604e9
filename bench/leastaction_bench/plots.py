"""Work-precision diagrams: energy error against time, one line for the best settings of each contestant."""

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402 (the backend has to be chosen first)

plt.rcParams.update({"svg.hashsalt": "leastaction", "font.size": 9})


def front(points):
    """The points that no other one beats in both time and error."""
    kept = []
    for point in sorted(points, key=lambda p: p["time"]):
        if not kept or point["error"] < kept[-1]["error"]:
            kept.append(point)
    return kept


def work_precision(case, path):
    figure, axes = plt.subplots(figsize=(6, 4))
    for name, found in case["contestants"].items():
        points = front(p for p in found["points"] if 1e-17 < p["error"] < 1e-2)
        ours = name == "leastaction"
        axes.loglog(
            [p["time"] for p in points],
            [p["error"] for p in points],
            marker="o",
            markersize=3,
            linewidth=2 if ours else 1,
            label=name,
            color="black" if ours else None,
            zorder=3 if ours else 2,
        )
    axes.set_xlabel("time of the integration [s]")
    axes.set_ylabel("largest relative energy error")
    axes.set_title(case["title"])
    axes.grid(True, which="major", linewidth=0.3)
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
