"""Who pays for a turn that has ended: one table (R6)."""

from __future__ import annotations

from latchway.turn.commands import Basis, Delivered


def basis(
    *,
    delivered: Delivered,
    result: bool,
    usage_arrived: bool,
    client_left: bool,
    upstream_broke: bool,
    client_left_pays: bool,
    upstream_broke_pays: bool,
) -> Basis:
    """What the turn is charged by. A result is always paid for; a failure before output never.

    After output without usage, who could have caused the break pays: a client that left, an
    estimate; an upstream that broke, or a gateway that ended the turn, nothing.
    """
    if result:
        return Basis.USAGE if usage_arrived else Basis.ESTIMATE
    if delivered is not Delivered.OUTPUT:
        return Basis.REFUND
    if usage_arrived:
        return Basis.USAGE
    if client_left:
        return Basis.ESTIMATE if client_left_pays else Basis.FORGIVEN
    if upstream_broke:
        return Basis.ESTIMATE if upstream_broke_pays else Basis.FORGIVEN
    return Basis.FORGIVEN
