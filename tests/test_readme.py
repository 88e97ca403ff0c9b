"""The README's Python runs and answers what it says; its commands exist with their options."""

import doctest
import re
import shlex
from pathlib import Path

import pytest

from bayesnb.cli import commands

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def shell_lines():
    """Lines of the blocks that name no language."""
    language = None
    for line in README.splitlines():
        if line.startswith("```"):
            language = None if language is not None else line[3:]
        elif language == "":
            yield from line.split("&& ")


COMMANDS = sorted({found[1] for line in shell_lines() if (found := re.search(r"(?:^|\s)bayesnb ([a-z].*)", line))})


def test_the_python_examples_answer_what_they_say(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    examples = doctest.DocTestParser().get_doctest(README, {}, "README.md", "README.md", 0)
    assert len(examples.examples) >= 10
    told = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    runner.run(examples, out=told.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(told)
    assert (tmp_path / "ratios.png").stat().st_size > 0


@pytest.mark.parametrize("line", COMMANDS)
def test_every_command_it_shows_can_be_parsed(line):
    words = shlex.split(re.split(r"\s{2,}|\s\|", line)[0])  # what follows wide space says what it does
    import typer.main

    app = typer.main.get_command(commands.app)
    name, *rest = words
    command = app.commands[name]
    context = command.make_context(name, rest, resilient_parsing=False)
    assert context.params


def test_every_command_is_in_the_readme():
    import typer.main

    shown = {line.split()[0] for line in COMMANDS}
    assert set(typer.main.get_command(commands.app).commands) == shown


def test_every_picture_it_shows_is_there():
    pictures = re.findall(r"!\[.+?\]\((.+?)\)", README)
    assert pictures
    for path in pictures:
        assert (Path(__file__).parents[1] / path).is_file()
