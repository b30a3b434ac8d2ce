"""Wheels: their names, sums and modes, and that the same input gives the same bytes."""

import base64
import csv
import hashlib
import importlib.util
import io
import pathlib
import tempfile
import unittest
import zipfile

script = pathlib.Path(__file__).resolve().parents[1] / "build_wheels.py"


@unittest.skipUnless(script.is_file(), "the sources are not here")
class Wheels(unittest.TestCase):
    def setUp(self):
        spec = importlib.util.spec_from_file_location("build_wheels", script)
        self.build = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.build)

    def test_contents(self):
        for name, tags in self.build.platforms.items():
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                program = "grfgp.exe" if name.startswith("windows") else "grfgp"
                first = self.build.write_wheel(pathlib.Path(folder), name, b"program", program)
                data = first.read_bytes()
                self.assertEqual(self.build.write_wheel(pathlib.Path(folder), name, b"program", program).read_bytes(), data)
                self.assertEqual(first.name, f"grfgp-{self.build.version()}-py3-none-{'.'.join(tags)}.whl")
                wheel = zipfile.ZipFile(io.BytesIO(data))
                info = f"grfgp-{self.build.version()}.dist-info/"
                record = list(csv.reader(io.StringIO(wheel.read(info + "RECORD").decode())))
                self.assertEqual([r[0] for r in record], wheel.namelist())
                for file, digest, size in record[:-1]:
                    content = wheel.read(file)
                    self.assertEqual(digest, "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode())
                    self.assertEqual(int(size), len(content))
                self.assertEqual(record[-1], [info + "RECORD", "", ""])
                modes = {e.filename: e.external_attr >> 16 & 0o777 for e in wheel.infolist()}
                self.assertEqual(modes.pop("grfgp/bin/" + program), 0o755)
                self.assertEqual(set(modes.values()), {0o644})
                self.assertIn("grfgp/py.typed", modes)
                self.assertIn(f"Tag: py3-none-{tags[0]}\n", wheel.read(info + "WHEEL").decode())

    def test_version(self):
        self.assertRegex(self.build.version(), r"^\d+\.\d+\.\d+(a|b|rc|\.dev)?\d*$")


if __name__ == "__main__":
    unittest.main()
