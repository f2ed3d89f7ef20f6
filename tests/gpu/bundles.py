"""Opens what `bundle` made, for a command that runs its programs."""

import contextlib
import json
import lzma
import os
import subprocess
import sys
import tarfile

import nvidia_libraries
import programs

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


class BadArgument(Exception):
    """Says which, and why."""


def unpack(bundle, folder):
    """The folder with what is in it."""
    root = f"{folder}/{programs.BUNDLE_NAME}"
    try:
        with tarfile.open(bundle) as archive:
            archive.extractall(folder)
    except (OSError, EOFError, lzma.LZMAError, tarfile.TarError) as error:
        why = str(error).split("\n", maxsplit=1)[0]
        raise BadArgument(f"--bundle {bundle}: cannot be unpacked: {why}") from None
    if not os.path.exists(f"{root}/bundle.json"):
        raise BadArgument(f"--bundle {bundle}: is not of tests/gpu/bundle")
    return root


def open_bundle(bundle, folder):
    if bundle is not None:
        return unpack(bundle, folder)
    if os.path.exists(f"{ROOT}/bundle.json"):
        return ROOT
    made = f"{folder}/bundle.tar.xz"
    packed = subprocess.run([sys.executable, f"{HERE}/bundle", "--output", made],
                            stdout=sys.stderr, check=False)
    if packed.returncode != 0:
        raise BadArgument("no bundle could be packed, see above; --bundle names one")
    return unpack(made, folder)


@contextlib.contextmanager
def opened(bundle, folder, use_own_glibc=None):
    """(its Programs, what bundle.json says, libraries that nobody has).

    Without a bundle it is the unpacked one that this file is in, or one is made of the
    build. `folder` gets what is unpacked.
    """
    root = open_bundle(bundle, folder)
    with open(f"{root}/bundle.json", encoding="utf-8") as file:
        manifest = json.load(file)
    with programs.Programs(root, manifest["needs_glibc"], use_own_glibc) as ours:
        plugins = [name for name in os.listdir(f"{root}/bin") if name.endswith(".so")]
        yield ours, manifest, nvidia_libraries.add_folders(ours, plugins)
