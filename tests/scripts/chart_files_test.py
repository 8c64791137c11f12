#!/usr/bin/python3
"""The chart finds what it renders: helm does not mind a file that is not there."""

import re
import unittest
from pathlib import Path

import yaml

CHART = Path(__file__).resolve().parents[2] / "deploy" / "helm" / "koordinator"
# .Files.Get "files/crds/x.yaml"; the names of files that a helper reads.
NAMED = re.compile(r'"(?:files/)?((?:[\w.-]+/)*[\w.-]+\.yaml)"')


class ChartFiles(unittest.TestCase):
    def test_what_templates_name_is_there(self):
        names = {name for template in (CHART / "templates").iterdir()
                 for name in NAMED.findall(template.read_text())}
        self.assertGreater(len(names), 8)
        for name in names:
            with self.subTest(name=name):
                for document in yaml.safe_load_all((CHART / "files" / name).read_text()):
                    self.assertNotIsInstance(document, str, "the text of a link")

    def test_folders_are_those_of_deploy(self):
        for entry in (CHART / "files").iterdir():
            self.assertTrue(entry.is_symlink(), entry)
            self.assertEqual(entry.resolve(), (CHART.parents[1] / entry.name).resolve())


if __name__ == "__main__":
    unittest.main()
