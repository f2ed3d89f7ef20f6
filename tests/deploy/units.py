"""Reads systemd's unit files, as far as ours use them."""

import re
import shlex


def read_unit(path):
    """The settings of a unit: {(section, key): [values in order]}."""
    settings, section = {}, None
    with open(path, encoding="utf-8") as file:
        for line in map(str.strip, file):
            if line.startswith("["):
                section = line.strip("[]")
            elif line and not line.startswith("#"):
                key, value = line.split("=", 1)
                settings.setdefault((section, key), []).append(value)
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
    words = []
    for word in shlex.split(unit["Service", "ExecStart"][0]):
        word = re.sub(r"%(\w)", lambda match: specifiers[match[1]], word)
        if re.fullmatch(r"\$\w+", word):
            words += shlex.split(variables[word[1:]])
        else:
            words.append(re.sub(r"\$\{(\w+)\}", lambda match: variables[match[1]], word))
    return words
