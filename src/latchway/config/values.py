"""Single values: durations, counts, prices, addresses, credentials. Each as a `Value` to read by.

Numbers are read from their text: a price becomes whole nano-USD per million tokens, and is never a
binary fraction on its way.
"""

from __future__ import annotations

import ipaddress
import re
from decimal import Decimal
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from latchway.config.kinds import Value, Wrong, take_name
from latchway.settings import Secret

NANO = 9
"""Decimal places of a US dollar that are kept."""
MAX_PRICE = 1_000_000
"""USD per million tokens: a dollar a token. Ten thousand times the dearest model's; a misread unit
is found, and a turn's charge stays within 64 bits."""
MIN_TOKEN_CHARACTERS = 8
"""A shorter token can be guessed."""
MAX_PORT = 65535

DECIMAL = re.compile(r"(?:[0-9]{1,15}(?:\.[0-9]{0,15})?|\.[0-9]{1,15})(?:[eE][-+]?[0-9]{1,2})?")
WHOLE = re.compile(r"[0-9]{1,15}")
LISTEN = re.compile(r"(?:\[(?P<v6>[^\]]+)\]|(?P<host>[^\[\]:/\s]+)):(?P<port>[0-9]{1,5})")


def number(low: float, high: float, what: str = "a number of seconds") -> Value:
    """A duration or a share, with fractions."""

    def take(text: str) -> float:
        return float(_decimal(text, Decimal(str(low)), Decimal(str(high))))

    return Value(f"{what}, {low:g} to {high:g}", take, number=True)


def minutes(low: float) -> Value:
    """Minutes of a connection's life, a day at most."""
    return number(low, 1440, "a number of minutes")


def whole(low: int, high: int, unit: str) -> Value:
    """A count, without sign, point or exponent."""

    def take(text: str) -> int:
        if not WHOLE.fullmatch(text) or not low <= int(text) <= high:
            raise Wrong
        return int(text)

    return Value(f"a whole number of {unit}, {low} to {high}", take, number=True)


def one_of(*words: str, unbuilt: str | None = None) -> Value:
    """One of a few words; `unbuilt` is one that has its meaning and is not built yet."""

    def take(text: str) -> str:
        if text == unbuilt:
            raise Wrong(f"`{unbuilt}` is not built yet; use `{words[0]}`")
        if text not in words:
            raise Wrong
        return text

    return Value(" | ".join(words), take, number=True)


def _decimal(text: str, low: Decimal, high: Decimal) -> Decimal:
    if not DECIMAL.fullmatch(text) or not low <= (value := Decimal(text)) <= high:
        raise Wrong
    return value


def _flag(text: str) -> bool:
    if text not in ("true", "false"):
        raise Wrong
    return text == "true"


def _price(text: str) -> int:
    nano = _decimal(text, Decimal(0), Decimal(MAX_PRICE)).scaleb(NANO)
    if nano != nano.to_integral_value():
        raise Wrong(f"has more than {NANO} places; a nano-dollar is the smallest part that is kept")
    return int(nano)


def _token(text: str) -> Secret:
    if len(text) < MIN_TOKEN_CHARACTERS:
        raise Wrong(f"must have {MIN_TOKEN_CHARACTERS} characters or more: a short one is guessed")
    return _credential(text)


def _credential(text: str) -> Secret:
    if not text:
        raise Wrong("is empty; leave the line out where no credential is needed")
    if not (text.isascii() and text.isprintable()) or " " in text:
        raise Wrong("cannot stand in a header: it holds a space, a line's end or no ASCII")
    return Secret(text)


def _listen(text: str) -> tuple[str, int]:
    match = LISTEN.fullmatch(text)
    if match is None or int(match["port"]) > MAX_PORT:
        raise Wrong
    return _v6(match["v6"]) if match["v6"] else match["host"], int(match["port"])


def _v6(text: str) -> str:
    try:
        return str(ipaddress.IPv6Address(text))
    except ValueError:
        raise Wrong("has no IPv6 address in its brackets") from None


def _database(text: str) -> Path:
    if text.startswith(("postgresql:", "postgres:")):
        raise Wrong("PostgreSQL is not built yet; use sqlite:///FILE")
    if not text.startswith("sqlite:///"):
        raise Wrong
    name = text.removeprefix("sqlite:///")
    if not name or name.endswith("/") or ":memory:" in name:
        raise Wrong("must name a file: money is kept in it; such as sqlite:///latchway.db")
    if "?" in name or "\0" in name:
        raise Wrong("takes no parameters; only the file's name follows sqlite:///")
    return Path(name)


def _file(text: str) -> Path:
    if not text or "\0" in text:
        raise Wrong
    return Path(text)


def _base_url(text: str) -> str:
    url = _split(text)
    if url.scheme not in ("http", "https") or not url.hostname:
        raise Wrong
    if "@" in url.netloc:
        raise Wrong("must hold no user or password; a credential stands in api_key")
    if "?" in text or "#" in text:
        raise Wrong("must have no query and no fragment; it ends with a path such as /v1")
    if url.path.rstrip("/").endswith("/responses"):
        raise Wrong("must end before /responses, which is appended; it ends with a path like /v1")
    return text.rstrip("/")


def _split(text: str) -> SplitResult:
    if not (text.isascii() and text.isprintable()) or " " in text or "\\" in text:
        raise Wrong("must hold no space, backslash or other sign that a URL cannot hold")
    try:
        url = urlsplit(text)
        port = url.port
    except ValueError:
        raise Wrong("has a host or port that is none") from None
    if port == 0:
        raise Wrong("has a host or port that is none")
    return url


FLAG = Value("true or false", _flag, number=True)
NAME = Value("a name", take_name)
PRICE = Value(
    f"an amount in USD per million tokens, 0 to {MAX_PRICE}, such as 2.50", _price, number=True
)
TOKEN = Value(f"text of {MIN_TOKEN_CHARACTERS} characters or more", _token, secret=True)
CREDENTIAL = Value("text", _credential, secret=True)
LISTEN_ADDRESS = Value("host:port, an IPv6 address in brackets, such as [::1]:8787", _listen)
DATABASE = Value("sqlite:///FILE, with a fourth slash if FILE is absolute", _database)
FILE = Value("a file's name", _file)
BASE_URL = Value("a URL with http:// or https://, such as https://api.openai.com/v1", _base_url)
