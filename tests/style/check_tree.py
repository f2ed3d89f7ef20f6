"""Checks the source tree against every rule: check_tree.py REPOSITORY."""

import os
import sys

import rules

FOLDERS = ["proto", "common", "coordinator", "worker", "ps_server", "tests"]


def read_tree(root):
    files = {}
    for folder in FOLDERS:
        for parent, _, names in os.walk(os.path.join(root, folder)):
            for name in names:
                path = os.path.join(parent, name)
                if rules.is_source(path) or name.endswith((".py", ".proto", "CMakeLists.txt")):
                    with open(path, encoding="utf-8") as file:
                        files[os.path.relpath(path, root)] = file.read()
    return files


def main():
    files = read_tree(sys.argv[1])
    failed = False
    for rule in rules.ALL:
        violations = sorted(rule(files))
        failed |= bool(violations)
        if violations:
            print(f"{rule.__name__}: {rule.__doc__}")
        for violation in violations:
            print(f"  {violation}")
    print(f"{len(rules.ALL)} rules over {len(files)} files")
    return 1 if failed or not files else 0


if __name__ == "__main__":
    sys.exit(main())
