"""What is held back of an attempt before its output begins (R4)."""

from __future__ import annotations

from latchway.wire.frame import Frame, Kind


class Hold:
    """Frames kept back in order: kept, then released or discarded, once.

    `since`: when the first lifecycle frame was kept; neutral frames start no hold.
    """

    __slots__ = ("frames", "limit_bytes", "since", "size_bytes")

    def __init__(self, limit_bytes: int) -> None:
        self.frames: list[Frame] = []
        self.size_bytes = 0
        self.limit_bytes = limit_bytes
        self.since: float | None = None

    def fits(self, frame: Frame) -> bool:
        return self.size_bytes + len(frame.block) <= self.limit_bytes

    def keep(self, frame: Frame, now: float) -> None:
        self.frames.append(frame)
        self.count(frame)
        if self.since is None and frame.kind is Kind.LIFECYCLE:
            self.since = now

    def count(self, frame: Frame) -> None:
        """Count a frame, also one that is kept elsewhere: the bound is for all that is kept."""
        self.size_bytes += len(frame.block)

    def release(self) -> tuple[Frame, ...]:
        """All that was kept, in order. The hold is empty afterwards and keeps nothing more."""
        frames = tuple(self.frames)
        self.discard()
        return frames

    def discard(self) -> None:
        self.frames.clear()
        self.size_bytes = 0
        self.since = None

    @property
    def only_neutral(self) -> bool:
        """No event of the response is held."""
        return self.since is None
