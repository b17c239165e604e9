"""Pictures are drawn, and show what they should; how they look was looked at."""

import matplotlib as mpl
import numpy as np
import pytest

import leastaction as la

mpl.use("agg")


@pytest.mark.parametrize("system", ["pendulum", "double-pendulum", "lagrange-top", "henon-heiles", "outer-solar-system"])
def test_overviews(system, tmp_path):
    figure = la.simulate(system).plot()
    assert [axes.get_title() for axes in figure.axes] == ["motion", "coordinates", "phase portrait", "invariants"]
    figure.savefig(tmp_path / "x.png")
    assert (tmp_path / "x.png").stat().st_size > 10_000


def test_long_runs_keep_their_extremes():
    found = la.simulate("double-pendulum", until=1000, step=0.01)
    (line,) = (x for x in found.plot("invariants").axes[0].lines if x.get_label() == "energy")
    assert len(line.get_ydata()) <= 10_000
    assert np.abs(line.get_ydata()).max() == np.abs(found.energy_error).max()


def test_panels_go_into_given_axes():
    import matplotlib.pyplot as plt

    found = la.simulate("pendulum", until=1)
    _, axes = plt.subplots()
    assert found.plot("series", axes=axes) is axes.figure
    with pytest.raises(la.InputError, match="no plot 'nothing'"):
        found.plot("nothing")
    with pytest.raises(la.InputError, match="nothing was recorded"):
        la.simulate("pendulum", until=1, every=0).plot()


def traced():
    def positions(q, p):
        return np.stack([p.l * np.cumsum(np.sin(q)), -p.l * np.cumsum(np.cos(q))], axis=-1)

    def lagrangian(q, v, p):
        vx, vy = p.l * np.cumsum(np.cos(q) * v), p.l * np.cumsum(np.sin(q) * v)
        return 0.5 * np.sum(vx**2 + vy**2) + 9.81 * p.l * np.sum(np.cumsum(np.cos(q)))

    return la.System(lagrangian, n=2, parameters={"l": 0.5}, positions=positions, links="chain")


def test_traced_systems_say_how_they_are_drawn():
    found = la.simulate(traced(), q=1, v=0, until=1)
    places = found.positions()
    assert places.shape == (101, 2, 3)
    np.testing.assert_allclose(places[:, 0, 0], 0.5 * np.sin(found.q[:, 0]), atol=1e-15)
    assert found.positions([0.5]).shape == (1, 2, 3)
    assert found._core.bodies()[1] == [(-1, 0), (0, 1)]
    with pytest.raises(la.InputError, match="where its bodies are"):
        la.simulate(la.System(lambda q, v: v @ v - q @ q, n=2), q=1, v=0, until=1).positions()


@pytest.mark.parametrize("system", ["lagrange-top", "henon-heiles", traced, lambda: la.System(lambda q, v: v @ v - q @ q, n=1)])
def test_animations(system, tmp_path):
    system = system if isinstance(system, str) else system()
    start = {} if isinstance(system, str) else {"q": 1, "v": 0}
    movie = la.simulate(system, until=2, **start).animate(seconds=0.3, fps=10)
    assert movie.save(tmp_path / "x.gif").read_bytes()[:4] == b"GIF8"
    assert "<img" in movie._repr_html_()
    with pytest.raises(la.InputError, match=r"\.gif, \.html or \.mp4"):
        movie.save(tmp_path / "x.avi")


def test_a_film_without_ffmpeg_is_told(tmp_path, monkeypatch):
    from matplotlib.animation import writers

    monkeypatch.setattr(writers, "is_available", lambda name: name != "ffmpeg")
    movie = la.simulate("pendulum", until=1).animate(seconds=0.3, fps=10)
    with pytest.raises(la.InputError, match=r"needs the program ffmpeg.*\.gif"):
        movie.save(tmp_path / "x.mp4")
    movie.save(tmp_path / "x.gif")


def test_driven_systems_are_compared_by_their_energies():
    driven = la.System(lambda q, v, t: v @ v / 2 - q @ q / 2 + q[0] * np.cos(2 * t), n=1)
    runs = [la.simulate(driven, q=1, v=0, until=5, step=step, method="gauss4") for step in (0.1, 0.05)]
    lower = la.compare(runs).axes[1]
    assert lower.get_ylabel() == "energy (not conserved)"
    assert lower.get_yscale() == "linear"
    np.testing.assert_array_equal(lower.lines[0].get_ydata(), runs[0].energy)
    free = [la.simulate("pendulum", until=1)]
    assert la.compare(free).axes[1].get_yscale() == "log"


def test_traces_are_round_where_frames_are_few():
    """Eight points for each of two frames would be a polygon."""
    movie = la.simulate("double-pendulum", until=1).animate(seconds=0.2, fps=10, trace=1)
    movie.animation._func(1)
    trace = movie.figure.axes[0].lines[0].get_xydata()
    assert len(trace) == 51
    movie._repr_html_()


def test_comparisons():
    runs = [la.simulate("pendulum", until=5, method=method) for method in ("midpoint", "simpson")]
    figure = la.compare(runs)
    assert [text.get_text() for text in figure.axes[1].get_legend().get_texts()] == [
        *(f"{run.summary['method']}, h = {run.summary['step']:.4g}" for run in runs)
    ]
    assert la.compare({"a": runs[0]}, coordinate="q").axes[0].get_ylabel() == "q"
    with pytest.raises(la.InputError, match="nothing to compare"):
        la.compare([])
    with pytest.raises(la.InputError, match="different coordinates"):
        la.compare([runs[0], la.simulate("kepler", until=1)])
    assert len(la.converge("pendulum", until=1, methods=["simpson"]).plot().axes) == 3
