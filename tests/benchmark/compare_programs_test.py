"""Records of programs are compared as their goals say."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

import compare_programs

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "compare_programs.py")
PROCESSOR = {"processor": "AMD EPYC", "instruction_sets": ["avx2"], "onednn": "2.6.3"}


def program(name="job/net", **changes):
    return {"name": name, "is_training": True, "threads": 1, "batch_size": 5, "arena_bytes": 1000,
            "compile_ms": 2.0, "totals": [10.0], "counts": [5.0], "sums": [[0.5, 100.0]],
            "bits": "00"} | changes


def record(*programs, processor=None):
    return compare_programs.read_record(map(json.dumps, [processor or PROCESSOR, *programs]))


def compared(*turns):
    lines, met = compare_programs.report([(record(old), record(new)) for old, new in turns])
    return "\n".join(lines), met


class CompareProgramsTest(unittest.TestCase):

    def test_equal_records_meet_the_goals(self):
        text, met = compared((program(), program()))
        self.assertIn("| job/net | train | 1 | 1.000 | 1.000 | equal bits |", text)
        self.assertTrue(met)

    def test_arena_and_time_have_goals_in_jobs_alone(self):
        self.assertTrue(compared((program(), program(arena_bytes=1020, compile_ms=2.2)))[1])
        for change in [{"arena_bytes": 1021}, {"compile_ms": 2.21}]:
            text, met = compared((program(), program(**change)))
            self.assertIn("goal missed", text)
            self.assertFalse(met)
            self.assertTrue(compared((program("case/a"), program("case/a", **change)))[1])

    def test_ratios_are_of_medians(self):
        turns = [(program(compile_ms=old), program(compile_ms=new))
                 for old, new in [(2, 9), (2, 2), (2, 1)]]
        text, met = compared(*turns)
        self.assertIn("| 1.000 | 1.000 |", text)
        self.assertTrue(met)

    def test_sums_are_near_relative_to_magnitudes(self):
        for new_sum, nearness, goal_met in [
                (0.50001, "within 1e-06", True), (0.505, "within 0.0001", True),
                (0.6, "0.001 apart", False)]:
            text, met = compared(
                (program(), program(bits="01", sums=[[new_sum, 100.0]])))
            self.assertIn(nearness, text)
            self.assertEqual(met, goal_met)

    def test_the_worst_turn_counts(self):
        text, met = compared((program(), program()), (program(), program(bits="01", totals=[11.0])))
        self.assertIn("0.1 apart", text)
        self.assertFalse(met)

    def test_other_bits_with_equal_sums_are_not_equal(self):
        text, met = compared((program(), program(bits="01")))
        self.assertIn("within 1e-06", text)
        self.assertTrue(met)

    def test_what_is_not_finite_must_remain_so(self):
        was_infinite = program(totals=[None])
        self.assertTrue(compared((was_infinite, program(totals=[None], bits="01")))[1])
        self.assertFalse(compared((was_infinite, program(bits="01")))[1])

    def test_other_counts_or_groups_are_no_match(self):
        self.assertFalse(compared((program(), program(counts=[4.0])))[1])
        self.assertFalse(compared((program(), program(sums=[])))[1])

    def test_cases_are_summed_up(self):
        lines, met = compare_programs.report([(
            record(program("case/a"), program("case/b")),
            record(program("case/a"), program("case/b", bits="01", totals=[12.0])))])
        self.assertIn("| case/b | train | 1 |", "\n".join(lines))
        self.assertIn("2 programs of cases: equal bits: 1, further apart: 1", lines[-1])
        self.assertFalse(met)

    def test_a_program_that_is_gone_is_named(self):
        lines, met = compare_programs.report(
            [(record(program("job/a"), program("job/b")), record(program("job/a")))])
        self.assertEqual(lines[-1], "gone: job/b train 1")
        self.assertFalse(met)

    def test_other_processors_are_told(self):
        lines, _ = compare_programs.report(
            [(record(program()), record(program(), processor={"processor": "another"}))])
        self.assertIn("The processors differ", lines[0])

    def test_the_exit_code_tells(self):
        with tempfile.TemporaryDirectory() as folder:
            paths = [f"{folder}/old.jsonl", f"{folder}/new.jsonl"]
            for path, arena in zip(paths, [1000, 2000]):
                with open(path, "w", encoding="utf-8") as file:
                    file.write(f"{json.dumps(PROCESSOR)}\n{json.dumps(program(arena_bytes=arena))}\n")
            for pair, code in [([paths[0]] * 2, 0), (paths, 1), (paths[:1], 2)]:
                run = subprocess.run([sys.executable, SCRIPT, *pair], check=False,
                                     capture_output=True, timeout=60)
                self.assertEqual(run.returncode, code)


if __name__ == "__main__":
    unittest.main()
