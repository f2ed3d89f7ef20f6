"""`run` says at once what is wrong with its arguments, and keeps what it found out."""

import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import unittest

import programs

HERE = os.path.dirname(os.path.abspath(__file__))


class RunTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_with(self, *arguments):
        return subprocess.run([sys.executable, f"{HERE}/run", "--device", "cpu", *arguments],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env=dict(os.environ, TMPDIR=self.folder), cwd=self.folder,
                              check=False)

    def bundle(self, conformance):
        """One whose programs do nothing, but for a suite that is this script."""
        path = f"{self.folder}/bundle.tar"
        files = {f"bin/{name}": "#!/bin/sh\n" for name in programs.NAMES}
        files["bin/device_conformance_test"] = f"#!/bin/sh\n{conformance}\n"
        files["bundle.json"] = json.dumps({"commit": "some", "needs_glibc": "2.0",
                                           "needs_of_plugins": []})
        with tarfile.open(path, "w") as archive:
            for name, text in files.items():
                info = tarfile.TarInfo(f"{programs.BUNDLE_NAME}/{name}")
                info.size, info.mode = len(text), 0o755
                archive.addfile(info, io.BytesIO(text.encode()))
        return path

    def test_wrong_arguments_are_named_before_anything_runs(self):
        bundle = self.bundle("exit 0")
        text = f"{self.folder}/text"
        with open(text, "w", encoding="utf-8") as file:
            file.write("no archive")
        other = f"{self.folder}/other.tar"
        with tarfile.open(other, "w") as archive:
            archive.add(text, "text")
        for arguments, why in (
                (["--only", "nomatch"], "--only nomatch: fits no stage; there are: programs start; "),
                (["--only", "("], "--only (: is no regular expression: "),
                (["--report", f"{self.folder}/nowhere/report.md"], "report.md: cannot be written"),
                (["--report", self.folder], "cannot be written"),
                (["--seconds", "0"], "argument --seconds: invalid positive value: '0'"),
                (["--bundle", "nowhere.tar"], "--bundle nowhere.tar: is no file"),
                (["--bundle", text], f"--bundle {text}: cannot be unpacked: "),
                (["--bundle", other], "is not of tests/gpu/bundle")):
            with self.subTest(arguments):
                run = self.run_with("--bundle", bundle, *arguments)
                self.assertEqual(run.returncode, 2, run.stderr)
                self.assertIn("run: error: ", run.stderr)
                self.assertIn(why, run.stderr.splitlines()[-1])
                self.assertNotIn("Traceback", run.stderr)
                self.assertEqual(run.stdout, "")

    def test_report_has_the_stages_so_far(self):
        bundle = self.bundle('[ "$2" = "" ] || kill -9 $PPID')
        report = f"{self.folder}/report.md"
        run = self.run_with("--bundle", bundle, "--report", report, "--only",
                            "programs|conformance|updates")
        self.assertEqual(run.returncode, -9, run.stderr)
        with open(report, encoding="utf-8") as file:
            text = file.read()
        self.assertIn("1 passed, 0 failed, 0 skipped", text)
        self.assertIn("| stages so far | 1 of 3 |", text)

    def test_report_is_what_is_printed(self):
        report = f"{self.folder}/report.md"
        run = self.run_with("--bundle", self.bundle("exit 0"), "--report", report, "--only",
                            "programs|conformance")
        self.assertEqual(run.returncode, 1, run.stderr)
        with open(report, encoding="utf-8") as file:
            self.assertEqual(file.read() + "\n", run.stdout)
        self.assertIn("1 passed, 1 failed, 0 skipped", run.stdout)
        self.assertNotIn("so far", run.stdout)


if __name__ == "__main__":
    unittest.main()
