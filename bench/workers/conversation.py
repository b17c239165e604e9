"""The conversation with the benchmark, as in peers/src/conversation.rs: one question a line, one answer a line.

A contestant is an object with `ready(system, until, setting)`, which makes something with `error()`, the largest relative
energy error of a run, and `run()`, which integrates and is timed. What a run needs anew is made by `reset()`.
"""

import sys
import time

# of each case, up to eight settings for each of three errors are asked for in turns
KEPT = 24


def typical(ready, budget):
    """The median of the runs that fit into a number of seconds; seconds that this thread worked. At least three, if that takes no
    more than ten times as long, and one at least."""
    times, spent = [], 0.0
    while True:
        ready.reset()
        start = time.thread_time()
        ready.run()
        times.append(time.thread_time() - start)
        spent += times[-1]
        if spent >= budget and (len(times) >= 3 or spent >= 10 * budget):
            return sorted(times)[(len(times) - 1) // 2]


def reply(contestant, line, kept):
    what, system, until, setting, *rest = line.split()
    key = (system, until, setting)
    if what == "setup":
        kept.pop(key, None)
    # by the clock: compilers have threads of their own
    start = time.perf_counter()
    # compiling takes long: what was made last is kept, since other questions about it follow
    if key not in kept:
        while len(kept) >= KEPT:
            kept.pop(next(iter(kept)))
        kept[key] = contestant.ready(system, float(until), setting)
    setup = time.perf_counter() - start
    ready = kept[key]
    if what == "setup":
        return setup
    ready.reset()
    return ready.error() if what == "error" else typical(ready, float(rest[0]))


def answer(contestant):
    """Answers until the input ends."""
    kept = {}
    for line in sys.stdin:
        try:
            text = f"ok {reply(contestant, line, kept):e}"
        except Exception as error:  # whatever a peer raises is told, and the benchmark goes on
            text = "fail " + f"{type(error).__name__}: {error}".replace("\n", " ")
        print(text, flush=True)
