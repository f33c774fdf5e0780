"""The llama.cpp pair, as far as it can be tested without 200 MB of it."""

from __future__ import annotations

import importlib.util

import pytest

from latchway.demo import llama


def test_without_llama_cpp_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)

    with pytest.raises(llama.Missing, match="pip install xllamacpp"):
        llama.LlamaPair()


def test_the_prompt_is_long_enough_to_be_killed_in() -> None:
    assert len(llama.LlamaPair.prompt.split()) > 250
