"""Makes the Debian packages and installs one: package_test.py REPOSITORY BUILD.

No systemd boots here, so the units' command lines are started without their sandbox.
"""

import glob
import gzip
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import addresses
import certificates
import health
import packages
import small_job
import units

REPOSITORY, BUILD = map(os.path.abspath, sys.argv[1:3])
PROGRAMS = ["coordinator", "ps_server", "worker"]
SERVICES = ["coordinator", "ps", "worker"]
MOST_MEBIBYTES = 20
TLS_DROP_IN = REPOSITORY + "/deploy/systemd/tls.conf"


def run(*command, **options):
    result = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if result.returncode != 0:
        raise AssertionError(f"{command}: {result.returncode}\n{result.stdout}{result.stderr}")
    return result.stdout


class PackageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.package, = glob.glob(packages.made(REPOSITORY, BUILD) + "/paceline_*.deb")
        cls.root = cls.folder.name + "/root"
        os.makedirs(cls.root + "/var/lib/dpkg/updates")
        os.makedirs(cls.root + "/var/lib/dpkg/info")
        for name in ["status", "available"]:
            open(f"{cls.root}/var/lib/dpkg/{name}", "w").close()
        # Its dependencies are this machine's.
        cls.dpkg("--force-depends", "--install", cls.package)

    @classmethod
    def dpkg(cls, *arguments):
        run("dpkg", f"--root={cls.root}", "--force-script-chrootless", "--force-not-root", *arguments)

    def field(self, name):
        return run("dpkg-deb", "--field", self.package, name).strip()

    def command(self, service, changes, drop_in=None):
        """The command line of a service's unit, in the root."""
        unit = units.read_unit(f"{self.root}/usr/lib/systemd/system/paceline-{service}.service")
        if drop_in:
            unit = units.read_unit(drop_in, unit)
        variables = units.read_environment(self.root + unit["Service", "EnvironmentFile"][0])
        state = f"{self.root}/var/lib"
        words = units.command_line(unit, {**variables, **changes}, {"S": state, "d": self.folder.name})
        return [self.root + words[0], *words[1:]]

    def test_has_what_the_units_need(self):
        for name in PROGRAMS:
            self.assertEqual(run(f"{self.root}/usr/lib/paceline/{name}", "--version").strip(),
                             self.field("Version"))
        self.assertEqual(run(self.root + "/usr/bin/paceline", "--version").strip(), self.field("Version"))
        for service in SERVICES:
            self.command(service, {})
        size = os.path.getsize(self.package) / 2**20
        print(f"{os.path.basename(self.package)}: {size:.1f} MiB, "
              f"installed {int(self.field('Installed-Size')) / 1024:.1f} MiB")
        self.assertLess(size, MOST_MEBIBYTES)

    def test_has_completions_and_manual_pages(self):
        for path in ["bash-completion/completions/paceline", "zsh/vendor-completions/_paceline",
                     "fish/vendor_completions.d/paceline.fish"]:
            with open(f"{self.root}/usr/share/{path}", encoding="utf-8") as file:
                self.assertIn("token create", file.read())
        for path, text in {"man1/paceline.1": '.SS "paceline submit', "man8/paceline-worker.8": "\\-\\-threads",
                           "man8/paceline-ps_server.8": "\\-\\-advertise"}.items():
            with gzip.open(f"{self.root}/usr/share/man/{path}.gz", "rt", encoding="utf-8") as page:
                self.assertIn(text, page.read())

    def test_debian_has_what_it_depends_on(self):
        self.assertIn("libgrpc++1.51", self.field("Depends"))
        run("apt-get", "--simulate", "--no-install-recommends", "install", self.package)

    def test_the_files_of_etc_are_configuration(self):
        conffiles = run("dpkg-query", f"--admindir={self.root}/var/lib/dpkg", "--show",
                        "--showformat=${Conffiles}", "paceline")
        for service in SERVICES:
            self.assertIn(f"/etc/default/paceline-{service}", conffiles)

    def test_programs_know_the_options_of_their_units(self):
        for service in SERVICES:
            program, *options = self.command(service, {}, TLS_DROP_IN)
            verbs = options[:1] if service == "coordinator" else []
            known = run(program, *verbs, "--help")
            if not verbs and "--work " not in known:
                print(f"{program} is no daemon yet")
                continue
            for option in options:
                if option.startswith("--"):
                    self.assertIn(option, known)

    def start(self, service, changes, drop_in=None):
        """Starts what a unit would; it ends with the test."""
        with open(f"{self.folder.name}/{service}.log", "w", encoding="utf-8") as log:
            process = subprocess.Popen(self.command(service, changes, drop_in), stdout=log, stderr=log)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def test_its_services_run_a_job(self):
        print("no systemd boots here: the units' command lines are started without their sandbox")
        with open(self.folder.name + "/secret", "w", encoding="utf-8") as file:
            file.write("0123456789abcdef" * 4)
        address = addresses.free_address()
        services = [self.start("coordinator", {"PACELINE_LISTEN": address})]
        health.wait_until_serving(address, "readiness")
        program = self.root + "/usr/bin/paceline"
        if "--work " in run(f"{self.root}/usr/lib/paceline/worker", "--help"):
            for service in ["ps", "worker"]:
                services.append(self.start(service, {
                    "PACELINE_COORDINATOR": address,
                    "PACELINE_OPTIONS": f"--name {service} --cores 2 --data {small_job.DATA}"}))
            with open(self.folder.name + "/job.yaml", "w", encoding="utf-8") as file:
                file.write(small_job.text(epochs=2))
            environment = {"PACELINE_COORDINATOR": address,
                           "PACELINE_SECRET_FILE": self.folder.name + "/secret"}
            self.wait_for_members(program, environment, ["ps", "worker"])
            run(program, "submit", self.folder.name + "/job.yaml", "--wait", env=environment)
        for process in reversed(services):
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(timeout=30), 0)

    def test_a_drop_in_has_them_talk_over_tls(self):
        for name, text in {"secret": "0123456789abcdef" * 4, **certificates.secret(["localhost"])}.items():
            with open(f"{self.folder.name}/{name}", "w", encoding="utf-8") as file:
                file.write(text)
        address = addresses.free_address()
        self.start("coordinator", {"PACELINE_LISTEN": address}, TLS_DROP_IN)
        self.start("worker", {"PACELINE_COORDINATOR": address, "PACELINE_OPTIONS": "--name tls-worker"}, TLS_DROP_IN)
        call = [self.root + "/usr/bin/paceline", "members", "--coordinator", address,
                "--secret-file", self.folder.name + "/secret"]
        tls = [f"--tls-{option}={self.folder.name}/{name}"
               for option, name in [("cert", "tls.crt"), ("key", "tls.key"), ("ca", "ca.crt")]]
        end = time.monotonic() + 30
        while "tls-worker" not in subprocess.run([*call, *tls], capture_output=True, text=True, check=False).stdout:
            self.assertLess(time.monotonic(), end, "no worker")
            time.sleep(0.2)
        self.assertNotEqual(subprocess.run(call, capture_output=True, check=False).returncode, 0)

    def wait_for_members(self, program, environment, names):
        end = time.monotonic() + 30
        while not set(names) <= set(run(program, "members", env=environment).split()):
            self.assertLess(time.monotonic(), end, f"not all of {names}")
            time.sleep(0.2)

    def test_removal_leaves_what_is_the_users(self):
        self.dpkg("--remove", "paceline")
        self.addCleanup(self.dpkg, "--force-depends", "--install", self.package)
        self.assertFalse(os.path.exists(self.root + "/usr/lib/paceline"))
        self.assertTrue(os.path.exists(self.root + "/etc/default/paceline-worker"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
