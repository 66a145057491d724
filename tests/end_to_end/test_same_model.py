"""An answer depends on which model gave it, not on where: what goes on at another address, and what does not."""

from __future__ import annotations

import json
from contextlib import ExitStack

import pytest

from tests.end_to_end.folders import MODEL, choices, counts_of, read_json, read_lines, write_model, write_task
from tests.servers import MODELS_PATH, MockEndpoint, Reply, error_reply

COUNT = 3


def serving(root, *, name=MODEL):
    """A list of models in which one has this root; None leaves it out."""
    model = {"id": name, "object": "model", **({} if root is None else {"root": root})}
    return Reply(raw_body=json.dumps({"object": "list", "data": [model, {"id": "other", "root": "/other"}]}).encode())


class Places:
    """Endpoints with a list of models each, the real command, and what each run asked."""

    def __init__(self, command, stack):
        self.command, self.stack, self.out = command, stack, command.folder / "out"
        self.task = write_task(command.folder / "task", choices(COUNT))

    def open(self, listed, script=None):
        return self.stack.enter_context(MockEndpoint(script, files={MODELS_PATH: listed}))

    def run(self, endpoint, *flags, **settings):
        """The finished command and how many questions it asked."""
        before = len(endpoint.asked)
        model = write_model(self.command.folder / "model.json", endpoint.url, **settings)
        done = self.command("--tasks", self.task, "--cfg", model, "--output-dir", "out", *flags)
        return done, len(endpoint.asked) - before


@pytest.fixture
def places(run_command):
    with ExitStack() as stack:
        yield Places(run_command, stack)


def test_the_same_root_at_another_address_goes_on_and_another_root_never_does(places):
    first, moved, other = (places.open(serving(root)) for root in ("/a", "/a", "/b"))
    assert places.run(first, "--limit", 2)[1] == 2
    done, asked = places.run(moved)
    assert (done.status, done.warnings, asked) == (0, [], 1)
    assert len(read_lines(places.out / "colours" / "predictions.jsonl")) == COUNT
    for flags in ((), ("--same-model",)):
        done, asked = places.run(other, *flags)
        assert (done.status, asked) == (2, 0)
        [error] = done.errors
        assert f"serves '/b' as {MODEL!r}, and the saved answers are of '/a'; give another --output-dir" in error
        assert "--same-model" not in error
    assert places.run(other, "--overwrite")[1] == COUNT


def test_two_checkpoints_under_one_name_at_one_address_are_not_mixed(places):
    listed = ["/a"]
    endpoint = places.open(lambda request: serving(listed[0]))
    assert places.run(endpoint, "--limit", 2)[1] == 2
    listed[0] = "/b"
    done, asked = places.run(endpoint)
    assert (done.status, asked) == (2, 0)
    assert "the saved answers are of '/a'" in done.errors[0]
    listed[0] = None  # which tells nothing, and the address is the same
    assert places.run(endpoint)[1] == 1
    listed[0] = "/b"
    assert places.run(endpoint)[0].status == 2  # what was told once is not forgotten


@pytest.mark.parametrize(
    "listed",
    [serving(None), error_reply(404, "no such path"), Reply(raw_body=b"{"), Reply(reset=True)],
    ids=["no root", "no list", "no JSON", "reset"],
)
def test_where_the_endpoint_does_not_tell_a_person_has_to(places, listed):
    first, moved = places.open(listed), places.open(listed)
    assert places.run(first, "--limit", 2)[1] == 2
    done, asked = places.run(moved)
    assert (done.status, asked) == (2, 0)
    assert f"url was {first.url!r}, is {moved.url!r}, and nothing there tells" in done.errors[0]
    assert "say --same-model where it is, give another --output-dir, or --overwrite" in done.errors[0]
    done, asked = places.run(moved, "--same-model")
    assert (done.status, asked) == (0, 1)
    assert places.run(moved)[1] == 0  # said once for all


def test_other_settings_at_another_address_are_refused_whatever_is_said(places):
    first, moved = places.open(serving("/a")), places.open(serving("/a"))
    places.run(first)
    done, asked = places.run(moved, "--same-model", "--temperature", 0.5)
    assert (done.status, asked) == (2, 0)
    assert "other settings (temperature was 0, is 0.5); give another" in done.errors[0]


def test_a_folder_from_before_identities_goes_on_where_nothing_changed(places):
    endpoint = places.open(error_reply(404, "no such path"))
    assert places.run(endpoint, "--limit", 2)[1] == 2
    config = places.out / "colours" / "colours_config.json"
    saved = read_json(config)
    del saved["identity"]
    config.write_text(json.dumps(saved))
    endpoint._files[MODELS_PATH] = serving("/a")
    done, asked = places.run(endpoint)
    assert (done.status, asked) == (0, 1)
    assert read_json(config)["fingerprint"] == saved["fingerprint"]
    endpoint._files[MODELS_PATH] = serving("/b")
    assert places.run(endpoint)[0].status == 2


def test_the_list_is_looked_at_once_a_run_with_the_key_of_the_endpoint(run_command, tmp_path):
    tasks = [write_task(tmp_path / name, choices(1), name=name) for name in ("a", "b")]
    with MockEndpoint() as endpoint:
        model = write_model(tmp_path / "model.json", endpoint.url, api_key="sk-1")
        assert run_command("--tasks", *tasks, "--cfg", model).status == 0
        [look] = endpoint.looks
    assert look.headers["authorization"] == "Bearer sk-1"


def test_the_reply_cache_goes_by_the_root_too(places):
    first, moved, other = (places.open(serving(root)) for root in ("/a", "/a", "/b"))
    assert places.run(first, use_cache=True)[1] == COUNT
    assert places.run(moved, "--overwrite", use_cache=True)[1] == 0
    assert places.run(other, "--overwrite", use_cache=True)[1] == COUNT


def test_what_failed_holds_nothing_and_a_mended_model_file_goes_on(places):
    refuses = error_reply(400, "Unsupported parameter: 'max_tokens' is not supported with this model. "
                               "Use 'max_completion_tokens' instead.")  # fmt: skip
    endpoint = places.open(serving("/a"), lambda request: refuses if "max_tokens" in request.body else Reply())
    done, asked = places.run(endpoint, max_tokens=7)
    assert (done.status, asked) == (1, COUNT)
    assert '(give the model "max_tokens_key": "max_completion_tokens")' in done.warnings[0]
    done, asked = places.run(endpoint, max_tokens=7, max_tokens_key="max_completion_tokens")
    assert (done.status, asked) == (0, COUNT)
    assert counts_of(places.out) == {"total": COUNT, "asked": COUNT, "answered": COUNT}
    assert len(read_lines(places.out / "colours" / "predictions.jsonl")) == COUNT
    assert endpoint.asked[-1].body["max_completion_tokens"] == 7


def test_where_something_was_answered_a_changed_model_file_is_refused_all_the_same(places):
    endpoint = places.open(serving("/a"), lambda request: Reply() if "1?" in request.text else error_reply(400, "no"))
    places.run(endpoint)
    done, asked = places.run(endpoint, max_tokens=7)
    assert (done.status, asked) == (2, 0)
    assert "max_tokens was None, is 7" in done.errors[0]


def test_what_failed_does_not_hold_other_data_off(places):
    endpoint = places.open(serving("/a"), lambda request: Reply() if "new" in request.text else error_reply(400, "no"))
    places.run(endpoint)
    other = write_task(places.command.folder / "other", [{**item, "question": "new?"} for item in choices(COUNT)])
    done, asked = places.run(endpoint, "--data-root", other.parent / "data")
    assert (done.status, asked) == (0, COUNT)


def test_no_temperature_is_sent_where_it_is_null_and_the_error_says_so(places):
    refuses = error_reply(400, "Unsupported value: 'temperature' does not support 0 with this model.")
    endpoint = places.open(serving("/a"), lambda request: refuses if "temperature" in request.body else Reply())
    done, _ = places.run(endpoint)
    assert '(give the model "temperature": null to send none)' in done.warnings[0]
    assert places.run(endpoint, temperature=None)[0].status == 0


def test_the_other_commands_go_on_in_the_same_way(run_command, tmp_path):
    (tmp_path / "v").mkdir()
    record = {"messages": [{"role": "user", "content": "which?"}], "answer": "x"}
    (tmp_path / "v" / "t.jsonl").write_text(json.dumps(record) + "\n")
    (tmp_path / "t1.tsv").write_text("index\tquestion\tA\tB\tanswer\n1\twhich?\tx\ty\tB\n")
    data = json.dumps({"general_vqa": {"local_path": "v"}})
    with MockEndpoint() as first, MockEndpoint() as moved:

        def general(endpoint, *flags):
            return run_command(
                "eval", "--model", "m", "--api-url", endpoint.url, "--datasets", "general_vqa", "--dataset-args", data,
                "--work-dir", "o", "--no-timestamp", "--generation-config", "temperature=null,max_tokens=9,"
                "max_tokens_key=max_completion_tokens", *flags,
            )  # fmt: skip

        def tables(endpoint, *flags):
            return run_command(
                "vlmeval", "--model", "m", "--base-url", endpoint.url, "--data", "t1", "--judge", "exact_matching",
                *flags, LMUData=str(tmp_path),
            )  # fmt: skip

        assert (general(first).status, tables(first).status) == (0, 0)
        assert first.asked[0].body.keys() & {"temperature", "max_tokens"} == set()
        assert first.asked[0].body["max_completion_tokens"] == 9
        refused = general(moved, "--use-cache", "o"), tables(moved, "--reuse")
        assert [done.status for done in refused] == [2, 2]
        assert "give same_model (--same-model) where it is, give rerun_review" in refused[0].errors[0]
        assert "say --same-model where it is, or leave --reuse out" in refused[1].errors[0]
        gone_on = general(moved, "--use-cache", "o", "--same-model"), tables(moved, "--reuse", "--same-model")
        assert [done.status for done in gone_on] == [0, 0]
        assert moved.asked == []
