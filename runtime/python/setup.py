"""Puts the statements and scripts of `spec/` into what is built, where they are not copied by
hand."""

from __future__ import annotations

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

HERE = Path(__file__).parent
PACKAGED = Path("idemspec_runtime/spec")
TEXTS = {"sql/postgres": "*.up.sql", "sql/postgres/statements": "*.sql", "redis": "*.lua"}


def copy_texts(package: Path) -> None:
    # In a repository; else in a source distribution, which has them beside the package already.
    sources = HERE.parents[1] / "spec", HERE / "src" / PACKAGED
    spec = next((source for source in sources if (source / "redis").is_dir()), None)
    if spec is None:
        raise FileNotFoundError(
            f"{sources[0]}: there is no spec/ with the statements: build in a checkout"
        )
    for folder, pattern in TEXTS.items():
        target = package / folder
        target.mkdir(parents=True, exist_ok=True)
        for text in (spec / folder).glob(pattern):
            shutil.copyfile(text, target / text.name)


class BuildWithTexts(build_py):
    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            copy_texts(Path(self.build_lib) / PACKAGED)


class SourcesWithTexts(sdist):
    def make_release_tree(self, base_dir: str, files: list[str]) -> None:
        super().make_release_tree(base_dir, files)
        copy_texts(Path(base_dir) / "src" / PACKAGED)


setup(cmdclass={"build_py": BuildWithTexts, "sdist": SourcesWithTexts})
