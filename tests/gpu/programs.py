"""Our programs out of a bundle, on a machine of another distribution.

All libraries come with the bundle and are found by LD_LIBRARY_PATH, which also
the processes that `coordinator run` starts inherit. Only the C library is the
machine's where that is new enough for us: NVIDIA's driver is made for it, and
may need a newer one than ours. Where it is older, ours is newer than any that
the driver there can need; then copies of the programs name our loader. It
cannot be called by hand instead: programs start others, and themselves, by
/proc/self/exe.
"""

import os
import shutil
import subprocess
import tempfile

BUNDLE_NAME = "paceline-gpu"
# In a build folder; all come into bin/.
PATHS = [
    "bin/coordinator", "bin/gpu_benchmark", "bin/model_benchmark", "bin/ps_server", "bin/worker",
    "tests/device_conformance_test", "tests/strategies_conformance_test"
]
NAMES = [os.path.basename(path) for path in PATHS]

# What x86-64 programs name as their loader; another's path must not be longer.
LOADER = "/lib64/ld-linux-x86-64.so.2"


def version_of(text):
    return tuple(int(part) for part in text.split(".")[:2])


def machine_glibc():
    """(major, minor); None where the machine has another C library."""
    try:
        name, version = os.confstr("CS_GNU_LIBC_VERSION").split()
    except (ValueError, AttributeError, OSError):
        return None
    return version_of(version) if name == "glibc" and os.path.exists(LOADER) else None


class Programs:
    """Of an unpacked bundle. A context: keeps what it makes until its end."""

    def __init__(self, root, needed_glibc, use_own_glibc=None):
        """`use_own_glibc`: None: where needed."""
        self.root = root
        self._own_folders = [f"{root}/lib"]
        # With NVIDIA's libraries; nvidia_libraries adds to them.
        self.nvidia_folders = []
        machine = machine_glibc()
        if use_own_glibc is None:
            use_own_glibc = machine is None or machine < version_of(needed_glibc)
        self.uses_own_glibc = use_own_glibc
        self.glibc = ("the bundle's" if use_own_glibc else "the machine's %d.%d" % machine)
        self._temporary = None
        self._bin = f"{root}/bin"
        if use_own_glibc:
            self._own_folders.insert(0, f"{root}/glibc")
            self._name_our_loader()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._temporary is not None:
            shutil.rmtree(self._temporary)

    def path(self, name):
        return f"{self._bin}/{name}"

    def library_folders(self):
        before = os.environ.get("LD_LIBRARY_PATH", "").split(":")
        return self._own_folders + self.nvidia_folders + [folder for folder in before if folder]

    def environment(self):
        return dict(os.environ, LD_LIBRARY_PATH=":".join(self.library_folders()))

    def missing_libraries(self, name):
        """Those of a file in bin/, however far, that are not found."""
        listed = subprocess.run(
            [f"{self.root}/glibc/ld-linux-x86-64.so.2" if self.uses_own_glibc else LOADER,
             "--list", self.path(name)],
            env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            check=False).stdout
        return [line.split()[0] for line in listed.splitlines() if line.endswith("not found")]

    def _name_our_loader(self):
        self._temporary = tempfile.mkdtemp(prefix="pl-", dir="/tmp")
        loader = f"{self._temporary}/ld.so"
        os.symlink(f"{self.root}/glibc/ld-linux-x86-64.so.2", loader)
        self._bin = shutil.copytree(f"{self.root}/bin", f"{self._temporary}/bin")
        padded = loader.encode().ljust(len(LOADER), b"\0")
        assert len(padded) == len(LOADER), loader
        for name in NAMES:
            with open(self.path(name), "r+b") as file:
                code = file.read()
                file.seek(0)
                file.write(code.replace(LOADER.encode(), padded, 1))
