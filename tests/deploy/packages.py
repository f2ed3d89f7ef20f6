"""Makes the Debian packages of a build."""

import glob
import os
import subprocess
import tempfile


def made(repository, build):
    """The folder with them, made unless it is there.

    scripts/check_deploy removes it before its tests, which share it.
    """
    folder = repository + "/build/deploy/packages"
    if not os.path.exists(folder):
        with tempfile.TemporaryDirectory(dir=repository + "/build/deploy") as unfinished:
            subprocess.run(["cpack", "-G", "DEB", "-B", unfinished + "/cpack"], cwd=build, check=True,
                           capture_output=True)
            os.mkdir(unfinished + "/packages")
            for path in glob.glob(unfinished + "/cpack/*.deb"):
                os.rename(path, f"{unfinished}/packages/{os.path.basename(path)}")
            os.rename(unfinished + "/packages", folder)
    return folder
