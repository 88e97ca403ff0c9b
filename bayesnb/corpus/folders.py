"""Documents that are files, or the lines of one."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from .decoding import decode, is_binary, lines_of, read_bytes, read_text
from .records import Corpus, CorpusError, join_texts, label_of


def read_class_folders(root: Path, encoding: str) -> Corpus:
    """Read a folder with one subfolder per class; labels are the subfolders' names."""
    folders, skipped = [], Counter[str]()
    for entry in sorted(root.iterdir()):
        if _is_hidden(entry):
            skipped["hidden files"] += 1
        elif entry.is_dir():
            folders.append(entry)
        else:
            skipped["files beside the class folders"] += 1
    if not folders:
        raise CorpusError(f"{root} has no subfolders: make one per class, or pass {{label: path}}")
    labels = [label_of(folder.name) for folder in folders]
    corpus = join_texts([read_files(folder, encoding) for folder in folders], labels, str(root))
    corpus.skipped.update(skipped + Counter(corpus.skipped))
    return corpus


def read_files(folder: Path, encoding: str) -> Corpus:
    """Read a folder of text files, one document each; hidden, binary and other files are counted as skipped."""
    ids, texts, skipped = [], [], Counter[str]()
    for path in sorted(folder.iterdir()):
        reason = _reason_to_skip(path)
        data = b"" if reason else read_bytes(path)
        if reason is None and is_binary(data, encoding):
            reason = "binary files"
        if reason:
            skipped[reason] += 1
            continue
        ids.append(str(path))
        texts.append(decode(data, path, encoding))
    if not texts:
        left_out = ", ".join(f"{count} {reason}" for reason, count in skipped.items())
        why = f" (skipped: {left_out})" if left_out else ""
        raise CorpusError(f"{folder} has no documents{why}: put text files into it, or take it away")
    return Corpus(None, ids, texts=texts, skipped=dict(skipped), source=str(folder))


def _is_hidden(path: Path) -> bool:
    """Whether its own system would not show it: what archives and shared disks bring along."""
    return path.name.startswith(".") or path.name.casefold() in ("__macosx", "desktop.ini", "thumbs.db")


def _reason_to_skip(path: Path) -> str | None:
    if _is_hidden(path):
        return "hidden files"
    if path.is_dir():
        return "folders inside a folder of documents"
    return None if path.is_file() else "neither files nor folders"


def read_lines(path: Path, encoding: str) -> Corpus:
    r"""Read one document per line; blank lines are counted as skipped.

    Lines end in \n or \r\n; in \r where there is no \n.
    """
    lines = lines_of(read_text(path, encoding))
    if not lines[-1]:
        lines.pop()  # the newline that ends the last line opens no other
    kept = [(number, line.removesuffix("\r")) for number, line in enumerate(lines, 1) if line.strip()]
    if not kept:
        raise CorpusError(f"{path} is empty")
    blank = len(lines) - len(kept)
    skipped = {"blank lines": blank} if blank else {}
    return Corpus(None, [n for n, _ in kept], texts=[t for _, t in kept], skipped=skipped, source=str(path))


def read_document(path: Path, encoding: str) -> Corpus:
    """Read a file that is one document."""
    return Corpus(None, [str(path)], texts=[read_text(path, encoding)], source=str(path))
