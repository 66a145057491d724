"""Which proxy of the environment a URL is called through."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagmm.config.proxies import environment_proxy, is_bypassed, is_loopback, proxy_label


@pytest.fixture(autouse=True)
def proxies(monkeypatch):
    monkeypatch.setenv("http_proxy", "http://p:1")
    monkeypatch.setenv("https_proxy", "http://p:2")


@pytest.mark.parametrize(
    "host",
    ["localhost", "LOCALHOST", "localhost.", "model.localhost", "127.0.0.1", "127.8.9.1", "0.0.0.0", "[::1]", "[::]",
     "[::ffff:127.0.0.1]"],
)  # fmt: skip
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_this_machine_is_called_directly(scheme, host):
    assert environment_proxy(f"{scheme}://{host}:8000/v1") is None


@pytest.mark.parametrize("host", ["localhost.example.com", "notlocalhost", "10.0.0.1", "192.168.0.7", "[fe80::1]", "h"])
def test_all_others_are_called_through_the_proxy(host):
    assert environment_proxy(f"http://{host}:8000/v1") == "http://p:1"
    assert environment_proxy(f"https://{host}/v1") == "http://p:2"


@pytest.mark.parametrize(
    ("no_proxy", "url", "is_direct"),
    [
        ("h", "http://h/v1", True),
        ("H", "http://h/v1", True),
        ("example.com", "http://api.example.com/v1", True),
        (".example.com", "http://api.example.com/v1", True),
        ("*.example.com", "http://api.example.com/v1", True),
        ("example.com", "http://notexample.com/v1", False),
        ("*", "http://h/v1", True),
        ("a, h ,b", "http://h/v1", True),
        ("h:8000", "http://h:8000/v1", True),
        ("h:8000", "http://h:8001/v1", False),
        ("h:443", "https://h/v1", True),
        ("10.0.0.0/8", "http://10.1.2.3:8000/v1", True),
        ("10.0.0.0/8", "http://11.1.2.3:8000/v1", False),
        ("10.1.2.3", "http://10.1.2.3/v1", True),
        ("fd00::/8", "http://[fd00::1]:8000/v1", True),
        ("[fd00::1]:8000", "http://[fd00::1]:8000/v1", True),
        ("", "http://h/v1", False),
        (",,", "http://h/v1", False),
    ],
)
def test_no_proxy_names_hosts_networks_and_ports(monkeypatch, no_proxy, url, is_direct):
    monkeypatch.setenv("no_proxy", no_proxy)
    assert (environment_proxy(url) is None) == is_direct


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=30))
def test_no_text_in_no_proxy_is_a_fault(entries):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("no_proxy", entries)
        is_bypassed(urlsplit("http://h:8000/v1"))
        is_bypassed(urlsplit("http://10.0.0.1/v1"))


@given(st.text(max_size=30))
def test_any_host_is_this_machine_or_not(host):
    assert is_loopback(host) in (True, False)


def test_a_label_shows_no_password():
    assert proxy_label("http://me:geheim@p:1", "http_proxy") == "through the proxy http://***@p:1 of http_proxy"
