"""What the script answers, from plain values alone."""

from __future__ import annotations

from wakeful.rehearsal.reading import parse
from wakeful.rehearsal.script import Said

ORDERS = r"""
[[turn]]
when = 'order (?P<order>A-\d+)'
steps = [
  { call = "order_status", args = { order = "{order}", notes = ["asked: {text}"] } },
  { if_result = 'OUTCOME UNKNOWN', say = "I cannot tell whether {order} was touched." },
  { if_result = 'costs (?P<price>\d+)', say = "{order} costs {price}, said {result}." },
  { say = "{order}: {result}" },
]

[[turn]]
when = 'both'
steps = [
  { say = "Looking.", calls = [{ call = "a" }, { call = "b", args = { n = 1 } }] },
  { say = "{result1} and {result2}" },
]

[[turn]]
when = 'who am I'
recall = 'my name is (\w+)'
steps = [{ say = "You are {1}; this is message {turn}, after: {previous}" }]

[[turn]]
agent = "researcher"
when = '.'
steps = [{ say = "{agent} looked at {text}" }]

[[turn]]
when = 'plan'
steps = [{ todos = ["[x] a", "[>] b", "[ ] c"] }, { task = "researcher" }]

[[turn]]
when = 'flaky'
steps = [{ fail = "outage", times = 2 }, { say = "At last." }]

[[turn]]
when = 'busy'
steps = [{ call = "work", times = 3 }, { say = "Enough." }]
"""


def human(text: str, id: str = "ev-1") -> Said:
    return Said("human", text, id)


def test_a_step_is_played_for_each_time_the_model_is_asked() -> None:
    script = parse(ORDERS)
    said = [human("what of order A-7?")]
    first = script.next(said)
    assert [(c.name, c.args) for c in first.calls] == [
        ("order_status", {"order": "A-7", "notes": ["asked: what of order A-7?"]})
    ]
    said += [Said("ai", ""), Said("tool", "on its way")]
    assert script.next(said).text == "A-7: on its way"


def test_results_choose_the_branch_and_lend_their_groups() -> None:
    script = parse(ORDERS)
    said = [human("order A-7"), Said("ai", "")]
    assert script.next([*said, Said("tool", "it costs 12")]).text == (
        "A-7 costs 12, said it costs 12."
    )
    unknown = script.next([*said, Said("tool", "OUTCOME UNKNOWN: it may have happened")])
    assert unknown.text == "I cannot tell whether A-7 was touched."


def test_parallel_calls_get_their_own_ids_and_results() -> None:
    script = parse(ORDERS)
    said = [human("both")]
    move = script.next(said)
    assert move.text == "Looking."
    assert [call.name for call in move.calls] == ["a", "b"]
    assert len({call.id for call in move.calls}) == 2
    said += [Said("ai", "Looking."), Said("tool", "one"), Said("tool", "two")]
    assert script.next(said).text == "one and two"


def test_the_same_conversation_gives_the_same_ids_and_another_event_other_ones() -> None:
    one, two = parse(ORDERS), parse(ORDERS)
    assert one.next([human("both")]) == two.next([human("both")])
    earlier = [human("both"), Said("ai", ""), Said("tool", "x")]
    again = one.next([*earlier, Said("ai", "x"), human("both", "ev-2")])
    assert {c.id for c in again.calls}.isdisjoint(c.id for c in one.next([human("both")]).calls)


def test_it_remembers_what_was_said_before() -> None:
    script = parse(ORDERS)
    said = [human("my name is Ada"), Said("ai", "hello"), human("who am I", "ev-2")]
    assert script.next(said).text == "You are Ada; this is message 2, after: my name is Ada"
    assert "no line for this" in script.next([human("who am I")]).text


def test_sub_agents_have_turns_of_their_own() -> None:
    script = parse(ORDERS)
    assert script.next([human("order A-7")], "researcher").text == "researcher looked at order A-7"


def test_todos_and_tasks_are_tool_calls() -> None:
    script = parse(ORDERS)
    said = [human("plan it")]
    assert [todo["status"] for todo in script.next(said).calls[0].args["todos"]] == [
        "completed",
        "in_progress",
        "pending",
    ]
    task = script.next([*said, Said("ai", ""), Said("tool", "ok")]).calls[0]
    assert (task.name, task.args["subagent_type"]) == ("task", "researcher")


def test_a_fault_is_played_as_often_as_it_says_and_then_over() -> None:
    script = parse(ORDERS)
    moves = [script.next([human("flaky")]) for _ in range(3)]
    assert [move.fail is not None for move in moves] == [True, True, False]
    assert moves[2].text == "At last."


def test_a_step_may_be_repeated() -> None:
    script = parse(ORDERS)
    said = [human("busy")]
    for _ in range(3):
        assert script.next(said).calls
        said += [Said("ai", ""), Said("tool", "done")]
    assert script.next(said).text == "Enough."


def test_when_the_steps_are_over_the_last_result_is_the_answer() -> None:
    script = parse(ORDERS)
    said = [human("plan it"), Said("ai", ""), Said("tool", "ok"), Said("ai", "")]
    assert script.next([*said, Said("tool", "found it")]).text == "found it"


def test_unknown_prompts_are_echoed_politely_and_shortly() -> None:
    script = parse("")
    assert script.next([human("what?")]).text.endswith("You said: what?")
    assert len(script.next([human("x" * 9_000)]).text) < 700
    assert "nothing to read" in script.next([]).text
