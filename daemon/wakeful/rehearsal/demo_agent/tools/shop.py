"""What the shop's agent can look up. Every public function is a tool."""

from __future__ import annotations

from wakeful.tool import tool

_ORDERS = {"A-1001": "two packets of Assam, sent with Northwind", "A-1002": "one teapot, not sent"}
_CARRIERS = {"Northwind": "delivers within two days"}


@tool(effect="read")
def order_status(order: str) -> str:
    """Look up an order.

    Args:
        order: its number, such as A-1001.
    """
    return _ORDERS.get(order, "there is no such order")


@tool(effect="read")
def carrier_record(carrier: str) -> str:
    """Look up how fast a carrier delivers.

    Args:
        carrier: its name.
    """
    return _CARRIERS.get(carrier, "nothing is known")


@tool(effect="read")
def orders_today() -> str:
    """Count the orders that are open today."""
    return f"{len(_ORDERS)} orders, 1 of them sent"
