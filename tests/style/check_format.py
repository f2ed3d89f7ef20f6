"""Checks that sources are as clang-format writes them: check_format.py REPOSITORY."""

import os
import shutil
import subprocess
import sys

import check_tree
import rules

SKIPPED = 77


def main():
    root = sys.argv[1]
    if shutil.which("clang-format") is None:
        print("skipped: clang-format is not installed")
        return SKIPPED
    sources = [path for path in check_tree.read_tree(root) if rules.is_source(path)]
    return subprocess.run(["clang-format", "--dry-run", "-Werror", *sources],
                          cwd=os.path.abspath(root), check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
