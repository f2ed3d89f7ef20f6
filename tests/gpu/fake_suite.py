"""A program that behaves as one of GoogleTest does, with cases as tests want them."""

import os
import sys

SCRIPT = """#!{python}
import os, sys, time

CASES = {cases!r}

options = dict(word.split("=", 1) for word in sys.argv[1:] if "=" in word)
wanted = options["--gtest_filter"]
names = [name for name in CASES if "*" in wanted or name in wanted.split(":")]
if "--gtest_list_tests" in sys.argv:
    for name in names:
        suite, case = name.split(".")
        print(f"{{suite}}.\\n  {{case}}  # GetParam() = 7")
    sys.exit({list_code})
failed = []
for name in names:
    print(f"[ RUN      ] {{name}}", flush=True)
    what = CASES[name]
    if what == "die":
        print("Check failed: an illegal address", flush=True)
        os.abort()
    if what == "hang":
        time.sleep(50)
    if what == "SKIPPED":
        print("a_test.cc:5: Skipped\\nfor want of it")
    if what == "FAILED":
        print("a_test.cc:7: Failure\\nexpected more")
        failed.append(name)
    ending = ", where GetParam() = 7 (3 ms)" if what == "FAILED" else " (3 ms)"
    print(f"[ {{what:>8}} ] {{name}}{{ending}}", flush=True)
for name in failed:
    print(f"[  FAILED  ] {{name}}, where GetParam() = 7")
sys.exit({code} or (1 if failed else 0))
"""


def write(path, cases, code=0, list_code=0):
    """`cases`: {name: OK, FAILED, SKIPPED, die or hang}. With a `code`, it ends with that."""
    with open(path, "w", encoding="utf-8") as file:
        file.write(SCRIPT.format(python=sys.executable, cases=cases, code=code,
                                 list_code=list_code))
    os.chmod(path, 0o755)
