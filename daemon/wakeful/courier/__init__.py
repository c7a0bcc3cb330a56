"""Outbox -> channel.send -> receipt: the only place that retries a delivery."""

from wakeful.courier.alerts import alarm
from wakeful.courier.courier import Courier
from wakeful.courier.policy import Policy

__all__ = ["Courier", "Policy", "alarm"]
