"""Write the documentation as static pages: `python deploy/site.py FOLDER`.

The pages are those of `/docs/` of a service, in a folder of FOLDER that has the name of
the version. `FOLDER/index.html` lists the versions that are there. All links are
relative, so that the pages work at any address and from a disk, and a script searches
them without a server.
"""

import json
import os
import re
import shutil
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import tutorial_notebook

ROOT = Path(__file__).resolve().parents[1]
HERE = ROOT / "deploy/site"
NOTEBOOK = "tutorial.ipynb"
STYLES = ROOT / "torres/viewer/static"
LINK = re.compile(r'<a href="(/[^"#]*)(#[^"]*)?">(.*?)</a>', re.DOTALL)


def main() -> None:
    target = Path(sys.argv[1] if len(sys.argv) == 2 else ROOT / "build/site")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ladder.settings")
    sys.path.insert(0, str(ROOT))
    import django  # noqa: PLC0415 -- the settings have to be named before

    django.setup()
    folder = target / version("torres-ladder")
    shutil.rmtree(folder, ignore_errors=True)
    count = write_site(folder)
    write_versions(target)
    print(f"{folder}: {count} pages")


def write_site(folder: Path) -> int:
    """Write all pages, the styles and the index of the search; return their number."""
    from ladder.web.pages import docs  # noqa: PLC0415 -- Django has to be set up

    folder.mkdir(parents=True)
    for file in (STYLES / "site.css", STYLES / "icon.svg", HERE / "search.js"):
        shutil.copy(file, folder)
    shutil.copytree(docs.FOLDER / docs.SCHEMAS, folder / docs.SCHEMAS)
    tutorial_notebook.write(folder / "tutorial" / NOTEBOOK)
    names = docs.names()
    for name in names:
        document = docs.find(name)
        about = {"document": document, "title": docs.title(name)}
        if name == "tutorial":
            about["notebook"] = NOTEBOOK
        write_page(folder, name, about)
    write_page(folder, "", {"title": "Documentation"})
    (folder / "search-index.js").write_text(
        f"const PASSAGES = {json.dumps(passages(names), ensure_ascii=False)};\n"
    )
    return len(names) + 1


def write_page(folder: Path, name: str, context: dict[str, Any]) -> None:
    from django.template import Engine  # noqa: PLC0415
    from django.template.context import Context  # noqa: PLC0415

    from ladder.web.pages import docs  # noqa: PLC0415

    top = "../" * (name.count("/") + 1 if name else 0)
    template = Engine().from_string((HERE / "page.html").read_text())
    about = {"top": top, "sections": docs.sections(), "version": folder.name}
    html = template.render(Context(context | about))
    path = folder / name / "index.html"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(LINK.sub(lambda link: relative(link, top), html))


def relative(link: re.Match[str], top: str) -> str:
    """Return a link of the service as a relative one; without a page only its text."""
    address, anchor, text = link[1], link[2] or "", link[3]
    page = address.removeprefix("/docs/")
    if page == address or page.startswith("problems/"):  # a service has it
        return text
    file = page if page.endswith(".json") else f"{page}index.html"
    return f'<a href="{top}{file}{anchor}">{text}</a>'


def passages(names: list[str]) -> list[list[str]]:
    """Return title, heading, address and text of each passage."""
    from ladder.web.pages import docs, markdown  # noqa: PLC0415

    return [
        [
            docs.title(name),
            passage.heading.text,
            f"{name}/index.html#{passage.heading.anchor}",
            passage.text,
        ]
        for name in names
        for passage in markdown.passages(docs.path_of(name).read_text("utf-8"))
    ]


def write_versions(target: Path) -> None:
    """Write the page that lists the versions, the newest first."""
    found = [page.parent for page in target.glob("*/index.html")]
    found.sort(key=lambda folder: [int(n) for n in re.findall(r"\d+", folder.name)])
    links = "".join(
        f'<li><a href="{each.name}/index.html">{each.name}</a></li>'
        for each in reversed(found)
    )
    text = (HERE / "versions.html").read_text()
    style = found[-1].name if found else "."
    (target / "index.html").write_text(
        text.replace("VERSIONS", links).replace("STYLE", style)
    )


if __name__ == "__main__":
    main()
