"""What a run lacks is said before it begins."""

import os
import tempfile
import unittest
from unittest import mock

import compare_link


def make_program(path, text="#!/bin/sh\n"):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, 0o755)


class CompareLinkTest(unittest.TestCase):

    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        self.relay = f"{self.folder}/relay"
        for name in ("coordinator", "ps_server", "worker", "relay", "bash", "ip", "unshare"):
            make_program(f"{self.folder}/{name}")
        self.enterContext(mock.patch.dict(os.environ, PATH=f"{self.folder}:/usr/bin:/bin"))

    def missing(self, *folders):
        return list(compare_link.missing(folders or [self.folder], self.relay))

    def test_nothing_is_missing(self):
        self.assertEqual(self.missing(), [])

    def test_programs_that_are_not_built(self):
        os.remove(self.relay)
        found = self.missing(self.folder, "/nowhere")
        self.assertEqual([line.split(":")[0] for line in found],
                         ["/nowhere/coordinator", "/nowhere/ps_server", "/nowhere/worker",
                          self.relay])

    def test_tools(self):
        os.remove(f"{self.folder}/ip")
        with mock.patch.dict(os.environ, PATH=self.folder):
            self.assertEqual(len(self.missing()), 1)
            self.assertIn("ip: not found", self.missing()[0])

    def test_root(self):
        make_program(f"{self.folder}/unshare", "#!/bin/sh\necho not permitted >&2\nexit 1\n")
        self.assertEqual(len(self.missing()), 1)
        self.assertRegex(self.missing()[0], "unshare .*: not permitted; it takes root")


if __name__ == "__main__":
    unittest.main()
