"""Completion and the manual pages of the real programs, in the shells and formatters that are here.

command_line_test.py BIN
"""

import os
import re
import shutil
import subprocess
import sys
import unittest

import zsh_terminal

BIN = os.path.abspath(sys.argv[1])
PROGRAM = os.path.join(BIN, "coordinator")


def output(*command, **options):
    result = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if result.returncode != 0 or result.stderr:
        raise AssertionError(f"{command}: {result.returncode}\n{result.stdout}{result.stderr}")
    return result.stdout


def script(shell):
    return output(PROGRAM, "completion", shell)


def needs(program, what):
    """Skips a test, with the reason, where the program is not installed."""
    return unittest.skipUnless(shutil.which(program), f"no {program} is installed: {what} is not checked")


def complete(*words):
    """What bash offers for the last word."""
    lines = [script("bash"), 'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))',
             '_paceline "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"',
             'printf "%s\\n" "${COMPREPLY[@]}"']
    return output("bash", "-c", "\n".join(lines), "bash", *words).split()


def complete_in_fish(line):
    """What fish offers for the last word, without what it says of it."""
    lines = output("fish", "--no-config", "-c", f"{script('fish')}\ncomplete -C '{line}'").splitlines()
    return [line.split("\t")[0] for line in lines]


class CompletionTest(unittest.TestCase):
    def test_bash_completes_commands(self):
        verbs = complete(PROGRAM, "")
        for verb in ["run", "submit", "list", "token", "completion"]:
            self.assertIn(verb, verbs)
        self.assertNotIn("lead", verbs)
        self.assertEqual(complete(PROGRAM, "desc"), ["describe"])
        self.assertEqual(complete(PROGRAM, "token", ""), ["create", "list", "revoke"])

    def test_bash_completes_options_and_their_values(self):
        self.assertIn("--worker-cores", complete(PROGRAM, "submit", "job.yaml", "--w"))
        self.assertEqual(complete(PROGRAM, "list", "-o", ""), ["table", "wide", "json", "yaml", "name"])
        self.assertEqual(complete(PROGRAM, "list", "-o", "na"), ["name"])
        self.assertEqual(complete(PROGRAM, "token", "create", "--role", "a"), ["admin"])
        # As bash takes "--role=a" apart.
        self.assertEqual(complete(PROGRAM, "token", "create", "--role", "=", "a"), ["admin"])
        self.assertIn("--coordinator", complete(PROGRAM, "token", "create", "--co"))
        # Files are bash's own.
        self.assertEqual(complete(PROGRAM, "submit", ""), [])

    def test_bash_completes_every_command_with_every_option(self):
        for verb in complete(PROGRAM, ""):
            options = complete(PROGRAM, verb, "-")
            shown = output(PROGRAM, verb, "--help")
            for option in options:
                self.assertIn(option, shown)
            self.assertGreaterEqual(len(options), 2, verb)

    def test_names_of_a_service_are_not_run(self):
        program = os.path.join(os.environ["TEST_FOLDER"], "coordinator")
        with open(program, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\nprintf '%s\\n' \"$1-1\" '$(touch bad)' 'a b' '*'\n")
        os.chmod(program, 0o755)
        self.assertEqual(complete(program, "describe", ""), ["list-1"])
        self.assertEqual(complete(program, "drain", ""), ["members-1"])

    @needs("zsh", "its script")
    def test_zsh_completes(self):
        folder = os.environ["TEST_FOLDER"]
        with open(folder + "/_paceline", "w", encoding="utf-8") as file:
            file.write(script("zsh"))
        source = f"source {folder}/_paceline"
        # As a package installs it: in a folder of functions.
        function = f"fpath=({folder} $fpath); compinit -u -D"
        for start in [source, function]:
            line, _ = zsh_terminal.complete("paceline sub", start, folder)
            self.assertEqual(line, "paceline submit ")
        line, choices = zsh_terminal.complete("paceline submit --", source, folder)
        self.assertEqual(line, "paceline submit --")
        self.assertLessEqual({"--worker-cores", "--tls-ca", "--follow"}, set(choices))
        line, choices = zsh_terminal.complete("paceline list -o ", source, folder)
        self.assertEqual(sorted(choices), ["json", "name", "table", "wide", "yaml"])
        line, _ = zsh_terminal.complete("paceline token create --role=a", source, folder)
        self.assertEqual(line, "paceline token create --role=admin ")

    @needs("fish", "its script")
    def test_fish_completes(self):
        self.assertEqual(complete_in_fish("paceline sub"), ["submit"])
        options = complete_in_fish("paceline submit --")
        self.assertLessEqual({"--worker-cores", "--tls-ca", "--follow"}, set(options))
        self.assertNotIn("--keep-jobs", options)
        self.assertEqual(complete_in_fish("paceline token "), ["create", "list", "revoke"])
        self.assertEqual(sorted(complete_in_fish("paceline list -o ")), ["json", "name", "table", "wide", "yaml"])
        self.assertEqual(complete_in_fish("paceline token create --role a"), ["admin"])

    def test_other_shells_are_refused(self):
        result = subprocess.run([PROGRAM, "completion", "tcsh"], capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 2)
        self.assertIn("tcsh", result.stderr)


class ManualPageTest(unittest.TestCase):
    def test_it_has_all_commands(self):
        page = output(PROGRAM, "man")
        for verb in complete(PROGRAM, ""):
            self.assertIn(f'.SS "paceline {verb}', page)

    def test_those_of_daemons_have_all_options(self):
        for program in ["worker", "ps_server"]:
            program = os.path.join(BIN, program)
            page = output(program, "man").replace("\\-", "-")
            options = re.findall(r"^  (?:-\w,)?(--[\w-]+)", output(program, "--help"), re.MULTILINE)
            self.assertIn("--advertise", options)
            for option in options:
                self.assertIn(f"\\fB{option}\\fR", page)
            self.assertLess(page.index("As a daemon of a service"), page.index("\\fB--advertise"))

    @needs("groff", "the page")
    def test_groff_has_no_warning(self):
        texts = {"coordinator": ["paceline submit JOB [OPTION]...", "--worker-cores TEXT", "PACELINE_COORDINATOR"],
                 "worker": ["/usr/lib/paceline/worker [COMMAND] [OPTION]...", "AWS_REGION", "--may_read TEXT"],
                 "ps_server": ["/etc/default/paceline-ps", "138", "paceline(1)"]}
        for program, parts in texts.items():
            page = output(os.path.join(BIN, program), "man")
            shown = output("groff", "-man", "-ww", "-Tutf8", "-P-cbou", input=page)
            for text in parts:
                self.assertIn(text, shown.replace("‐", "-").replace("−", "-"))


if __name__ == "__main__":
    import tempfile
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TEST_FOLDER"] = folder
        unittest.main(argv=sys.argv[:1])
