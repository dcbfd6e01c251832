"""Every setting is said in words once; help and README's table show these (napari: `test_setting_tooltips`)."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from auctrack.plugins.words.setting_options import SETTINGS
from auctrack.tracker.detecting.settings import DetectSettings
from auctrack.tracker.kinds import choices_of
from auctrack.tracker.linking.settings import HOOKS, LinkSettings
from auctrack.tracker.setting_words import WORDS
from auctrack.tracker.settings import InputSettings

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
OPTIONS = {option.name: option for option in SETTINGS.values()}
OPTIONS_OF = {option.key: option for option in SETTINGS.values()}


def test_all_settings_but_functions_have_words():
    named = {field.name for section in (InputSettings, DetectSettings, LinkSettings) for field in fields(section)}
    assert set(WORDS) == (named | {"min_length"}) - {*HOOKS}


@pytest.mark.parametrize("words", WORDS.values(), ids=WORDS)
def test_words_are_a_phrase_and_sentences(words):
    assert words.what[0].isupper()
    assert not words.what.endswith(".")
    assert not words.auto.endswith(".")
    assert all(part == "" or part.endswith((".", ".)")) for part in (words.more, words.written))


SECTIONS = (InputSettings, DetectSettings, LinkSettings)
DEFAULTS = {field.name: field.default for section in SECTIONS for field in fields(section)}


@pytest.mark.parametrize(
    ("section", "name"),
    [
        (InputSettings, "kind"),
        (DetectSettings, "method"),
        *((LinkSettings, name) for name in ("motion", "cost", "linking")),
    ],
)
def test_words_and_option_name_all_that_a_setting_may_be(section, name):
    words, choices, metavar = WORDS[name], choices_of(section, name), OPTIONS_OF[name].metavar
    said = re.findall(r"[\w+]+", f"{metavar} {words.what} {words.auto} {words.more}")
    assert {*choices} <= {*said}
    assert metavar in ("", "NAME", "|".join(choices))


@pytest.mark.parametrize("name", ["method", "features", "cost", "linking", "memory_budget_gb"])
def test_words_begin_with_the_default_where_it_is_said(name):
    default = DEFAULTS[name]
    said = f"{default:g}" if isinstance(default, float) else default
    assert re.match(r"\w+", WORDS[name].auto)[0] == said


def test_the_table_of_the_readme_says_what_help_says():
    table = README.split("## The three numbers that matter")[1].split("\n\n")[1]
    rows = re.findall(r"^\| `(--[\w-]+)` \| (.*) \| (.*) \|$", table, re.MULTILINE)
    assert [option for option, _, _ in rows] == ["--diameter", "--search-range", "--unmatched-cost"]
    for option, what, auto in rows:
        words = WORDS[OPTIONS[option].key]
        assert (what, auto) == (words.what + ", in µm" * words.is_length, words.auto)
        assert OPTIONS[option].help.startswith(what)
        assert auto in OPTIONS[option].help
