from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from wakeful.events import Fault
from wakeful.plugs.schedules import parse, unread
from wakeful.schedule import Rule
from wakeful.schedule.fires import utc_time

HANDLER = "async def run(host):\n    return None\n"


class Folder:
    """A schedules folder; reads what is written into it."""

    def __init__(self, path: Path) -> None:
        self.path = path / "schedules"
        self.path.mkdir()

    def read(self, name: str, text: str, *, zone: str = "UTC") -> Rule | list[Fault]:
        file = self.path / name
        file.write_text(dedent(text).lstrip("\n"), encoding="utf-8")
        return parse(file, default_zone=zone)

    def rule(self, text: str, *, name: str = "r.md", zone: str = "UTC") -> Rule:
        found = self.read(name, text, zone=zone)
        assert isinstance(found, Rule), found
        return found

    def faults(self, text: str, *, name: str = "r.md") -> list[str]:
        found = self.read(name, text)
        assert isinstance(found, list)
        return [str(fault) for fault in found]


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def test_a_schedule_in_full(folder: Folder) -> None:
    rule = folder.rule(
        """
        ---
        cron: 30 8 * * mon-fri
        timezone: Pacific/Auckland
        deliver: slack:#reports
        thread: fresh
        catch_up: skip
        ---

        Write the daily report.

        ---
        Say what is new.
        """,
        name="daily-report.md",
    )
    assert (rule.name, rule.file) == ("daily-report", "schedules/daily-report.md")
    assert (rule.cron, rule.timezone) == ("30 8 * * mon-fri", "Pacific/Auckland")
    assert (rule.deliver, rule.thread, rule.catch_up) == ("slack:#reports", "fresh", "skip")
    assert rule.prompt == "Write the daily report.\n\n---\nSay what is new."
    assert rule.run is None


def test_what_is_not_written_is_the_default(folder: Folder) -> None:
    rule = folder.rule("---\nevery: 71m\n---\nGo.", zone="Europe/Berlin")
    assert (rule.every, rule.cron, rule.at) == (4260, "", None)
    assert (rule.timezone, rule.deliver) == ("Europe/Berlin", "")
    assert (rule.thread, rule.catch_up) == ("continue", "once")


@pytest.mark.parametrize(
    ("line", "cron"),
    [
        ("cron: */5 * * * *", "*/5 * * * *"),
        ("cron: * * * * *", "* * * * *"),
        ("cron: @daily", "@daily"),
        ("cron: '*/5 9 * * *'", "*/5 9 * * *"),
        ('cron: "@daily"', "@daily"),
        ("cron: */5 9 * * *   # not too often", "*/5 9 * * *"),
        ("cron:   0 9 * * *", "0 9 * * *"),
    ],
)
def test_a_cron_expression_needs_no_quotes(folder: Folder, line: str, cron: str) -> None:
    assert folder.rule(f"---\n{line}\n---\nGo.").cron == cron


def test_a_line_of_the_prompt_that_looks_like_a_setting_is_left_alone(folder: Folder) -> None:
    assert folder.rule("---\nevery: 1h\n---\ncron: * is a star").prompt == "cron: * is a star"


@pytest.mark.parametrize(
    ("line", "utc"),
    [
        ("at: 2027-03-15 09:00", "2027-03-15T08:00:00Z"),
        ("at: 2027-03-15 09:00:00", "2027-03-15T08:00:00Z"),
        ("at: 2027-03-15T09:00:00Z", "2027-03-15T09:00:00Z"),
        ("at: '2027-03-28 02:30'", "2027-03-28T01:00:00Z"),
    ],
)
def test_a_moment_is_meant_in_the_schedule_s_zone(folder: Folder, line: str, utc: str) -> None:
    rule = folder.rule(f"---\n{line}\ntimezone: Europe/Berlin\n---\nGo.")
    assert rule.at is not None and utc_time(rule.at) == utc


def test_all_faults_come_at_once_each_with_its_line(folder: Folder) -> None:
    assert folder.faults(
        """
        ---
        cron: 0 9 * * mondays
        timezone: europe/berlin
        thred: fresh
        deliver: console
        catch_up: twice
        ---
        """
    ) == [
        'schedules/r.md:4: thred: there is no setting "thred"; did you mean "thread"?',
        "schedules/r.md: below the settings stands the prompt, and it is empty; say what to do",
        "schedules/r.md:3: timezone: there is no time zone 'europe/berlin'; "
        "did you mean Europe/Berlin?",
        "schedules/r.md:2: cron: 'mondays' is no day of week; did you mean mon?",
        'schedules/r.md:5: deliver: an address is "<channel>:<where>", '
        'for example "console:reports"',
        'schedules/r.md:6: catch_up: there is no value "twice"; there are: all, once, skip',
    ]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (
            "timezone: UTC",
            "schedules/r.md: nothing says when it fires; write one of cron, every, at",
        ),
        ("every: 1h\nat: 2027-01-01 09:00", "r.md:3: at: several settings say when it fires"),
        ("every: 90", "r.md:2: every: '90' is no interval; write a number and a unit"),
        ("every: 1:30", "is no interval"),
        ("every: true", "write one text here, not yes or no"),
        ("every: [1h, 2h]", "write one text here, not a list"),
        ("every:\n  hours: 2", "write one text here, not a table"),
        ("at: tomorrow", "is no date and time"),
        ("at: 2027-01-01", "has no time of day"),
        ("cron: 0 9 31 2 *", "it would never fire"),
        ("cron: 0 0 9 * * *", "no seconds"),
        ("cron:", "0 fields"),
        ("every: 1h\nthread: new", 'no value "new"; there are: continue, fresh'),
        ("every: 1h\nevery: 2h", "stands here twice"),
        ("every: 1h: 2", "colon"),
        ("just words", "key: value"),
    ],
)
def test_a_fault_says_what_to_do(folder: Folder, settings: str, words: str) -> None:
    assert words in folder.faults(f"---\n{settings}\n---\nGo.")[0]


@pytest.mark.parametrize("text", ["", "Go.", "cron: 0 9 * * *\nGo."])
def test_a_file_without_settings_is_refused(folder: Folder, text: str) -> None:
    assert folder.faults(text)[0].startswith("schedules/r.md:1: ")


def test_a_schedule_in_python(folder: Folder) -> None:
    rule = folder.rule(
        'CRON = "0 3 * * *"\nTIMEZONE = "Europe/Berlin"\nDELIVER = "console:ops"\n'
        f'CATCH_UP = "skip"\nLIMIT = 5\n{HANDLER}',
        name="sweep.py",
    )
    assert (rule.name, rule.file) == ("sweep", "schedules/sweep.py")
    assert (rule.cron, rule.timezone) == ("0 3 * * *", "Europe/Berlin")
    assert (rule.deliver, rule.catch_up, rule.prompt) == ("console:ops", "skip", "")
    assert rule.run is not None


def test_a_schedule_in_python_may_be_a_folder(folder: Folder) -> None:
    inner = folder.path / "sweep"
    inner.mkdir()
    (inner / "rules.py").write_text('WHEN = "1h"\n')
    (inner / "__init__.py").write_text(f"from .rules import WHEN\nEVERY = WHEN\n{HANDLER}")
    rule = parse(inner)
    assert isinstance(rule, Rule) and (rule.name, rule.every) == ("sweep", 3600)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (HANDLER, "r.py: nothing says when it fires; write one of CRON, EVERY, AT"),
        (
            f'X = 1\nCRONN = "0 3 * * *"\n{HANDLER}',
            'r.py:2: CRONN: there is no setting "CRONN"; did you',
        ),
        (f'CRON = "0 3 * * x"\n{HANDLER}', "r.py:1: CRON: 'x' is no day of week"),
        (f'EVERY: str = "1 hours ago"\n{HANDLER}', "r.py:1: EVERY: "),
        ('EVERY = "1h"\ndef run(host):\n    pass\n', "r.py:2: a schedule in Python needs `async"),
        ('EVERY = "1h"\nasync def run():\n    pass\n', "r.py:2: a schedule in Python needs `async"),
        ('EVERY = "1h"\n', "r.py: a schedule in Python needs `async def run(host)`"),
        ("EVERY = \n", "r.py:1: it is not Python"),
        ("EVERY = '1h'\nimport no_such_module\n", 'r.py:2: the module "no_such_module" is missing'),
        ("EVERY = 1 / 0\n", "r.py:1: it does not load: ZeroDivisionError"),
        ("import sys\nsys.exit(2)\n", "r.py:2: it does not load: SystemExit"),
    ],
)
def test_a_fault_in_python_says_what_to_do(folder: Folder, text: str, words: str) -> None:
    assert words in folder.faults(text, name="r.py")[0]


def test_the_digest_is_that_of_the_time(folder: Folder) -> None:
    def digest(settings: str, prompt: str = "Go.", zone: str = "UTC") -> str:
        return folder.rule(f"---\n{settings}\n---\n{prompt}", zone=zone).digest

    nine = digest("cron: 0 9 * * *")
    assert nine == digest("cron: 0 9 * * *", "Go on.")
    assert nine == digest("cron: 0 9 * * *\ndeliver: console:ops\ncatch_up: all")
    assert nine != digest("cron: 0 10 * * *")
    assert nine != digest("cron: 0 9 * * *", zone="Europe/Berlin")
    assert digest("every: 1h") == digest("every: 60m") == digest("every: 1h", zone="Europe/Berlin")


def test_a_schedule_with_a_fault_is_there_but_cannot_be_used() -> None:
    files = {"schedules/a.md": False, "schedules/b/rules.py": False, "schedules/c.md": True}
    faults = [Fault(file=file, message="", warning=only) for file, only in files.items()]
    assert unread([*faults, Fault(file="agent.toml", message="")]) == {"a", "b"}
