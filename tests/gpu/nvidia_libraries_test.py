"""NVIDIA's libraries are found where a plug-in lacks them."""

import os
import tempfile
import unittest
import unittest.mock

import nvidia_libraries


class FakePrograms:
    """A plug-in whose libraries are in no folder that the loader knows."""

    def __init__(self, needs):
        """`needs`: {library: those that it needs itself}."""
        self._needs = needs
        self.nvidia_folders = []

    def library_folders(self):
        return self.nvidia_folders

    def missing_libraries(self, plugin):
        open_ends, missing = list(self._needs[plugin]), []
        while open_ends:
            name = open_ends.pop()
            if any(os.path.exists(f"{folder}/{name}") for folder in self.nvidia_folders):
                open_ends += self._needs[name]
            else:
                missing.append(name)
        return missing


class NvidiaLibrariesTest(unittest.TestCase):

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = temporary.name
        for path in ("package/nvidia/blas/lib/libblas.so.1", "package/nvidia/helper/lib/libhelper.so.1",
                     "set/libblas.so.1", "package/nvidia/other/lib/libother.so.1"):
            os.makedirs(os.path.dirname(f"{self.folder}/{path}"), exist_ok=True)
            open(f"{self.folder}/{path}", "wb").close()
        self.programs = FakePrograms({"plugin": ["libblas.so.1"], "libblas.so.1": ["libhelper.so.1"],
                                      "libhelper.so.1": [], "second": ["libnowhere.so.1"]})

    def add(self, plugins, **environment):
        """add_folders where a Python has the package."""
        with (unittest.mock.patch.dict(os.environ, {"LD_LIBRARY_PATH": ""} | environment),
              unittest.mock.patch.object(nvidia_libraries, "OPENED_BY_NAME", []),
              unittest.mock.patch.object(nvidia_libraries, "pythons",
                                         lambda: [f"{self.folder}/python3"])):
            with open(f"{self.folder}/python3", "w", encoding="utf-8") as file:
                file.write(f"#!/bin/sh\necho {self.folder}/package\n")
            os.chmod(f"{self.folder}/python3", 0o755)
            return nvidia_libraries.add_folders(self.programs, plugins)

    def test_takes_packages_of_python_for_what_libraries_need_in_turn(self):
        self.assertEqual(self.add(["plugin"]), [])
        self.assertEqual(self.programs.nvidia_folders,
                         [f"{self.folder}/package/nvidia/blas/lib",
                          f"{self.folder}/package/nvidia/helper/lib"])

    def test_prefers_what_the_user_set(self):
        self.assertEqual(self.add(["plugin"], LD_LIBRARY_PATH=f"{self.folder}/set"), [])
        self.assertEqual(self.programs.nvidia_folders[0], f"{self.folder}/set")

    def test_names_what_nobody_has(self):
        self.assertEqual(self.add(["second"]), ["libnowhere.so.1"])
        self.assertEqual(self.programs.nvidia_folders, [])


if __name__ == "__main__":
    unittest.main()
