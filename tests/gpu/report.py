"""The report of a run, in Markdown."""

import datetime


def headline(results):
    counts = {state: sum(result.state == state for _, result, _ in results)
              for state in ("passed", "failed", "skipped")}
    return ", ".join(f"{count} {state}" for state, count in counts.items())


def details(results):
    for name, result, _ in results:
        first, *more = result.detail.split("\n")
        if more:
            yield f"\n### {name}: {result.state}\n\n{first}\n\n```\n" + "\n".join(more) + "\n```"


def markdown(title, facts, results):
    """`facts`: {what: value}; `results`: [(name, Result, seconds)]."""
    now = datetime.datetime.now(datetime.timezone.utc)
    lines = [f"# {title}: {headline(results)}", "", f"{now:%Y-%m-%d %H:%M} UTC.", "", "| | |",
             "|---|---|"]
    lines += [f"| {what} | {value} |" for what, value in facts.items()]
    lines += ["", "| stage | result | seconds | |", "|---|---|---|---|"]
    for name, result, seconds in results:
        first = result.detail.split("\n")[0].replace("|", "\\|")
        lines.append(f"| {name} | {result.state} | {seconds:.0f} | {first} |")
    figures = [row for _, result, _ in results for row in result.figures]
    if figures:
        lines += ["", "| | ours | PyTorch | ours / PyTorch |", "|---|---|---|---|"]
        lines += [f"| {' | '.join(row)} |" for row in figures]
    lines += details(results)
    return "\n".join(lines) + "\n"
