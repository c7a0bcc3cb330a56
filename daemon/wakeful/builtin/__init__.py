"""The plugs that come with Wakeful: in this package in a wheel, at the root in a clone."""

from pathlib import Path

_HERE = Path(__file__).resolve().parent

if not (_HERE / "channels").is_dir():
    __path__ = [str(_HERE.parents[2])]
