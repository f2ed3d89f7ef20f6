"""The report shows what passed, and each figure beside its goal."""

import unittest

import report
from results import Figure, Goal, failed, passed, skipped, verdict
from runner import Stage

FASTER = Goal("steps/s", "PyTorch, eager", 5)
SLOWER = Goal("steps/s", "PyTorch, compiled", 1.2)


def stage(name, *goals):
    return Stage(name, 0, 0, None, goals)


class ReportTest(unittest.TestCase):

    def test_median_decides_whether_a_goal_is_reached(self):
        self.assertEqual(verdict(FASTER, Figure(4.9, 5, 5.1, "", "")), "reached")
        self.assertEqual(verdict(FASTER, Figure(4.9, 4.99, 5.1, "", "")), "missed")
        self.assertEqual(verdict(SLOWER, Figure(2, 2, 2, "", "", "beside eager alone")),
                         "reached; beside eager alone")

    def test_stages(self):
        outcomes = [(stage("first"), passed("well | done"), 1.4),
                    (stage("second"), failed("exit code 1\nwhy"), 2)]
        text = report.markdown("On a GPU", {"GPU 0": "some"}, outcomes)
        self.assertIn("# On a GPU: 1 passed, 1 failed, 0 skipped", text)
        self.assertIn("| GPU 0 | some |", text)
        self.assertIn("| first | passed | 1 | well \\| done |", text)
        self.assertIn("### second: failed\n\nexit code 1\n\n```\nwhy\n```", text)
        self.assertNotIn("goal", text)

    def test_figures(self):
        figure = Figure(5.5, 6, 6.25, "60 steps/s", "10 steps/s")
        measured = passed("10 steps/s", {FASTER: figure}, {SLOWER: "it did not compile"})
        outcomes = [(stage("steps", FASTER, SLOWER), measured, 3),
                    (stage("others", SLOWER), skipped("no time left\n5 s"), 0)]
        text = report.markdown("On a GPU", {}, outcomes)
        self.assertIn("| steps/s | PyTorch, eager | 60 steps/s | 10 steps/s | 6 (5.5–6.25) | 5 | "
                      "reached |", text)
        self.assertIn("| steps/s | PyTorch, compiled | – | – | – | 1.2 | not measured: "
                      "it did not compile |", text)
        self.assertIn("| not measured: no time left |", text)

    def test_cpu_reaches_no_goal(self):
        outcomes = [(stage("steps", FASTER), passed("", {FASTER: Figure(9, 9, 9, "", "")}), 3)]
        text = report.markdown("A trial", {}, outcomes, is_gpu=False)
        self.assertIn("| not on a GPU |", text)
        self.assertNotIn("reached", text)


if __name__ == "__main__":
    unittest.main()
