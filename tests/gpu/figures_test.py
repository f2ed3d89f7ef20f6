"""Figures of pairs with processes that only say how long a step took."""

import os
import sys
import tempfile
import unittest
import unittest.mock

import figures
import programs
import pytorch
import runner
import stages
import step_peer

# {seconds} is what a step takes.
ANSWERS = """#!{python}
import sys, time
for line in sys.stdin:
    {behaviour}
    print('{{"seconds": %g}}' % ({seconds}), flush=True)
"""


class FiguresTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = folder.name
        os.makedirs(f"{self.root}/bin")
        os.makedirs(f"{self.root}/{os.path.dirname(pytorch.SCRIPT)}")
        self.runner = runner.Runner(programs.Programs(self.root, "2.0", use_own_glibc=False),
                                    self.root, runner.Budget(60), gpu_count=1)
        self.is_ours("0.01")
        self.is_theirs("0.06 if 'eager' in sys.argv[5] else 0.011")
        patch = unittest.mock.patch.object(pytorch, "find", return_value=(sys.executable, "2.0"))
        self.find = patch.start()
        self.addCleanup(patch.stop)
        self.torch = pytorch.PyTorch(self.runner)
        self.addCleanup(self.torch.__exit__)

    def write(self, path, seconds, behaviour):
        with open(f"{self.root}/{path}", "w", encoding="utf-8") as file:
            file.write(ANSWERS.format(python=sys.executable, seconds=seconds,
                                      behaviour=behaviour))
        os.chmod(f"{self.root}/{path}", 0o755)

    def is_ours(self, seconds, behaviour="pass"):
        self.write("bin/model_benchmark", seconds, behaviour)

    def is_theirs(self, seconds, behaviour="pass"):
        self.write(pytorch.SCRIPT, seconds, behaviour)

    def run_stage(self, stage):
        return runner.run_stage(stage._replace(needed=0), self.runner)[0]

    def run_tutorial(self):
        stage = figures.tutorial_stage(self.torch, is_gpu=True)
        result = self.run_stage(stage)
        return result, [result.figures.get(goal) for goal in stage.goals]

    def run_images(self, best_modes=None, batch=64):
        work = figures.image_model("ResNet-50", "resnet50", batch, "tf32", is_gpu=True)
        stage = figures.image_stage(work, self.torch, {} if best_modes is None else best_modes)
        result = self.run_stage(stage)
        return result, result.figures.get(stage.goals[0])

    def test_figure_is_the_median_of_the_pairs_ratios(self):
        figure = figures.figure_of([1, 1, 2, 1, 1], [10, 20, 60, 40, 50], "eager")
        self.assertEqual((figure.low, figure.median, figure.high), (20, 30, 40))
        self.assertEqual(figure.ours, "1 steps/s")
        self.assertEqual(figure.theirs, "0.025 steps/s (eager)")

    def test_tutorial_has_a_figure_beside_each_mode(self):
        result, (eager, graphs) = self.run_tutorial()
        self.assertEqual(result.state, "passed")
        self.assertAlmostEqual(eager.median, 6)
        self.assertAlmostEqual(graphs.median, 1.1)
        self.assertIn("PyTorch 2.0", result.detail)

    def test_images_have_a_figure_beside_the_best_mode(self):
        _, figure = self.run_images()
        self.assertAlmostEqual(figure.median, 1.1)
        self.assertIn("graphs-channels_last-tf32", figure.theirs)
        self.assertEqual(figure.note, "")

    def test_compiler_that_fails_leaves_eager(self):
        self.is_theirs("0.06", "'graphs' in sys.argv[5] and sys.exit('no triton here')")
        result, figure = self.run_images()
        self.assertEqual(result.state, "passed")
        self.assertAlmostEqual(figure.median, 6)
        self.assertEqual(figure.note, "but graphs-channels_last-tf32 did not run")
        self.assertIn("no triton here", result.detail)

    def test_compiler_that_takes_too_long_leaves_eager(self):
        self.is_theirs("0.06", "'graphs' in sys.argv[5] and time.sleep(50)")
        self.runner = self.runner.within(4)
        with unittest.mock.patch.object(figures, "PAIRS_SECONDS", 2):
            result, (eager, graphs) = self.run_tutorial()
        self.assertAlmostEqual(eager.median, 6)
        self.assertIsNone(graphs)
        self.assertIn("no answer in", result.detail)
        self.assertEqual(list(result.unmeasured.values()),
                         ["graphs-contiguous-float32 did not run, see below"])

    def test_without_pytorch_ours_is_measured_alone(self):
        self.find.return_value = (None, "no Python has one")
        result, figure = self.run_images()
        self.assertEqual(result.state, "passed")
        self.assertIn("ours 100 steps/s; no Python has one", result.detail)
        self.assertIsNone(figure)
        self.assertEqual(list(result.unmeasured.values()), ["no Python has one"])

    def test_our_failure_fails(self):
        self.is_ours("1", "sys.exit('conv1: no such kernel')")
        result, figure = self.run_images()
        self.assertEqual(result.state, "failed")
        self.assertIn("conv1: no such kernel", result.detail)
        self.assertIsNone(figure)

    def test_our_failure_among_the_pairs_fails(self):
        self.is_ours("1", "line == '3\\n' and sys.exit('a kernel failed')")
        result, _ = self.run_images()
        self.assertEqual(result.state, "failed")
        self.assertIn("a kernel failed", result.detail)

    def test_our_silence_fails(self):
        self.is_ours("1", "time.sleep(50)")
        work = figures.tutorial(is_gpu=True)
        with self.assertRaisesRegex(step_peer.PeerError, "no answer"):
            figures.seconds_of(work, work.modes, self.torch, self.runner.within(1))

    def test_peer_that_fails_among_the_pairs_is_no_failure_of_ours(self):
        self.is_theirs("0.06", "line == '3\\n' and sys.exit('out of memory')")
        result, figure = self.run_images()
        self.assertEqual(result.state, "skipped")
        self.assertIn("out of memory", result.detail)
        self.assertIsNone(figure)

    def test_best_mode_is_remembered_for_larger_batches(self):
        best_modes = {}
        self.run_images(best_modes)
        result, _ = self.run_images(best_modes, batch=256)
        self.assertNotIn("eager", result.detail)
        self.assertIn("graphs", result.detail)

    def test_link_and_memory(self):
        line = ('{"what": "%s", "ratio": {"median": %g, "quartiles": [0.1, 1.5]}, '
                '"bytes_per_second": {"median": 2e10}, '
                '"plain_bytes_per_second": {"median": 4e10}}')
        with open(f"{self.root}/bin/gpu_benchmark", "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\necho '{line % ('gradients', 0.5)}\n{line % ('adam', 0.9)}'\n")
        os.chmod(f"{self.root}/bin/gpu_benchmark", 0o755)
        result = figures.link_and_memory(self.runner)
        self.assertEqual(result.figures[figures.LINK].ratio(), "0.5 (0.1–1.5)")
        self.assertEqual(result.figures[figures.MEMORY].ours, "20 GB/s")
        self.assertEqual(result.figures[figures.MEMORY].theirs, "40 GB/s")

    def test_code_is_compiled_ahead(self):
        stage = figures.tutorial_stage(self.torch, is_gpu=True)
        self.assertEqual([mode for _, mode in stage.compiles], ["graphs-contiguous-float32"])
        self.torch.compile_ahead(stage.compiles)
        result = self.run_stage(figures.compiled_stage(self.torch))
        self.assertEqual(result.state, "passed")
        self.assertIn("1 of 1 ahead", result.detail)

    def test_nothing_is_compiled_beside_what_is_measured(self):
        self.is_theirs("1", "time.sleep(50)")
        stage = figures.tutorial_stage(self.torch, is_gpu=True)
        self.torch.compile_ahead(stage.compiles * 5)
        self.assertEqual(self.torch.compiled(seconds=1), (0, 5))
        self.assertFalse(self.torch._compiling)

    def all_stages(self):
        first, more = figures.figure_stages(self.torch)
        return [*first, *more]

    def test_every_goal_is_in_a_stage(self):
        goals = [goal for stage in self.all_stages() for goal in stage.goals]
        self.assertEqual([goal.least for goal in goals], [5, 1.2, 0.8, 0.85] + [1] * 8)
        self.assertEqual(len(set(goals)), len(goals))

    def test_stages_fit_their_limits(self):
        for stage in [*stages.check_stages(), *self.all_stages()]:
            self.assertLessEqual(stage.needed, stage.limit, stage.name)


if __name__ == "__main__":
    unittest.main()
