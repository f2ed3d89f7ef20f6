"""Starts programs in a root file system as a container's, without a container runtime."""

import os
import shlex
import signal
import subprocess


class Container:
    """A program whose root file system is the folder `root`, read-only.

    It has the user, group, environment and folder of `configuration` (dockerfile.py), no
    capabilities, process ids of its own, and `mounts`: {path in the container: (file or folder
    here, or None for memory, whether it may write)}. `network` names a network namespace;
    `options` are Popen's. Needs root. As a context it ends with the program killed.
    """

    def __init__(self, root, command, configuration, mounts, network=None, **options):
        steps = ["mount --make-rprivate /",
                 f"mount --bind {root} {root}", f"mount -o remount,bind,ro {root}",
                 f"mount -t proc proc {root}/proc", f"mount --rbind /dev {root}/dev"]
        for path, (source, writes) in mounts.items():
            make_place(root + path, source)
            if source is None:
                steps.append(f"mount -t tmpfs -o mode=1777 tmpfs {root}{path}")
                continue
            steps.append(f"mount --bind {source} {root}{path}")
            if not writes:
                steps.append(f"mount -o remount,bind,ro {root}{path}")
        user, group = configuration["user"], configuration["group"]
        # What starts each of its programs.
        self.start = [
            "setpriv", f"--reuid={user}", f"--regid={group}", "--clear-groups",
            "--no-new-privs", "--bounding-set=-all", "--inh-caps=-all", "env", "--ignore-environment",
            f"--chdir={configuration['folder']}",
            *(f"{name}={value}" for name, value in configuration["env"].items())]
        enter = ["nsenter", f"--net=/run/netns/{network}"] if network else []
        script = " && ".join([*steps, "exec " + shlex.join(["chroot", root, *self.start, *command])])
        self.process = subprocess.Popen(
            [*enter, "unshare", "--mount", "--pid", "--fork", "/bin/sh", "-c", script],
            **options)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()

    def children(self):
        """The program's process id, if it runs, as a list."""
        pid = self.process.pid
        with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as file:
            return [int(child) for child in file.read().split()]

    def signal(self, number):
        """Sends a signal to the program, if it runs."""
        for child in self.children():
            os.kill(child, number)

    def execute(self, command, timeout_s):
        """Runs another program beside its own, which must run; see subprocess.run."""
        child, = self.children()
        return subprocess.run(
            ["nsenter", f"--target={child}", "--mount", "--pid", "--net", "--root", *self.start, *command],
            capture_output=True, text=True, timeout=timeout_s, check=False)

    def kill(self):
        """Ends all of its processes at once: the kernel does when the first has ended."""
        if self.process.poll() is None:
            self.signal(signal.SIGKILL)
        self.process.wait()

    def wait(self, timeout_s):
        """The program's exit code."""
        return self.process.wait(timeout=timeout_s)


def make_place(path, source):
    """A container's runtime makes what is mounted over."""
    if source is None or os.path.isdir(source):
        os.makedirs(path, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        open(path, "a", encoding="utf-8").close()


def run(root, command, configuration, mounts, network=None):
    """Its exit code and what it wrote."""
    with Container(root, command, configuration, mounts, network, stdout=subprocess.PIPE,
                   stderr=subprocess.STDOUT, text=True) as container:
        output = container.process.communicate(timeout=60)[0]
        return container.process.returncode, output
