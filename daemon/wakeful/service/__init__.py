"""The daemon: everything opened on one exit stack, watched, and closed in the right order."""

from wakeful.service.opening import Service, open_service
from wakeful.service.running import run_service

__all__ = ["Service", "open_service", "run_service"]
