"""Due schedules -> inbox."""

from wakeful.clock.keeper import Timekeeper

__all__ = ["Timekeeper"]
