"""The report of a run, in Markdown."""

import datetime

import results


def headline(outcomes):
    counts = {state: sum(result.state == state for _, result, _ in outcomes)
              for state in ("passed", "failed", "skipped")}
    return ", ".join(f"{count} {state}" for state, count in counts.items())


def cell(text):
    return text.split("\n")[0].replace("|", "\\|")


def row(*cells):
    return f"| {' | '.join(cells)} |"


def figure_rows(outcomes, is_gpu):
    """A row for each goal, measured or not."""
    for stage, result, _ in outcomes:
        for goal in stage.goals:
            figure = result.figures.get(goal)
            if figure is None:
                why = result.unmeasured.get(goal, result.detail)
                yield row(goal.what, goal.beside, "–", "–", "–", f"{goal.least:g}",
                          f"not measured: {cell(why)}")
                continue
            verdict = results.verdict(goal, figure) if is_gpu else "not on a GPU"
            yield row(goal.what, goal.beside, cell(figure.ours), cell(figure.theirs),
                      figure.ratio(), f"{goal.least:g}", cell(verdict))


def details(outcomes):
    for stage, result, _ in outcomes:
        first, *more = result.detail.split("\n")
        if more:
            yield (f"\n### {stage.name}: {result.state}\n\n{first}\n\n```\n" + "\n".join(more) +
                   "\n```")


def markdown(title, facts, outcomes, is_gpu=True):
    """`facts`: {what: value}; `outcomes`: [(Stage, Result, seconds)]."""
    now = datetime.datetime.now(datetime.timezone.utc)
    lines = [f"# {title}: {headline(outcomes)}", "", f"{now:%Y-%m-%d %H:%M} UTC.", "", "| | |",
             "|---|---|"]
    lines += [row(what, value) for what, value in facts.items()]
    lines += ["", "| stage | result | seconds | |", "|---|---|---|---|"]
    lines += [row(stage.name, result.state, f"{seconds:.0f}", cell(result.detail))
              for stage, result, seconds in outcomes]
    figures = list(figure_rows(outcomes, is_gpu))
    if figures:
        lines += ["", "Figures: ratios of interleaved pairs, the median and the quartiles.", "",
                  row("what", "beside", "ours", "theirs", "ours / theirs", "goal", ""),
                  "|---|---|---|---|---|---|---|", *figures]
    lines += details(outcomes)
    return "\n".join(lines) + "\n"
