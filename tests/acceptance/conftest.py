"""Helpers of this folder assert too; let pytest explain them as it explains a test."""

import pytest

for module in ("stage", "daemon", "load"):
    pytest.register_assert_rewrite(f"tests.acceptance.{module}")
