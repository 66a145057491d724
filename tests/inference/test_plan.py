"""What is still to be asked."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace

import pytest

from flagmm.dataset.sampled import SampledDataset
from flagmm.errors import ConfigError, DataError
from flagmm.inference.plan import Plan, Scope, identified, media_identities
from flagmm.inference.store import PredictionStore
from flagmm.models.request import request_hash
from flagmm.types import ImagePart, MediaSource, Message, Prediction, Sample, TextPart

SETTINGS = "fingerprint"


class ListDataset:
    """Items by number; an exception in place of an item is raised. Counts how often each is built."""

    def __init__(self, *items):
        self.name = "t"
        self.items = list(items)
        self.built = []

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        self.built.append(index)
        if isinstance(self.items[index], Exception):
            raise self.items[index]
        return self.items[index]

    def get_annotation(self):
        return {f"broken{number}": {} for number in range(len(self.items))}


def item(question_id, question="Q?", **fields):
    return {"question_id": question_id, "question": question, **fields}


@pytest.fixture
def planning(tmp_path):
    """Opens a plan over a data set, with the predictions of `saved` on disk."""

    @contextmanager
    def planning(dataset, saved=(), *, fingerprint=SETTINGS, repeats=1, **scope):
        with PredictionStore(tmp_path / "predictions.jsonl") as store:
            for prediction in saved:
                store.append(prediction)
        with PredictionStore(tmp_path / "predictions.jsonl") as store:
            yield Plan(dataset, store, fingerprint=fingerprint, repeats=repeats, scope=Scope(**scope))

    return planning


def saved(question_id, question="Q?", *, inference=0, status="ok", images=(), fingerprint=SETTINGS):
    parts = [*(TextPart(text=question),), *(ImagePart(source=MediaSource(path=str(path))) for path in images)]
    messages = identified((Message(role="user", content=tuple(parts)),))
    return Prediction(
        question_id=question_id, question=question, answer="A", status=status, inference=inference,
        request=request_hash(fingerprint, messages, inference), media=media_identities(messages),
    )  # fmt: skip


THREE = (item(1), item(2), item(3))


@pytest.mark.parametrize(
    ("before", "settings", "open_calls"),
    [
        pytest.param([], {}, [(0, 0), (1, 0), (2, 0)], id="nothing saved"),
        pytest.param([saved("2")], {}, [(0, 0), (2, 0)], id="one answered"),
        pytest.param([saved("1"), saved("2"), saved("3")], {}, [], id="all answered"),
        pytest.param([saved("2", status="failed")], {}, [(0, 0), (1, 0), (2, 0)], id="failed is asked again"),
        pytest.param([saved("2", status="empty")], {}, [(0, 0), (1, 0), (2, 0)], id="empty too"),
        pytest.param([saved("2", status="refused")], {}, [(0, 0), (1, 0), (2, 0)], id="refused too"),
        pytest.param([saved("2", status="failed")], {"keep_failed": True}, [(0, 0), (2, 0)], id="unless they are kept"),
        pytest.param([saved("2", "Old?")], {}, [(0, 0), (1, 0), (2, 0)], id="another question under the id"),
        pytest.param([saved("2", fingerprint="other")], {}, [(0, 0), (1, 0), (2, 0)], id="other settings"),
        pytest.param([saved("1"), saved("9")], {}, [(1, 0), (2, 0)], id="a stranger"),
        pytest.param([], {"limit": 2}, [(0, 0), (1, 0)], id="limit"),
        pytest.param([saved("1")], {"limit": 2}, [(1, 0)], id="limit with one answered"),
        pytest.param([], {"limit": 9}, [(0, 0), (1, 0), (2, 0)], id="limit beyond the end"),
        pytest.param([], {"limit": 0.7}, [(0, 0), (1, 0)], id="a fraction, rounded down"),
        pytest.param([], {"limit": 1.0}, [(0, 0), (1, 0), (2, 0)], id="all of it"),
        pytest.param(
            [saved("1"), saved("3", inference=1)], {"repeats": 2}, [(0, 1), (1, 0), (1, 1), (2, 0)], id="repeats"
        ),
    ],
)
def test_only_what_has_no_fitting_answer_is_asked(planning, before, settings, open_calls):
    with planning(ListDataset(*THREE), before, **settings) as plan:
        assert list(plan.open_calls) == open_calls
        assert plan.total_calls == plan.count * settings.get("repeats", 1)
        assert [(call.question_id, call.inference) for call in plan.calls()] == [
            (str(index + 1), k) for index, k in open_calls
        ]


def test_a_second_answer_that_fits_no_more_opens_the_question_again(planning):
    with planning(ListDataset(item("1")), [saved("1"), saved("1", status="failed")]) as plan:
        assert list(plan.open_calls) == [(0, 0)]


def test_questions_are_built_only_when_their_turn_comes(planning):
    dataset = ListDataset(*THREE)
    with planning(dataset) as plan:
        assert dataset.built == []
        calls = plan.calls()
        next(calls)
        assert dataset.built == [0]


class TableDataset(SampledDataset):
    """Knows ids without building; counts what is built."""

    name = "t"

    def __init__(self, *ids):
        self.ids = ids
        self.built = []

    def __len__(self):
        return len(self.ids)

    def question_id_at(self, index):
        return self.ids[index]

    def build_sample(self, index):
        self.built.append(index)
        message = Message(role="user", content=(TextPart(text="Q?"),))
        return Sample(question_id=self.ids[index], question="Q?", question_type="", messages=(message,))


@pytest.mark.parametrize(("repeats", "inference", "open_calls"), [(1, 0, [0, 2, 3]), (2, 1, [0, 0, 1, 2, 2, 3, 3])])
def test_a_resumed_run_builds_only_questions_with_answers_to_find_what_is_open(
    planning, repeats, inference, open_calls
):
    dataset = TableDataset("a", "b", "c", "d")
    with planning(dataset, [saved("b", inference=inference)], repeats=repeats) as plan:
        assert [index for index, _ in plan.open_calls] == open_calls
        assert dataset.built == [1]


def test_a_data_set_may_say_itself_what_a_limit_lets_through(planning):
    dataset = ListDataset(*THREE)
    dataset.indices_in = lambda limit: [2, 0][:limit]
    with planning(dataset, limit=2) as plan:
        assert list(plan.open_calls) == [(2, 0), (0, 0)]
        assert [call.question_id for call in plan.calls()] == ["3", "1"]
        assert list(plan.question_ids()) == ["3", "1"]


@pytest.mark.parametrize(("limit", "stops"), [(None, True), (2, False)])
def test_an_item_that_cannot_be_built_stops_a_strict_data_set_if_it_would_be_asked(planning, limit, stops):
    dataset = ListDataset(item(1), item(2), DataError("row 3 is bad"))
    dataset.strict = True
    if stops:
        with pytest.raises(DataError, match="row 3 is bad"), planning(dataset, limit=limit):
            pass
    else:
        with planning(dataset, limit=limit) as plan:
            assert plan.count == 2


def test_the_repeats_of_a_question_share_one_sample(planning):
    dataset = ListDataset(item(1))
    with planning(dataset, repeats=3) as plan:
        samples = {id(call.sample) for call in plan.calls()}
    assert (len(samples), dataset.built) == (1, [0])


def write(path, text="picture", mtime_ns=None):
    path.write_text(text)
    return path


def test_a_changed_picture_is_asked_again_and_a_touched_one_is_not(planning, tmp_path):
    paths = [write(tmp_path / f"{number}.png", f"picture {number}") for number in (1, 2, 3)]
    before = [saved(str(number), images=[path]) for number, path in enumerate(paths, start=1)]
    write(paths[1], "another")
    paths[2].touch()
    dataset = ListDataset(*(item(number, img_path=str(path)) for number, path in enumerate(paths, start=1)))
    with planning(dataset, before) as plan:
        assert list(plan.open_calls) == [(1, 0)]
        (call,) = plan.calls()
    assert call.known == before[1].media


def test_a_picture_that_is_gone_is_asked_so_that_its_failure_is_told(planning, tmp_path):
    path = write(tmp_path / "1.png")
    before = [saved("1", images=[path])]
    path.unlink()
    with planning(ListDataset(item(1, img_path=str(path))), before) as plan:
        assert list(plan.open_calls) == [(0, 0)]


def test_an_item_that_cannot_be_built_is_a_call_with_its_error(planning):
    with planning(ListDataset(item(1), KeyError("topic"))) as plan:
        first, second = plan.calls()
    assert (first.sample.question_id, first.error) == ("1", None)
    assert (second.question_id, second.sample) == ("broken1", None)
    assert isinstance(second.error, DataError)
    assert "KeyError: 'topic'" in str(second.error)


def test_a_mistake_in_the_task_file_ends_the_run(planning):
    with (
        planning(ListDataset(ConfigError("prompt_template: wrong"))) as plan,
        pytest.raises(ConfigError, match="wrong"),
    ):
        list(plan.calls())


@pytest.mark.parametrize("before", [[], [saved("1")]])
def test_two_items_of_one_id_are_told(planning, before):
    with (
        pytest.raises(DataError, match=r"^t: items 0 and 2 have the same question_id '1'$"),
        planning(ListDataset(item(1), item(2), item("1")), before) as plan,
    ):
        list(plan.calls())


def test_the_ids_in_scope_come_in_the_data_set_s_order(planning):
    dataset = ListDataset(item("b"), KeyError("x"), item("a"), item("c"))
    with planning(dataset, [saved("a")], limit=3) as plan:
        assert list(plan.question_ids()) == ["b", "broken1", "a"]


def test_media_of_all_kinds_are_identified(tmp_path):
    path = write(tmp_path / "a.png")
    sources = [MediaSource(path=str(path)), MediaSource(url="https://h/a.png"), MediaSource(data=b"abc")]
    (message,) = identified(
        (Message(role="user", content=(TextPart(text="x"), *(ImagePart(source=each) for each in sources))),)
    )
    file, url, memory = (part.source for part in message.content[1:])
    assert file.identity.size == len("picture")
    assert url.identity is None
    assert memory.identity.size == 3
    assert media_identities((message,)) == (file.identity,), "only files are looked at again"


def test_media_unchanged_since_the_last_answer_are_not_read_again(tmp_path):
    path = write(tmp_path / "a.png")
    message = Message(role="user", content=(ImagePart(source=MediaSource(path=str(path))),))
    known = replace(media_identities(identified((message,)))[0], digest="as remembered")
    (found,) = media_identities(identified((message,), (known,)))
    assert found == known


def test_a_file_that_cannot_be_read_is_told(tmp_path):
    message = Message(role="user", content=(ImagePart(source=MediaSource(path=str(tmp_path / "gone.png"))),))
    with pytest.raises(DataError, match=r"gone\.png"):
        identified((message,))


@pytest.mark.parametrize(
    ("before", "settings", "kept", "unfit"),
    [
        pytest.param([], {"limit": 1}, 0, 0, id="nothing saved"),
        pytest.param([saved("1")], {"limit": 1}, 0, 0, id="only what is asked"),
        pytest.param([saved("1"), saved("3")], {"limit": 1}, 1, 0, id="one beyond the limit"),
        pytest.param([saved("3", status="failed")], {"limit": 1}, 1, 0, id="a failure is kept, too"),
        pytest.param([saved("3", "Old?")], {"limit": 1}, 1, 1, id="another question beyond the limit"),
        pytest.param([saved("9")], {"limit": 1}, 0, 0, id="a stranger is none of the data set's"),
        pytest.param([saved("2"), saved("2", inference=1)], {}, 1, 0, id="a repetition more"),
    ],
)
def test_saved_answers_beyond_a_part_are_kept_where_they_fit(planning, before, settings, kept, unfit):
    with planning(ListDataset(*THREE), before, **settings) as plan:
        assert (plan.kept, plan.unfit) == (kept, unfit)
        if kept:
            assert {item.question_id for item in before} <= set(plan.question_ids())
        assert plan.repeats == (2 if any(item.inference for item in before) else 1)


def test_a_part_without_answers_beyond_it_builds_nothing_beyond_it(planning):
    dataset = ListDataset(*THREE)
    with planning(dataset, [saved("1")], limit=2):
        assert set(dataset.built) <= {0, 1}
