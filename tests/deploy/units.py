"""Reads systemd's unit files, as far as ours use them."""

import re
import shlex


def read_unit(path, settings=None):
    """The settings of a unit: {(section, key): [values in order]}; of a drop-in, added to `settings`."""
    settings, section = dict(settings or {}), None
    with open(path, encoding="utf-8") as file:
        for line in map(str.strip, file):
            if line.startswith("["):
                section = line.strip("[]")
            elif line and not line.startswith("#"):
                key, value = line.split("=", 1)
                settings[section, key] = [*settings.get((section, key), []), value]
    return settings


def read_environment(path):
    """The variables of an EnvironmentFile."""
    variables = {}
    with open(path, encoding="utf-8") as file:
        for line in map(str.strip, file):
            if line and not line.startswith("#"):
                key, value = line.split("=", 1)
                variables[key] = value.strip("\"'")
    return variables


def command_line(unit, variables, specifiers):
    """The words of ExecStart: "%S" and "${X}" are put in, a word "$X" becomes its words."""
    def put_in(text):
        return re.sub(r"%(\w)", lambda match: specifiers[match[1]], text)

    own = dict(put_in(word).split("=", 1) for value in unit.get(("Service", "Environment"), [])
               for word in shlex.split(value))
    variables = {**own, **variables}
    words = []
    for word in map(put_in, shlex.split(unit["Service", "ExecStart"][0])):
        if re.fullmatch(r"\$\w+", word):
            words += shlex.split(variables[word[1:]])
        else:
            words.append(re.sub(r"\$\{(\w+)\}", lambda match: variables[match[1]], word))
    return words
