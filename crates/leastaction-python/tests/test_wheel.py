"""What is in the wheel, and what is not."""

import os
import zipfile
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def wheel():
    """The wheel that was built, as LEASTACTION_WHEEL names it."""
    path = os.environ.get("LEASTACTION_WHEEL")
    if path is None:
        pytest.skip("LEASTACTION_WHEEL names no wheel")
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_licences_and_types_are_there(wheel):
    names = {name.rsplit("/", 1)[-1]: text for name, text in wheel.items()}
    assert b"Permission is hereby granted" in names["LICENSE-MIT"]
    assert b"Apache License" in names["LICENSE-APACHE"]
    assert "py.typed" in names
    assert "_core.pyi" in names


def test_nothing_tells_where_it_was_built(wheel):
    places = [str(Path(__file__).resolve().parents[3]), str(Path.home()) + "/", os.environ.get("CARGO_HOME", "")]
    for name, text in wheel.items():
        for place in filter(None, places):
            assert place.encode() not in text, f"{place} in {name}"
