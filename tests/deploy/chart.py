"""Renders deploy/helm/paceline with Helm's own engine."""

import os

import helm_python
import yaml

CHART = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../deploy/helm/paceline")


def render(values, release="demo", namespace="ml"):
    """The objects of a release: a list of maps."""
    with helm_python.Chart.load(CHART) as chart:
        files = chart.render(values, name=release, namespace=namespace)
    return [thing for path, text in sorted(files.items()) if path.endswith(".yaml")
            for thing in yaml.safe_load_all(text) if thing]


def notes(values, release="demo", namespace="ml"):
    with helm_python.Chart.load(CHART) as chart:
        return chart.render(values, name=release, namespace=namespace)["paceline/templates/NOTES.txt"]


def of_kind(objects, kind):
    """{name: object}"""
    return {thing["metadata"]["name"]: thing for thing in objects if thing["kind"] == kind}


def pod_templates(objects):
    """{name of the StatefulSet: its pods' template}"""
    return {name: thing["spec"]["template"] for name, thing in of_kind(objects, "StatefulSet").items()}
