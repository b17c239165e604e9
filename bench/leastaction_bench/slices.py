"""What is made of times that were measured in slices, a slice a round: the time of one, and the ratio of two.

A slice is the median of some runs. The shortest run would be no time at all: where processors are virtual, the clock of processor time is
set back by what others were given, and that may be put down to a run that was not disturbed, or not for so long.
"""

import statistics


def quartiles(values):
    """The lower quartile, the median and the upper quartile."""
    if len(values) < 2:
        return (values[0],) * 3
    return tuple(statistics.quantiles(values, n=4, method="inclusive"))


def time(slices):
    """The lower quartile: slow periods may take up to three quarters of the rounds, times that are too short up to a quarter."""
    return quartiles([t for t in slices if t is not None])[0]


def ratios(ours, theirs):
    """Quartiles of the ratios round by round, so that both are seen in the same periods; None if they share no round."""
    found = [a / b for a, b in zip(ours or (), theirs or ()) if a is not None and b is not None]
    return quartiles(found) if found else None


def text(spread):
    """The median, with the quartiles in brackets where they can be told apart."""
    low, middle, high = (f"{value:.2f}" for value in spread)
    return middle if low == high else f"{middle} ({low}–{high})"
