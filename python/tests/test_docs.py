"""The examples of the docstrings, and those of README.md and docs/python.md."""

import doctest
import importlib
import pathlib
import pkgutil
import re
import tempfile
import unittest
import contextlib
import os

import grfgp

here = pathlib.Path(__file__).resolve().parents[1]


def load_tests(loader, tests, ignore):
    for module in pkgutil.iter_modules(grfgp.__path__):
        tests.addTests(doctest.DocTestSuite(importlib.import_module("grfgp." + module.name)))
    return tests


class Pages(unittest.TestCase):
    def test_examples_run(self):
        for page in (here / "README.md", here.parent / "docs" / "python.md"):
            if not page.is_file():
                self.skipTest("the sources are not here")
            blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.S)
            self.assertTrue(blocks, page)
            with self.subTest(page.name), tempfile.TemporaryDirectory() as folder, changed(folder):
                exec(compile("\n".join(blocks), str(page), "exec"), {"__name__": "page"})


@contextlib.contextmanager
def changed(folder):
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


if __name__ == "__main__":
    unittest.main()
