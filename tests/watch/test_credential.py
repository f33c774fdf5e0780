"""The credential is in nothing that is shown, and no byte moves where it is blotted out."""

from __future__ import annotations

import pytest

from latchway.watch.credential import Credential

SECRET = "sk-0123456789"


@pytest.mark.parametrize(
    ("secret", "text", "clean"),
    [
        (SECRET, f"key {SECRET}.", "key (credential)."),
        ('sk-"0123456', r'{"key": "sk-\"0123456"}', '{"key": "(credential)"}'),
        (None, "nothing", "nothing"),
        ("test", "a test of words", "a test of words"),
    ],
)
def test_text_is_cleaned(secret: str | None, text: str, clean: str) -> None:
    assert Credential(secret).clean(text) == clean


def test_bytes_keep_their_places() -> None:
    assert Credential(SECRET).blot(b"<" + SECRET.encode() + b">") == b"<*************>"


def test_it_does_not_print_itself() -> None:
    assert SECRET not in repr(Credential(SECRET))
