"""A ModelSpec -> its client."""

from __future__ import annotations

import pytest

from flagmm.config.model import ModelSpec
from flagmm.errors import ConfigError
from flagmm.models.build import build_client, own_keys
from flagmm.models.http import HttpClient
from flagmm.models.ocr import OcrClient
from flagmm.models.offline import RandomClient, ScriptedClient

OWN = """
from flagmm.models.client import BaseClient

class Mine(BaseClient):
    def __init__(self, spec, *, path="x", **more):
        self.spec, self.path = spec, path

not_a_class = 3
"""


@pytest.fixture
def own_file(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(OWN)
    return path


@pytest.mark.parametrize(
    ("values", "client"),
    [
        ({"model_type": "http", "url": "http://h/v1"}, HttpClient),
        ({"model_type": "ocr"}, OcrClient),
        ({"model_type": "random"}, RandomClient),
        ({"model_type": "scripted", "options": {"answers": ["A"]}}, ScriptedClient),
    ],
)
def test_a_type_names_a_client(values, client):
    assert type(build_client(ModelSpec(model_name="m", **values))) is client


@pytest.mark.parametrize(
    ("model_type", "keys"),
    [("http", []), ("ocr", []), ("random", []), ("scripted", ["answers", "record"])],
)
def test_the_keys_that_only_one_type_takes_are_known(model_type, keys):
    assert list(own_keys(model_type)) == keys


def test_a_class_in_a_file_is_a_client_too(own_file):
    kind = f"{own_file}:Mine"
    assert list(own_keys(kind)) == ["path"]
    spec = ModelSpec(model_name="m", model_type=kind, options={"path": "y"})
    client = build_client(spec)
    assert (type(client).__name__, client.spec, client.path) == ("Mine", spec, "y")


@pytest.mark.parametrize(
    ("model_type", "message"),
    [
        ("htp", r"^unknown model type 'htp'\. Did you mean 'http'\?$"),
        ("{file}:Other", r"^.*mine\.py defines no class 'Other'$"),
        ("{file}:not_a_class", r"defines no class 'not_a_class'$"),
        ("gone.py:Mine", r"^gone\.py: no such file$"),
        ("{file}", r"^unknown model type '.*mine\.py'"),
        ("x:y", r"^unknown model type 'x:y'"),
    ],
)
def test_an_unknown_type_is_told(own_file, model_type, message):
    with pytest.raises(ConfigError, match=message):
        own_keys(model_type.format(file=own_file))


def test_an_endpoint_without_a_url_is_told():
    with pytest.raises(
        ConfigError, match=r"^model 'm': url is missing; give the endpoint's URL, or another model_type$"
    ):
        build_client(ModelSpec(model_name="m"))


def test_a_class_of_a_file_may_import_its_neighbours(own_file):
    own_file.with_name("neighbour_of_mine.py").write_text("ANSWER = 'A'\n")
    own_file.write_text(f"from neighbour_of_mine import ANSWER\n{OWN}")
    assert build_client(ModelSpec(model_type=f"{own_file}:Mine", model_name="x")) is not None
