"""Finds NVIDIA's libraries on the machine, for what our plug-ins need."""

import ctypes
import glob
import os
import subprocess
import sys

# Of the driver; containers have it in the second or third.
DRIVER = "libcuda.so.1"
DRIVER_FOLDERS = ["/usr/lib/x86_64-linux-gnu", "/usr/local/nvidia/lib64", "/usr/lib64",
                  "/usr/lib/wsl/lib"]
# What a plug-in may open by name, where it is there; cuDNN does the last, for engines that it
# compiles as it runs.
OPENED_BY_NAME = ["libcudnn.so.9", "libnccl.so.2", "libnvrtc.so.13"]


def pythons():
    """All that may have NVIDIA's packages, this one first."""
    names = [sys.executable]
    names += [f"{folder}/python3" for folder in os.environ.get("PATH", "").split(":")]
    for pattern in ("/opt/*/bin/python3", "/opt/*/.venv/bin/python3", "/opt/*/venv/bin/python3",
                    "/usr/local/bin/python3", "/usr/bin/python3"):
        names += sorted(glob.glob(pattern))
    return [name for name in dict.fromkeys(names) if os.access(name, os.X_OK)]


def package_folders():
    """Folders with libraries in the packages of every Python."""
    folders = []
    for python in pythons():
        try:
            paths = subprocess.run(
                [python, "-c", "import sys; print('\\n'.join(sys.path))"], timeout=20,
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout
        except (OSError, subprocess.SubprocessError):
            continue
        for path in paths.split():
            folders += sorted(glob.glob(f"{path}/nvidia/*/lib"))
            folders += sorted(glob.glob(f"{path}/torch/lib"))
    return folders


def candidate_folders():
    """Where the libraries may be, in the order in which they are taken."""
    folders = os.environ.get("LD_LIBRARY_PATH", "").split(":")
    for pattern in ("/usr/local/cuda/lib64", "/usr/local/cuda-*/lib64",
                    "/usr/local/cuda*/targets/x86_64-linux/lib"):
        folders += sorted(glob.glob(pattern), reverse=True)
    folders += DRIVER_FOLDERS
    folders += package_folders()
    return [folder for folder in dict.fromkeys(folders) if os.path.isdir(folder)]


def add_folders(programs, plugins):
    """Adds the folders with what the plug-ins lack; returns what nobody has."""
    candidates = candidate_folders()
    unfound = set()
    while True:
        lacking = {name for plugin in plugins for name in programs.missing_libraries(plugin)}
        new = sorted(lacking - unfound)
        if not new:
            break
        for name in new:
            if not add_folder_of(name, programs, candidates):
                unfound.add(name)
    for name in OPENED_BY_NAME + [DRIVER]:
        if path_of(name, programs) is None:
            add_folder_of(name, programs, candidates)
    return sorted(unfound)


def add_folder_of(name, programs, candidates):
    for folder in candidates:
        if folder not in programs.nvidia_folders and os.path.exists(f"{folder}/{name}"):
            programs.nvidia_folders.append(folder)
            return True
    return False


def path_of(name, programs):
    """Where our programs find a library; None: nowhere."""
    for folder in programs.library_folders():
        if os.path.exists(f"{folder}/{name}"):
            return f"{folder}/{name}"
    try:
        ctypes.CDLL(name)
    except OSError:
        return None
    return name


# What asks a library for its version, as statements of Python.
QUESTIONS = {
    "libcudart": ("CUDA runtime", "l.cudaRuntimeGetVersion(byref(v)); n = v.value\n"
                  "t = f'{n // 1000}.{n % 1000 // 10}'"),
    "libcublas": ("cuBLAS", "p = []\nfor i in range(3):\n"
                  "  l.cublasGetProperty(i, byref(v)); p.append(str(v.value))\nt = '.'.join(p)"),
    "libcudnn": ("cuDNN", "l.cudnnGetVersion.restype = c_size_t; n = l.cudnnGetVersion()\n"
                 "t = f'{n // 10000}.{n % 10000 // 100}.{n % 100}'"),
    "libnccl": ("NCCL", "l.ncclGetVersion(byref(v)); n = v.value\n"
                "t = f'{n // 10000}.{n % 10000 // 100}.{n % 100}'"),
}


def versions(programs, needed):
    """{name: version} of the needed libraries that our programs find."""
    found = {}
    for library in dict.fromkeys([*needed, *OPENED_BY_NAME]):
        name, question = QUESTIONS.get(library.split(".")[0], (None, None))
        if name is None:
            continue
        path = path_of(library, programs)
        if path is None:
            found[name] = "not found"
            continue
        code = f"from ctypes import *\nl = CDLL('{path}'); v = c_int()\n{question}\nprint(t)"
        # Not ours: this Python is the machine's.
        folders = programs.nvidia_folders + [os.environ.get("LD_LIBRARY_PATH", "")]
        try:
            answer = subprocess.run([sys.executable, "-c", code], timeout=60,
                                    env=dict(os.environ, LD_LIBRARY_PATH=":".join(folders)),
                                    stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                    check=False).stdout.strip()
        except subprocess.TimeoutExpired:
            answer = ""
        found[name] = f"{answer or 'unknown'} ({path})"
    return found
