"""Where the pictures may be that an official `build_prompt` names by relative paths."""

from __future__ import annotations

import pytest

from flagmm.errors import DataError
from flagmm.vlmeval.bridge.messages import messages_of


@pytest.mark.parametrize("way", ["../far/a.png", "link.png"])
def test_a_relative_path_leads_out_of_vlmevalkits_folders_only_with_leave(tmp_path, monkeypatch, way):
    for name in ("work", "images", "far"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "work")
    for name in ("images", "far"):
        (tmp_path / name / "a.png").write_bytes(b"x")
    (tmp_path / "images" / "link.png").symlink_to(tmp_path / "far" / "a.png")
    folders = [tmp_path / "images"]
    with pytest.raises(DataError, match=f"--allow-media-root {tmp_path / 'far'}$"):
        messages_of([{"type": "image", "value": way}], folders=folders)
    [message] = messages_of([{"type": "image", "value": way}], folders=folders, allowed=[str(tmp_path / "far")])
    assert (tmp_path / "far" / "a.png").samefile(message.content[0].source.path)
    for inside in ("a.png", str(tmp_path / "far" / "a.png")):
        assert messages_of([{"type": "image", "value": inside}], folders=folders)
