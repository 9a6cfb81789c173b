"""What MkDocs does beside its own, for `make docs`.

Pages of the guide link to documents elsewhere in the repository, which people read there as well. Those documents become
pages of the site, below reference/, with their pictures; what they link to in turn, and is not among them, stays as text without a link.
"""

import os
import re
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parent.parent.parent
GUIDE = Path(__file__).resolve().parent / "docs"
PICTURE = re.compile(r"!\[[^\]]*\]\(([^)#\s]+)\)")
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)#\s]+)(#[^)\s]*)?\)")


def _elsewhere():
    """The documents outside the guide that it links to, by path, each with its page of the site."""
    found = {}
    for page in sorted(GUIDE.glob("*.md")):
        for _, name, _ in LINK.findall(page.read_text(encoding="utf-8")):
            target = (page.parent / name).resolve()
            if "://" not in name and GUIDE not in target.parents and target.is_file():
                found[target] = f"reference/{target.name}"
    return found


def _linked(text, source, uri, pages):
    """The text of a document with its links as the site has them."""
    where = os.path.dirname(uri) or "."

    def replaced(match):
        words, name, anchor = match[1], match[2], match[3] or ""
        target = (source.parent / name).resolve()
        if "://" in name:
            return match[0]
        if target in pages:
            return f"[{words}]({os.path.relpath(pages[target], where)}{anchor})"
        if target.parent == GUIDE:
            return f"[{words}]({os.path.relpath(target.name, where)}{anchor})"
        # Within the guide MkDocs reports what leads nowhere.
        return match[0] if source.parent == GUIDE else words

    # "python continued" and the like are for the tests.
    text = re.sub(r"^```(\w+) .*$", r"```\1", text, flags=re.M)
    # In tables GitHub wants a backslash before a bar, and MkDocs shows it.
    text = re.sub(r"`[^`\n]+`", lambda code: code[0].replace(r"\|", "|"), text)
    return LINK.sub(replaced, text)


def on_files(files, config):
    for path, uri in _elsewhere().items():
        text = path.read_text(encoding="utf-8")
        files.append(File.generated(config, uri, content=text))
        for name in PICTURE.findall(text):
            if "://" not in name:
                picture = (path.parent / name).read_bytes()
                files.append(File.generated(config, f"reference/{name}", content=picture))
    return files


def on_page_markdown(markdown, page, config, files):
    pages = _elsewhere()
    uri = page.file.src_uri
    source = next((path for path, name in pages.items() if name == uri), GUIDE / uri)
    return _linked(markdown, source, uri, pages)
