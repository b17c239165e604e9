"""Tests of what the benchmark decides: python3 -m unittest discover bench. They need neither peers nor callgrind."""

import importlib.machinery
import importlib.util
import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from leastaction_bench import cases, contestants, measure  # noqa: E402


def script(name):
    loader = importlib.machinery.SourceFileLoader(name, str(HERE / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


class Counts(unittest.TestCase):
    judge = staticmethod(script("counts").judge)

    def test_more_instructions_are_slower(self):
        lines, slower = self.judge({"a": 1000, "b": 1000}, {"a": 1021, "b": 1019})
        self.assertTrue(slower)
        self.assertIn("SLOWER by 2.1 %", lines[0])
        self.assertNotIn("SLOWER", lines[1])

    def test_fewer_instructions_are_said_and_no_failure(self):
        lines, slower = self.judge({"a": 1000}, {"a": 900})
        self.assertFalse(slower)
        self.assertIn("faster by 10.0 %", lines[0])

    def test_what_is_not_stored_is_no_failure(self):
        lines, slower = self.judge({}, {"a": 900})
        self.assertFalse(slower)
        self.assertIn("not stored", lines[0])


class TimeToError(unittest.TestCase):
    @staticmethod
    def curve(*errors, name="c", slower=1):
        return [measure.Point(name, f"s{k}", e, slower * (k + 1)) for k, e in enumerate(errors)]

    def test_a_lucky_setting_does_not_count(self):
        points = self.curve(1e-6, 1e-9, 1e-7, 1e-9, 1e-10, 1e-11)
        self.assertEqual(measure.fastest(points, 1e-8)[0].setting, "s3")

    def test_curves_are_judged_apart(self):
        points = self.curve(1e-6, 1e-9, name="a") + self.curve(1e-3, 1e-9, 1e-9, name="b", slower=10)
        found = measure.fastest(points, 1e-8)[0]
        self.assertEqual((found.curve, found.setting), ("a", "s1"))

    def test_an_error_that_is_not_reached(self):
        self.assertEqual(measure.fastest(self.curve(1e-6, 1e-7), 1e-8), [])


class Settings(unittest.TestCase):
    def test_every_curve_has_settings_of_its_own(self):
        for case in cases.CASES:
            for curves in (contestants.heyoka, contestants.leastaction(["splitting"]), contestants.tolerance_curves("a", "b")):
                for name, settings in curves(case).items():
                    # asked for after all curves were made, as the benchmark does
                    self.assertEqual(next(iter(settings)).split(":")[0], name.split(",")[0])


if __name__ == "__main__":
    unittest.main()
