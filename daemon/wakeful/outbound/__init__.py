"""Reaching addresses that somebody else chose: read strictly, resolved once, never inside."""

from wakeful.outbound.address import Address, Hosts, host_pattern, parse, written_in
from wakeful.outbound.ranges import is_public

__all__ = ["Address", "Hosts", "host_pattern", "is_public", "parse", "written_in"]
