"""Checks the units of deploy/systemd: systemd_test.py REPOSITORY BUILD."""

import glob
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import units

REPOSITORY, BUILD = map(os.path.abspath, sys.argv[1:3])
UNITS = sorted(glob.glob(REPOSITORY + "/deploy/systemd/*.service"))
# In tenths; 0 is what cannot do anything, 100 what can do all.
MOST_EXPOSURE = 30


class SystemdTest(unittest.TestCase):
    def test_there_is_a_unit_for_each_program(self):
        names = [os.path.basename(path) for path in UNITS]
        self.assertEqual(names, ["paceline-coordinator.service", "paceline-ps.service",
                                 "paceline-worker.service"])

    def test_units_are_hardened(self):
        for path in UNITS:
            result = subprocess.run(
                ["systemd-analyze", "security", "--offline=true", "--no-pager",
                 f"--threshold={MOST_EXPOSURE}", path],
                capture_output=True, text=True, check=False)
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
            print(result.stdout.strip().splitlines()[-1])

    def test_systemd_understands_them(self):
        with tempfile.TemporaryDirectory() as root:
            subprocess.run(["cmake", "--install", BUILD, "--component", "paceline", "--prefix", "/usr"],
                           env={**os.environ, "DESTDIR": root}, check=True, capture_output=True)
            installed = glob.glob(root + "/usr/lib/systemd/system/*")
            self.assertEqual(len(installed), len(UNITS))
            self.verify(root, installed)
            for path in UNITS:
                folder = f"{root}/etc/systemd/system/{os.path.basename(path)}.d"
                os.makedirs(folder)
                shutil.copy(root + "/usr/share/doc/paceline/tls.conf", folder)
            self.verify(root, installed)

    def verify(self, root, installed):
        result = subprocess.run(
            ["systemd-analyze", "verify", f"--root={root}", "--man=no", "--recursive-errors=no",
             *map(os.path.basename, installed)],
            capture_output=True, text=True, check=False)
        self.assertEqual((result.returncode, result.stdout + result.stderr), (0, ""))

    def test_their_files_are_theirs(self):
        for path in UNITS:
            unit, name = units.read_unit(path), os.path.basename(path).removesuffix(".service")
            self.assertEqual(unit["Service", "EnvironmentFile"], [f"/etc/default/{name}"])
            self.assertEqual(unit["Service", "StateDirectory"], [name])
            variables = units.read_environment(path.removesuffix("service") + "default")
            words = units.command_line(unit, variables, {"S": "/var/lib", "d": "/run/credentials"})
            self.assertIn(f"/var/lib/{name}", words)
            self.assertIn("/run/credentials/secret", words)
            self.assertFalse([word for word in words if word.startswith("--tls")])

    def test_a_drop_in_adds_tls(self):
        for path in UNITS:
            unit = units.read_unit(REPOSITORY + "/deploy/systemd/tls.conf", units.read_unit(path))
            variables = units.read_environment(path.removesuffix("service") + "default")
            words = units.command_line(unit, variables, {"S": "/var/lib", "d": "/run/credentials"})
            credentials = [value.split(":")[0] for value in unit["Service", "LoadCredential"]]
            self.assertEqual(credentials, ["secret", "tls.crt", "tls.key", "ca.crt"])
            given = words[words.index("--secret-file"):]
            self.assertEqual(given[1::2], [f"/run/credentials/{name}" for name in credentials])
            self.assertEqual(given[2::2], ["--tls-cert", "--tls-key", "--tls-ca"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
