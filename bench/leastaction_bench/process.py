"""A contestant as a process of its own, pinned to one core or some, that answers questions; only one works at a time."""

import os
import selectors
import subprocess


class Failed(Exception):
    """A contestant could not answer; it may answer other questions."""


class Worker:
    def __init__(self, command, cores):
        self.command, self.cores = command, cores
        self.process = None

    def ask(self, *question, patience):
        """The number that answers a question."""
        return float(self.words(*question, patience=patience)[0])

    def words(self, what, system, until, setting, *rest, patience):
        """The words that answer a question. A contestant that takes too long is ended and started anew."""
        if self.process is None or self.process.poll() is not None:
            self.start()
        question = " ".join(str(word) for word in (what, system, repr(until), setting, *rest))
        try:
            self.process.stdin.write(question + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise Failed("it ended") from None
        kind, _, answer = self.line(patience).partition(" ")
        if kind != "ok":
            raise Failed(answer or "it ended without a word")
        return answer.split()

    def start(self):
        self.process = subprocess.Popen(
            self.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            preexec_fn=lambda: os.sched_setaffinity(0, self.cores),
            env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )

    def line(self, patience):
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            if not selector.select(patience):
                self.stop()
                raise Failed(f"no answer within {patience} s")
        return self.process.stdout.readline().strip()

    def stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None
