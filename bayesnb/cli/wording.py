"""The library's messages in the shell's words: its arguments are options here."""

from __future__ import annotations

import ast
import re
import shlex

_OPTIONS = "text|label|format|encoding|quoting|header|event|alpha|prior|class_prior|estimate|tokens|sampler|seed|draws"
_VALUE = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_GIVEN = re.compile(rf"(?<![\w-])({_OPTIONS})=({_VALUE})((?:(?:,| or) (?:{_VALUE}))*)")
_BARE = re.compile(rf"(?<![\w-])({_OPTIONS})=(?=\s|$|[,;:.)])")
_CLASS_PRIOR = re.compile(r"(?<![\w/.='\"-])class_prior(?= (?:is|names|must)\b)")
_QUOTED = re.compile(_VALUE)
_PHRASES = {"{label: path}": "LABEL=PATH", "tokens=[...]": "--token TOKEN", "header=False": "--no-header"}


def in_shell_words(message: str) -> str:
    """What to type in place of what to pass: ``--estimate mean`` for ``estimate='mean'``.

    Only what is written as a Python argument with a quoted value, or with none, is translated, so that paths and labels
    in a message stay as they are.
    """
    for ours, typed in _PHRASES.items():
        message = message.replace(ours, typed)
    message = _CLASS_PRIOR.sub("--class-prior", message)
    message = _GIVEN.sub(lambda m: f"{_option(m[1])} {_word(m[2])}{_QUOTED.sub(_alternative, m[3])}", message)
    return _BARE.sub(lambda m: _option(m[1]), message)


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")


def _alternative(quoted: re.Match[str]) -> str:
    return _word(quoted[0])


def _word(literal: str) -> str:
    try:
        return shlex.quote(str(ast.literal_eval(literal)))
    except (ValueError, SyntaxError):  # it only looked like one
        return literal
