"""The README and the pages it leads to: what they print is run as it stands."""

from __future__ import annotations

import json
import re
from pathlib import Path

from servers import MockEndpoint

from tests.end_to_end.folders import write_picture

ROOT = Path(__file__).resolve().parents[2]


def blocks(page: str, heading: str, language: str) -> list[str]:
    """The code blocks of one language under a heading."""
    text = (ROOT / page).read_text(encoding="utf-8")
    section = text.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return re.findall(rf"```{language}\n(.*?)```", section, re.DOTALL)


def commands(page: str, heading: str) -> list[list[str]]:
    """The arguments of each `flagevalmm` line under a heading."""
    lines = [line for block in blocks(page, heading, "bash") for line in block.splitlines()]
    return [line.split()[1:] for line in lines if line.startswith("flagevalmm ")]


def write_model_file(folder: Path, endpoint: MockEndpoint) -> None:
    values = json.loads(blocks("README.md", "Your endpoint", "json")[0])
    (folder / "model.json").write_text(json.dumps(values | {"url": endpoint.url}))


def test_the_task_in_ten_minutes_runs_as_it_is_printed(run_command, tmp_path):
    [data] = blocks("README.md", "A task in ten minutes", "json")
    [task] = blocks("README.md", "A task in ten minutes", "python")
    for number in (1, 2):
        write_picture(tmp_path / f"cats/img/{number}.png")
    (tmp_path / "cats/data.json").write_text(data)
    (tmp_path / "cats/cats.py").write_text(task)
    check, by_chance, with_model = commands("README.md", "A task in ten minutes")
    assert run_command(*check).status == 0
    assert run_command(*by_chance).status == 0
    with MockEndpoint() as endpoint:
        write_model_file(tmp_path, endpoint)
        done = run_command(*with_model, MY_KEY="key-of-the-test")
    assert done.status == 0
    assert re.search(r"^cats +accuracy +50\.00 ", done.stdout, re.MULTILINE)
    assert len(endpoint.requests) == 2


def test_every_file_that_the_readme_names_is_written(run_command, tmp_path):
    [data] = blocks("README.md", "A task in ten minutes", "json")
    (tmp_path / "cats/img").mkdir(parents=True)
    (tmp_path / "cats/data.json").write_text(data.replace('"img_path"', '"picture"'))
    (tmp_path / "cats/cats.py").write_text(blocks("README.md", "A task in ten minutes", "python")[0])
    run_command("--tasks", "cats/cats.py", "--model-type", "random")
    [table] = re.findall(r"\| file \| holds \|\n(.*?)\n\n", (ROOT / "README.md").read_text(), re.DOTALL)
    names = [name for row in table.splitlines()[1:] for name in re.findall(r"`([^`]+)`", row.split("|")[1])]
    for name in names:
        path = f"summary{name}" if name.startswith(".") else name.replace("<task>", "cats")
        assert (tmp_path / "results/random" / path).is_file(), name


def test_the_client_of_ones_own_runs_as_it_is_printed(run_command, tmp_path):
    [client] = blocks("docs/models.md", "A client of your own", "python")
    (tmp_path / "my_client.py").write_text(client)
    write_picture(tmp_path / "cats/img/1.png")
    (tmp_path / "cats/data.json").write_text(
        '[{"question_id": 1, "question": "?", "question_type": "short-answer", "answer": "hello, 1"}]'
    )
    (tmp_path / "cats/cats.py").write_text(blocks("README.md", "A task in ten minutes", "python")[0])
    [arguments] = commands("docs/models.md", "A client of your own")
    done = run_command("--tasks", "cats/cats.py", *arguments[2:])
    assert "100.00" in done.stdout


def test_the_scripted_model_runs_as_it_is_printed(run_command, tmp_path):
    [model] = blocks("docs/models.md", "Without an endpoint", "json")
    (tmp_path / "scripted.json").write_text(model)
    for number in (1, 2):
        write_picture(tmp_path / f"cats/img/{number}.png")
    (tmp_path / "cats/data.json").write_text(blocks("README.md", "A task in ten minutes", "json")[0])
    (tmp_path / "cats/cats.py").write_text(blocks("README.md", "A task in ten minutes", "python")[0])
    done = run_command("--tasks", "cats/cats.py", "--cfg", "scripted.json")
    assert "100.00" in done.stdout
    assert len((tmp_path / "asked.jsonl").read_text().splitlines()) == 2


def test_links_lead_somewhere():
    for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), ROOT / "tasks/README.md"]:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
            assert "://" in target or (page.parent / target).exists(), f"{page.name}: {target}"
