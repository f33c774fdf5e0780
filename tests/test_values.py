"""Words are themselves and nothing else; records are frozen, and equal when their fields are."""

from __future__ import annotations

import copy

import pytest

from latchway.turn.delivery import State
from latchway.turn.events import Arrived, Broke
from latchway.values import Value, Word, replace
from latchway.wire.frame import Kind

WORDS = (State, Kind)


@pytest.mark.parametrize("words", WORDS)
def test_a_word_is_found_by_its_name_and_by_its_value(words: type[Word]) -> None:
    for word in words:
        assert getattr(words, word.name) is word is words(word.value)
        assert vars(words)[word.name] is word, "it is looked up by a call"


@pytest.mark.parametrize("words", WORDS)
def test_a_word_is_its_own_key(words: type[Word]) -> None:
    assert {word: word.name for word in words} == {copy.copy(word): word.name for word in words}
    assert len(set(words)) == len(words)


def test_a_word_cannot_be_given_another_meaning() -> None:
    with pytest.raises(AttributeError):
        State.NEW = State.ENDED  # type: ignore[misc]


def test_a_record_is_frozen() -> None:
    broke: Value = Broke(1, "reset")
    with pytest.raises(AttributeError):
        broke.reason = "another"  # type: ignore[attr-defined]


def test_records_of_one_kind_are_equal_when_their_fields_are() -> None:
    assert Broke(1, "reset") == Broke(1, "reset") != Broke(2, "reset")
    assert Broke(1, "reset") != Arrived(1, ())


def test_a_record_with_other_fields_is_another() -> None:
    broke = Broke(1, "reset")
    assert replace(broke, attempt=2) == Broke(2, "reset")
    assert broke.attempt == 1
