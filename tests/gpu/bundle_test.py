"""A bundle of this build works where nothing of the build is: bundle_test.py BUILD."""

import os
import subprocess
import sys
import tarfile
import tempfile
import unittest

import machine
import programs

HERE = os.path.dirname(os.path.abspath(__file__))
MAX_BYTES = 57 * 2**20
BUILD = sys.argv.pop()


class BundleTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.archive = f"{cls.folder.name}/bundle.tar.xz"
        subprocess.run([sys.executable, f"{HERE}/bundle", "--build", BUILD, "--output",
                        cls.archive], check=True)
        with tarfile.open(cls.archive) as archive:
            archive.extractall(cls.folder.name)
        cls.root = f"{cls.folder.name}/{programs.BUNDLE_NAME}"

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def run_bare(self, *arguments):
        """`run` of the bundle, in an empty environment and another folder."""
        return subprocess.run(
            ["env", "-i", "PATH=/usr/bin:/bin", sys.executable, f"{self.root}/tests/gpu/run",
             *arguments],
            cwd="/", stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)

    def test_is_small_enough_to_be_carried(self):
        self.assertLessEqual(os.path.getsize(self.archive), MAX_BYTES)

    def test_says_that_there_is_no_gpu(self):
        if machine.count_gpus()[0] > 0:
            self.skipTest("there is one")
        run = self.run_bare()
        self.assertEqual(run.returncode, 77, run.stderr)
        self.assertRegex(run.stdout, r"\Ano NVIDIA GPU here: .+\n\Z")

    def test_works_with_either_glibc(self):
        for glibc in ("machine", "own"):
            run = self.run_bare("--device", "cpu", "--glibc", glibc, "--only",
                                "programs|conformance|updates|parameter_server|tutorial")
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
            self.assertIn("6 passed, 0 failed, 0 skipped", run.stdout)
            self.assertRegex(run.stdout, r"\| [1-9]\d* of \d+ cases passed")
            self.assertRegex(run.stdout, r"\| accuracy 0\.\d+ \|")
            self.assertRegex(run.stdout, r"\| ours [\d.]+ steps/s")

    def test_needs_no_library_of_this_machine(self):
        with programs.Programs(self.root, "2.0", use_own_glibc=True) as ours:
            for name in programs.NAMES:
                listed = subprocess.run(
                    [f"{self.root}/glibc/ld-linux-x86-64.so.2", "--list", ours.path(name)],
                    env=ours.environment(), stdout=subprocess.PIPE, text=True, check=True).stdout
                paths = [line.split()[2] for line in listed.splitlines() if "=>" in line]
                self.assertGreater(len(paths), 5)
                self.assertEqual([path for path in paths if not path.startswith(self.root)],
                                 [f"{programs.LOADER}"] if programs.LOADER in paths else [])

    def test_misses_a_program(self):
        path = f"{self.root}/bin/worker"
        os.rename(path, f"{path}.away")
        try:
            run = self.run_bare("--device", "cpu", "--only", "programs|conformance")
        finally:
            os.rename(f"{path}.away", path)
        self.assertEqual(run.returncode, 1)
        self.assertIn("1 passed, 1 failed, 0 skipped", run.stdout)
        self.assertIn("bin/worker", run.stdout)


if __name__ == "__main__":
    unittest.main()
