"""The settings of an agent folder: read once, checked, frozen."""

from wakeful.config.frontmatter import FrontMatter, FrontMatterError, read_front_matter
from wakeful.config.lines import KeyPath, key_lines, line_of, texts
from wakeful.config.load import (
    FILE,
    Unreadable,
    faults,
    find_folder,
    load,
    read,
    read_toml,
    secret_in_text,
)
from wakeful.config.settings import (
    SQLITE,
    FileRule,
    SecretSettings,
    Settings,
    is_loopback,
    split_bind,
)
from wakeful.config.words import SECURITY, explain, nearest, unknown

__all__ = [
    "FILE",
    "SECURITY",
    "SQLITE",
    "FileRule",
    "FrontMatter",
    "FrontMatterError",
    "KeyPath",
    "SecretSettings",
    "Settings",
    "Unreadable",
    "explain",
    "faults",
    "find_folder",
    "is_loopback",
    "key_lines",
    "line_of",
    "load",
    "nearest",
    "read",
    "read_front_matter",
    "read_toml",
    "secret_in_text",
    "split_bind",
    "texts",
    "unknown",
]
