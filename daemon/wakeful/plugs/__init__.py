"""Find, load and check what an agent folder holds: ours and the user's, by folder and name."""

from wakeful.plugs.check import check
from wakeful.plugs.folder import Folder
from wakeful.plugs.values import ChannelPlug, Snapshot, SubAgentSpec, ToolPlug

__all__ = ["ChannelPlug", "Folder", "Snapshot", "SubAgentSpec", "ToolPlug", "check"]
