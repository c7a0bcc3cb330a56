from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wakeful.config import FILE, faults, find_folder, load
from wakeful.errors import FolderFaulty, Unknown


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    for name in list(os.environ):
        if name.upper().startswith("WAKEFUL_"):
            monkeypatch.delenv(name)


def write(folder: Path, text: str) -> Path:
    (folder / FILE).write_text(text, "utf-8")
    return folder


def said(folder: Path) -> list[str]:
    return [str(fault) for fault in faults(folder)]


def test_command_line_beats_environment_beats_file_beats_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, 'model = "file"\n[limits]\nsteps = 10\nattempts = 2\nconcurrency = 3\n')
    monkeypatch.setenv("WAKEFUL_LIMITS__STEPS", "20")
    monkeypatch.setenv("WAKEFUL_LIMITS__ATTEMPTS", "4")
    limits = load(tmp_path, {"limits": {"steps": 30}}).limits
    assert (limits.steps, limits.attempts, limits.concurrency, limits.seconds) == (30, 4, 3, 900.0)


def test_lists_and_tables_from_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, 'model = "file"\nfallbacks = ["a"]\n')
    monkeypatch.setenv("WAKEFUL_FALLBACKS", '["b", "c"]')
    monkeypatch.setenv("WAKEFUL_MODEL_OPTIONS__BASE_URL", "http://127.0.0.1:1")
    loaded = load(tmp_path)
    assert loaded.fallbacks == ("b", "c")
    assert loaded.model_options == {"base_url": "http://127.0.0.1:1"}


def test_E17_a_variable_set_to_nothing_does_not_beat_a_real_value(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, 'model = "file"\n')
    monkeypatch.setenv("WAKEFUL_MODEL", "")
    assert load(tmp_path).model == "file"


def test_all_faults_at_once_with_line_key_and_nearest_word(tmp_path: Path) -> None:
    write(
        tmp_path,
        'modle = "x"\nbind = 1\n\n[server]\npubic_bind = "x"\n[limits]\nsteps = "many"\n'
        '[alerts]\nroute = [\n  "slack:#ops",\n  "slack"]\n',
    )
    assert said(tmp_path) == [
        "agent.toml: model: this setting is needed",
        'agent.toml:1: modle: there is no setting "modle"; did you mean "model"?',
        'agent.toml:2: bind: "bind" belongs into the table [server]',
        'agent.toml:5: server.pubic_bind: there is no setting "pubic_bind";'
        ' did you mean "public_bind"?',
        "agent.toml:7: limits.steps: write a whole number, without quotes",
        'agent.toml:11: alerts.route.1: "slack" is no address; write channel and place,'
        ' such as "slack:#ops"',
    ]
    with pytest.raises(FolderFaulty) as caught:
        load(tmp_path)
    assert len(caught.value.faults) == 6


def test_a_fault_is_told_where_the_value_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, 'model = "x"\n[limits]\nsteps = 5\n')
    monkeypatch.setenv("WAKEFUL_LIMITS__STEPS", "none")
    monkeypatch.setenv("WAKEFUL_SERVER__BNID", "x")
    found = faults(tmp_path, {"limits": {"attempts": 0}})
    assert {(fault.file, fault.key) for fault in found} == {
        ("the environment", "WAKEFUL_LIMITS__STEPS"),
        ("the environment", "WAKEFUL_SERVER__BNID"),
        ("the command line", "limits.attempts"),
    }


def test_a_variable_that_is_no_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, 'model = "x"\n')
    monkeypatch.setenv("WAKEFUL_FALLBACKS", "a, b")
    assert said(tmp_path) == [
        'the environment: WAKEFUL_FALLBACKS: write it as JSON, such as ["one", "two"]'
    ]


def test_a_mistyped_variable_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, 'model = "x"\n')
    monkeypatch.setenv("WAKEFUL_MODLE", "y")
    monkeypatch.setenv("WAKEFUL_SOMETHING_ELSE", "y")
    [fault] = faults(tmp_path)
    assert (fault.key, fault.warning) == ("WAKEFUL_MODLE", True)
    assert load(tmp_path).model == "x"


def test_a_token_in_the_file_is_a_warning_that_does_not_repeat_it(tmp_path: Path) -> None:
    token = "sk-ant-" + "b" * 40
    write(tmp_path, f'model = "x"\n[model_options]\napi_key = "{token}"\n')
    [fault] = faults(tmp_path)
    assert fault.warning
    assert str(fault).startswith("agent.toml:3: model_options.api_key: this looks like a secret")
    assert token not in str(fault)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('model = "x\n', "agent.toml:1: it is not TOML"),
        ("a = 1\n= 2\n", "agent.toml:2: it is not TOML"),
        ("a = 1\na = 2\n", "it is not TOML"),
        ("a = [1,", "it is not TOML"),
    ],
)
def test_what_is_not_toml(tmp_path: Path, text: str, words: str) -> None:
    [fault] = said(write(tmp_path, text))
    assert words in fault


def test_no_file_and_no_text(tmp_path: Path) -> None:
    assert "`wakeful init` writes one" in said(tmp_path)[0]
    (tmp_path / FILE).write_bytes(b"\xff\xfe")
    assert "cannot be read" in said(tmp_path)[0]


def test_windows_line_ends_and_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b'\xef\xbb\xbfmodel = "x"\r\nmodle = 1\r\n')
    assert said(tmp_path)[0].startswith("agent.toml:2: modle")


def test_find_folder_goes_upward(tmp_path: Path) -> None:
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    with pytest.raises(Unknown, match="wakeful init"):
        find_folder(deep)
    write(tmp_path, 'model = "x"\n')
    assert find_folder(deep) == tmp_path.resolve()
    write(tmp_path / "a", 'model = "y"\n')
    assert find_folder(deep) == (tmp_path / "a").resolve()


VALID = 'model = "x"\n[server]\nbind = "127.0.0.1:1"\n[alerts]\nroute = ["a:b", "c:d"]\n'
EDITED = st.builds(
    lambda at, length, new: VALID[:at] + new + VALID[at + length :],
    st.integers(0, len(VALID)),
    st.integers(0, 9),
    st.text("abz[]{}=\"\n.#'\\1", max_size=5),
)


@given(st.one_of(st.text(max_size=60), EDITED))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_any_text_is_settings_or_faults_with_a_line_of_the_file(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text, "utf-8", newline="")
    for fault in faults(tmp_path):
        assert fault.message
        assert fault.line is None or 1 <= fault.line <= text.count("\n") + 1


@pytest.mark.parametrize("text", ["a = " + "[" * 5000, "a = " + "1" * 5000, "a." * 3000 + "b = 1"])
def test_what_no_person_writes_is_refused_too(tmp_path: Path, text: str) -> None:
    assert said(write(tmp_path, text))


def test_the_key_lies_outside_the_folder(tmp_path: Path) -> None:
    agent = tmp_path / "agent"
    agent.mkdir()
    write(agent, 'model = "x"\n[secrets]\nbackend = "file"\nkey_file = "keys/k"\n')
    [fault] = faults(agent)
    assert (fault.security, fault.line) == (True, 4)
    write(agent, 'model = "x"\n[secrets]\nkey_file = "../k"\n')
    assert faults(agent) == []
    write(agent, 'model = "x"\n[secrets]\nkey_file = "~/k"\n')
    assert load(agent).secrets.key_file == Path.home() / "k"


def test_a_host_of_trust_is_a_host_alone(tmp_path: Path) -> None:
    write(tmp_path, 'model = "x"\n[trust]\nhosts = ["*.example.com", "https://a.example/b"]\n')
    [fault] = said(tmp_path)
    assert fault.startswith("agent.toml:3: trust.hosts")
    assert 'write a host alone, such as "docs.example.com"' in fault
