"""Makes the content of the image and starts it as a container: image_test.py REPOSITORY BUILD."""

import os
import signal
import subprocess
import sys
import tempfile
import unittest

import addresses
import container
import dockerfile
import health
import image

REPOSITORY, BUILD = map(os.path.abspath, sys.argv[1:3])
MOST_MEGABYTES = 250


def content_bytes(folder):
    """Of all files, as in the layers of an image; one with several names counts once."""
    sizes = {}
    for parent, _, names in os.walk(folder):
        for name in names:
            status = os.lstat(os.path.join(parent, name))
            sizes[status.st_ino] = status.st_size
    return sum(sizes.values())


@unittest.skipIf(os.geteuid() != 0, "chroot and mount need root")
class ImageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.root, cls.configuration = image.content(REPOSITORY, BUILD)
        cls.store, cls.secrets = folder.name + "/store", folder.name + "/secrets"
        for path in [cls.store, cls.secrets]:
            os.mkdir(path)
        os.chown(cls.store, cls.configuration["user"], cls.configuration["group"])
        with open(cls.secrets + "/secret", "w", encoding="utf-8") as file:
            file.write("0123456789abcdef" * 4)
        os.chmod(folder.name, 0o755)

    def run_in_it(self, *command):
        return container.run(self.root, command, self.configuration, {"/tmp": (None, True)})

    def test_is_small(self):
        size = content_bytes(self.root) / 1e6
        print(f"the image has {size:.0f} MB")
        self.assertLess(size, MOST_MEGABYTES)

    def test_has_the_programs(self):
        with open(REPOSITORY + "/VERSION", encoding="utf-8") as file:
            version = file.read()
        for program in ["paceline", "coordinator", "ps_server", "worker"]:
            self.assertEqual(self.run_in_it(program, "--version"), (0, version))
        code, output = self.run_in_it(*self.configuration["command"])
        self.assertEqual((code, "serve" in output), (0, True))

    def test_has_no_rights(self):
        self.assertEqual(self.run_in_it("id", "-u")[1].strip(), str(self.configuration["user"]))
        for path in ["/file", "/var/lib/paceline/file", "/usr/lib/paceline/file"]:
            code, output = self.run_in_it("touch", path)
            self.assertNotEqual(code, 0, path)
            self.assertIn("Read-only", output)
        self.assertEqual(self.run_in_it("touch", "/tmp/file"), (0, ""))

    def test_the_coordinator_serves(self):
        address = addresses.free_address()
        command = ["coordinator", "serve", "--listen", address, "--secret-file", "/etc/paceline/secret"]
        mounts = {"/var/lib/paceline": (self.store, True), "/etc/paceline": (self.secrets, False),
                  "/tmp": (None, True)}
        with container.Container(self.root, command, self.configuration, mounts,
                                 stdout=subprocess.DEVNULL) as coordinator:
            health.wait_until_serving(address, "readiness")
            coordinator.signal(signal.SIGTERM)
            self.assertEqual(coordinator.wait(timeout_s=30), 0)
        self.assertTrue(os.listdir(self.store))


class DockerfileTest(unittest.TestCase):
    def test_each_base_is_an_argument_or_a_stage(self):
        stages = dockerfile.read(REPOSITORY + "/deploy/docker/Dockerfile")
        self.assertEqual(list(stages), ["build", "paceline", "cuda-build", "cuda"])
        for stage in stages.values():
            base = stage[0][1].split(" AS ")[0]
            self.assertIn(base, ["${BASE}", *stages])

    def test_no_image_runs_as_root(self):
        stages = dockerfile.read(REPOSITORY + "/deploy/docker/Dockerfile")
        for name in ["paceline", "cuda"]:
            self.assertEqual(dockerfile.configuration(stages[name])["user"], 10001)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
