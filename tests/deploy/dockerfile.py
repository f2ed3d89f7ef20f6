"""Reads Dockerfiles, as far as ours use them."""

import json
import re


def read(path):
    """The stages: {name: [(instruction, text), ...]}, with FROM as the first."""
    with open(path, encoding="utf-8") as file:
        lines = [line for line in file.read().splitlines() if not line.startswith("#")]
    stages, stage = {}, []
    for line in re.sub(r" *\\\n *", " ", "\n".join(lines)).splitlines():
        if not line.strip():
            continue
        instruction, text = line.split(None, 1)
        if instruction == "FROM":
            stage = stages.setdefault(text.split(" AS ")[1], [])
        stage.append((instruction, text))
    return stages


def mounts(text):
    """What a RUN mounts, [{"from": STAGE, "source": ..., "target": ...}], and its command."""
    found = []
    while match := re.match(r"--mount=(\S+) ", text):
        found.append(dict(part.split("=", 1) for part in match[1].split(",")))
        text = text[match.end():]
    return found, text


def configuration(stage):
    """What a container of the stage starts with: {"env", "user", "folder", "command"}."""
    result = {"env": {}}
    for instruction, text in stage:
        if instruction == "ENV":
            name, value = text.split("=", 1)
            result["env"][name] = value
        elif instruction == "USER":
            result["user"], result["group"] = map(int, text.split(":"))
        elif instruction == "WORKDIR":
            result["folder"] = text
        elif instruction == "CMD":
            result["command"] = json.loads(text)
    return result
