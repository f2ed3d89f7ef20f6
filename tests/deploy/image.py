"""Makes the image's content without a registry and without docker.

The base is made of Debian's packages (mmdebstrap); the steps of the Dockerfile's stage
`paceline` are taken in it, with the packages that cpack makes of a build in the place of
stage `build`.
"""

import os
import shutil
import subprocess
import tempfile

import dockerfile
import packages

# As Debian's slim images are made: without usrmerge and its Perl, and without documentation.
SLIM = [
    "--variant=apt", "--include=usr-is-merged", "--hook-dir=/usr/share/mmdebstrap/hooks/merged-usr",
    '--setup-hook=mkdir -p "$1/etc/apt/preferences.d"',
    r'--setup-hook=printf "Package: usrmerge\nPin: release *\nPin-Priority: -1\n" '
    '> "$1/etc/apt/preferences.d/usrmerge"',
    "--dpkgopt=path-exclude=/usr/share/doc/*", "--dpkgopt=path-exclude=/usr/share/man/*",
    "--dpkgopt=path-exclude=/usr/share/locale/*", '--aptopt=Acquire::Languages "none"']


def make_base(archive):
    """An archive of a root file system that stands for the base image; kept, since it takes long."""
    if not os.path.exists(archive):
        part = archive + ".part.tar"
        subprocess.run(["mmdebstrap", "--quiet", *SLIM, "bookworm", part], check=True,
                       stdout=subprocess.DEVNULL)
        os.rename(part, archive)


def content(repository, build):
    """The folder with the image's content, made unless it is there, and the image's configuration.

    scripts/check_deploy removes it before its tests, which share it.
    """
    debian = packages.made(repository, build)
    stage = dockerfile.read(repository + "/deploy/docker/Dockerfile")["paceline"]
    folder = repository + "/build/deploy/image"
    if not os.path.exists(folder):
        with tempfile.TemporaryDirectory(dir=repository + "/build/deploy") as unfinished:
            make(stage, repository, debian, unfinished + "/image")
            os.rename(unfinished + "/image", folder)
    return folder, dockerfile.configuration(stage)


def make(stage, repository, debian, folder):
    make_base(repository + "/build/deploy/base.tar")
    os.makedirs(folder)
    subprocess.run(["tar", "-xf", repository + "/build/deploy/base.tar", "-C", folder], check=True)
    for instruction, text in stage:
        if instruction == "RUN":
            take(text, folder, debian)
        elif instruction == "WORKDIR":
            os.makedirs(folder + text, exist_ok=True)


def take(text, folder, debian):
    """Takes a RUN's step; what it mounts, the packages, lies in the folder meanwhile."""
    mounts, command = dockerfile.mounts(text)
    shutil.copy("/etc/resolv.conf", folder + "/etc/resolv.conf")
    for mount in mounts:
        assert (mount["from"], mount["source"]) == ("build", "/packages"), mount
        shutil.copytree(debian, folder + mount["target"])
    result = subprocess.run(
        ["chroot", folder, "/bin/sh", "-c", command],
        env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive"},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    for mount in mounts:
        shutil.rmtree(folder + mount["target"])
    os.remove(folder + "/etc/resolv.conf")
    if result.returncode != 0:
        raise RuntimeError(f"{command}: {result.returncode}\n{result.stdout}")
