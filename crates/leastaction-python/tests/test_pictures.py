"""Pictures are drawn, and show what they should; how they look was looked at."""

import matplotlib as mpl
import numpy as np
import pytest

import leastaction as la

mpl.use("agg")


@pytest.fixture(autouse=True)
def _closed():
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


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
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == [
        *(f"{run.summary['method']}, h = {run.summary['step']:.4g}" for run in runs)
    ]
    assert la.compare({"a": runs[0]}, coordinate="q").axes[0].get_ylabel() == "q [rad]"
    with pytest.raises(la.InputError, match="nothing to compare"):
        la.compare([])
    with pytest.raises(la.InputError, match="different coordinates"):
        la.compare([runs[0], la.simulate("kepler", until=1)])
    assert len(la.converge("pendulum", until=1, methods=["simpson"]).plot().axes) == 3


def boxes(figure):
    """What the legends cover, and the numbers beside axes, as boxes of pixels."""
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    return renderer, [(axes, axes.get_legend().get_window_extent(renderer)) for axes in figure.axes if axes.get_legend()]


@pytest.mark.parametrize("system", ["double-pendulum", "n-pendulum", "outer-solar-system", "fput", "cart-pole"])
def test_legends_hide_no_line(system):
    figure = la.simulate(system).plot()
    _, legends = boxes(figure)
    assert legends
    assert all(figure.bbox.padded(1).contains(*corner) for _, box in legends for corner in box.corners())
    for axes, box in legends:
        if axes.name == "3d":
            continue
        for line in axes.lines:
            points = axes.transData.transform(line.get_xydata())
            assert not box.count_contains(points), f"{axes.get_title()}: {line.get_label()}"


@pytest.mark.parametrize("system", ["outer-solar-system", "lagrange-top", "charged-particle"])
def test_numbers_of_axes_do_not_overlap(system):
    figure = la.simulate(system).plot()
    renderer, _ = boxes(figure)
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            texts = [tick.label1 for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
            found = [text.get_window_extent(renderer) for text in texts if text.get_text()]
            assert not any(a.overlaps(b) for k, a in enumerate(found) for b in found[:k]), axes.get_title()


def test_axes_tell_their_units():
    figure = la.simulate("double-pendulum").plot()
    labels = [(axes.get_xlabel(), axes.get_ylabel()) for axes in figure.axes]
    assert labels == [("x [m]", "y [m]"), ("t [s]", "q [rad]"), ("q [rad]", "p [J s]"), ("t [s]", "relative change")]
    one = la.simulate("harmonic-oscillator").plot("motion").axes[0]
    assert (one.get_xlabel(), one.get_ylabel()) == ("q [m]", "v_q [m/s]")
    assert la.simulate("charged-particle").plot("motion").axes[0].get_zlabel() == "z [m]"


def test_a_comparison_does_not_begin_at_the_error_of_the_start():
    """It is zero there, which made the scale reach down to 1e-17 whatever the errors were."""
    lower = la.compare([la.simulate("double-pendulum", until=5, method="midpoint", step=0.02)]).axes[1]
    assert lower.get_ylim()[0] > 1e-13


def test_bodies_are_drawn_over_their_sphere():
    axes = la.simulate("lagrange-top").plot("motion").axes[0]
    assert not axes.computed_zorder
    sphere = min(x.get_zorder() for x in axes.collections)
    assert all(line.get_zorder() > sphere for line in axes.lines)


@pytest.mark.parametrize(
    ("axes", "message"),
    [(lambda plt: plt.subplots()[1], "projection"), (lambda plt: plt.subplots(1, 2)[1], "one Axes"), (lambda plt: "axes", "one Axes")],
)
def test_axes_that_cannot_be_drawn_into_are_told(axes, message):
    import matplotlib.pyplot as plt

    with pytest.raises((la.InputError, TypeError), match=message):
        la.simulate("lagrange-top", until=1).plot("motion", axes=axes(plt))
