"""What the machine is: its GPUs and their driver."""

import glob
import os
import subprocess
import sys

import nvidia_libraries

# In a process of its own, which leaves nothing on the GPU.
COUNT_GPUS = """
import ctypes, sys
try:
    driver = ctypes.CDLL(sys.argv[1])
except OSError as error:
    sys.exit(f"no driver: {error}")
code = driver.cuInit(0)
if code:
    sys.exit(f"cuInit of {sys.argv[1]} failed with error {code}")
count = ctypes.c_int()
driver.cuDeviceGetCount(ctypes.byref(count))
print(count.value)
"""


def driver_paths():
    """Where the driver may be, as dlopen wants it."""
    folders = os.environ.get("LD_LIBRARY_PATH", "").split(":") + nvidia_libraries.DRIVER_FOLDERS
    paths = [f"{folder}/{nvidia_libraries.DRIVER}" for folder in folders if folder]
    return [nvidia_libraries.DRIVER] + [path for path in paths if os.path.exists(path)]


def count_gpus():
    """(count, why there is none)."""
    why = ""
    for path in driver_paths():
        try:
            answer = subprocess.run([sys.executable, "-c", COUNT_GPUS, path], timeout=60,
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                    check=False)
        except subprocess.TimeoutExpired:
            why = why or f"cuInit of {path} did not answer in 60 s"
            continue
        if answer.returncode == 0:
            count = int(answer.stdout)
            return count, "" if count else "the driver sees none"
        why = why or answer.stderr.strip()
    return 0, why


def nvidia_smi():
    """Lines "name, driver, memory", one a GPU."""
    tools = ["nvidia-smi"] + glob.glob("/usr/local/nvidia/bin/nvidia-smi")
    for tool in tools:
        try:
            lines = subprocess.run(
                [tool, "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"],
                timeout=30, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                check=True).stdout.strip().splitlines()
            if lines:
                return lines
        except (OSError, subprocess.SubprocessError):
            continue
    return ["nvidia-smi does not answer"]


def processor():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [line.split(":", 1)[1].strip() for line in file
                     if line.startswith("model name")]
    except OSError:
        names = []
    return f"{os.cpu_count()} × {names[0]}" if names else f"{os.cpu_count()} cores"
