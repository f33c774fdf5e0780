"""Each step takes what it should; what it should not is refused, with what would be right."""

from __future__ import annotations

from typing import Any

import pytest

from latchway.lab import checked
from latchway.lab.reading import ScriptError
from latchway.lab.script import Close, End, Ending, Event, Line, Ping, Raw, Repeat, Silence, Step

STEPS: list[tuple[Any, Step]] = [
    ("created", Event("created", None)),
    ({"created": "resp_1"}, Event("created", "resp_1")),
    ({"type": "x", "n": 1}, Event("event", {"type": "x", "n": 1})),
    ({"event": {"n": 1}}, Event("event", {"n": 1})),
    ({"failed": "slow_down"}, Event("failed", {"code": "slow_down"})),
    ({"completed": {"input": -1}}, Event("completed", {"input": -1})),
    ("silence", Silence()),
    ({"silence": True}, Silence()),
    ({"end": "cut"}, End(Ending.CUT)),
    ({"raw": "é"}, Raw("é".encode())),
    ({"binary": {"base64": "/wA="}}, Raw(b"\xff\x00", binary=True)),
    ("comment", Line(": ")),
    ({"data": "x"}, Line("data: x")),
    ("done", Line("data: [DONE]")),
    ({"close": 4000}, Close(4000)),
    ({"close": {"code": 1011, "reason": "é"}}, Close(1011, "é")),
    ("ping", Ping()),
    ({"repeat": {"times": 2, "events": ["silence"]}}, Repeat(2, (Silence(),))),
]

FAULTS: list[tuple[Any, str]] = [
    ([{"events": ["slience"]}], "[0].events[0]: 'slience' is no step; did you mean silence?"),
    ([{"events": [{"wait": 1, "text": "x"}]}], "[0].events[0]: a step has one key"),
    ([{"events": [7]}], "[0].events[0]: must be a mapping, not 7"),
    ([{"events": [{"wait": "1 s"}]}], "[0].events[0].wait: must be seconds, 0 to 86400, not '1 s'"),
    ([{"events": [{"text": 5}]}], "[0].events[0].text: must be a text, not 5; put it in quotes"),
    ([{"events": [{"reset": 3}]}], "[0].events[0].reset: takes no value"),
    ([{"events": [{"end": "soon"}]}], "must be one of clean, cut, not 'soon'"),
    ([{"events": [{"raw": {"base64": "!"}}]}], "raw.base64: is no base64"),
    ([{"events": [{"raw": {}}]}], "raw: must be a text, or base64"),
    ([{"events": [{"comment": "a\nb"}]}], "comment: must be one line"),
    ([{"events": [{"close": 1006}]}], "close: 1006 is never sent; end: cut closes without"),
    ([{"events": [{"close": {"reason": "x"}}]}], "close: needs code"),
    ([{"events": [{"close": {"code": 1000, "reason": "x" * 124}}]}], "may have 123 bytes"),
    ([{"events": [{"ping": "x" * 124}]}], "ping: may have 123 bytes"),
    ([{"events": ["failed"]}], "events[0]: must be a code or a mapping with code"),
    ([{"events": [{"error": {"cod": "x"}}]}], "error.cod: is not known here; did you mean code?"),
    ([{"events": [{"error": {"status": "500"}}]}], "error.status: must be a whole number"),
    ([{"events": [{"completed": {"input": "x"}}]}], "completed.input: must be a whole number"),
    ([{"events": [{"repeat": {"times": 2}}]}], "repeat: needs times and events"),
    ([{"events": [{"repeat": {"times": 0, "events": []}}]}], "times: must be 1 to 1e+06, not 0"),
]


@pytest.mark.parametrize(("written", "step"), STEPS)
def test_each_step_is_read(written: Any, step: Step) -> None:
    (reply,) = checked.parse([{"events": [written]}]).branches[0].replies
    assert reply.steps == (step,)


@pytest.mark.parametrize(("data", "message"), FAULTS)
def test_each_fault_is_named(data: Any, message: str) -> None:
    with pytest.raises(ScriptError) as error:
        checked.parse(data)
    assert message in str(error.value)


def test_repeats_nest_to_a_depth() -> None:
    step: Any = "created"
    for _ in range(4):
        step = {"repeat": {"times": 2, "events": [step]}}
    (reply,) = checked.parse([{"events": [step]}]).branches[0].replies
    assert isinstance(reply.steps[0], Repeat)
    with pytest.raises(ScriptError, match="4 deep at most"):
        checked.parse([{"events": [{"repeat": {"times": 2, "events": [step]}}]}])
