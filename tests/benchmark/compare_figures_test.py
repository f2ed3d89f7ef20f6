"""Rows of two builds are compared where both have them."""

import json
import os
import tempfile
import unittest

import compare_figures


def write_benchmark(folder, **step_ms):
    """An overlap_benchmark that reports these steps."""
    results = [{"run_name": f"{name}/iterations:1", "aggregate_name": aggregate,
                "step_ms": value, "slow_step_ms": 2 * value}
               for name, value in step_ms.items() for aggregate in ("median", "quartile1")]
    path = f"{folder}/overlap_benchmark"
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\necho '{json.dumps({'benchmarks': results})}'\n")
    os.chmod(path, 0o755)


class CompareFiguresTest(unittest.TestCase):

    def overlap_ratios(self, old_ms, new_ms):
        with tempfile.TemporaryDirectory() as old, tempfile.TemporaryDirectory() as new:
            write_benchmark(old, **old_ms)
            write_benchmark(new, **new_ms)
            return compare_figures.ratios_of(compare_figures.overlap, old, new, pairs=2)

    def test_a_shorter_step_is_better(self):
        ratios, left_out = self.overlap_ratios({"AllReduce": 30}, {"AllReduce": 20})
        self.assertEqual(ratios, {"AllReduce, a step": [1.5, 1.5],
                                  "AllReduce, a slow step": [1.5, 1.5]})
        self.assertEqual(left_out, [])

    def test_rows_that_the_old_build_lacks_are_left_out(self):
        ratios, left_out = self.overlap_ratios({"Overlap": 30},
                                               {"AllReduce": 20, "ParameterServer": 5})
        self.assertEqual(list(ratios), ["AllReduce, a slow step", "AllReduce, a step"])
        self.assertEqual(left_out, ["ParameterServer, a slow step", "ParameterServer, a step"])

    def test_rows_that_the_new_build_lacks_are_an_error(self):
        with self.assertRaisesRegex(RuntimeError, "lacks ParameterServer, a slow step"):
            self.overlap_ratios({"AllReduce": 30, "ParameterServer": 5}, {"AllReduce": 20})


if __name__ == "__main__":
    unittest.main()
