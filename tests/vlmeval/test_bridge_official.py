"""What is seen of VLMEvalKit without importing it."""

from __future__ import annotations

import sys

import pytest

from flagmm.errors import ConfigError, MissingExtraError
from flagmm.vlmeval.bridge.official import check_installed, is_installed

pytestmark = pytest.mark.skipif(is_installed(), reason="VLMEvalKit is installed")


def test_a_python_that_is_too_old_is_told():
    with pytest.raises(ConfigError, match=r"^VLMEvalKit needs Python 3\.10 or newer, and this is 3\.9$"):
        check_installed(python=(3, 9))


def test_what_is_missing_is_told_with_how_to_install_it():
    with pytest.raises(MissingExtraError, match=r"pip install 'flagmm\[vlmeval\]'"):
        check_installed()


def test_a_folder_of_its_name_is_not_it(tmp_path, monkeypatch):
    (tmp_path / "vlmeval").mkdir()
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    assert not is_installed()
