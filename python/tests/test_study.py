"""Studies over HTTP, and searches over studies."""

import http.server
import json
import os
import tempfile
import threading
import unittest

import numpy as np

import grfgp
from grfgp import BadData, Conflict, Graph, Study, maximize, minimize, serve


def ring(n=20):
    return Graph([(i, (i + 1) % n) for i in range(n)])


class Studies(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = serve()

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()

    def test_ask_and_tell(self):
        study = self.server.create("peak", ring(), goal="maximize", budget=12, by="anna")
        first = study.ask(2)
        self.assertEqual(len({t.node for t in first}), 2)
        self.assertTrue(all(isinstance(t.node, int) and t.why for t in first))
        done = study.tell(first[0], 3)
        self.assertEqual((done.state, done.context["value"]), ("done", 3))
        study.tell(first[0], 3.0)  # the same again
        with self.assertRaises(Conflict) as caught:
            study.tell(first[0], 4)
        self.assertEqual((caught.exception.status, caught.exception.kind), (409, "conflict"))
        self.assertEqual(study.release(first[1]).state, "released")
        third = study.ask(nodes=[7])[0]
        self.assertEqual(third.node, 7)
        self.assertEqual(study.abandon(third, "flooded").state, "abandoned")
        self.assertEqual(study.reopen(third).state, "pending")
        self.assertEqual(study.tell(third, None).state, "failed")
        same = [study.ask(key="monday")[0].number for _ in range(2)]
        self.assertEqual(same[0], same[1])
        with self.assertRaises(grfgp.NoModel):
            study.predictions()
        rows = study.observe({i: float(np.sin(i / 3)) for i in range(0, 20, 3)})
        self.assertEqual(rows[1]["node"], 3)
        table = study.predictions()
        self.assertEqual(table.node, ring().ids)
        self.assertTrue((table["lower"] < table["mean"]).all())
        self.assertEqual(len(study.suggestions(3)), 3)
        self.assertEqual(len(study.observations()), 8)
        study.retract(rows[0]["observation"], "wrong node")
        self.assertEqual({t.state for t in study.trials()}, {"done", "released", "failed", "pending"})
        self.assertIn("svg", study._repr_html_())
        study.pause("lunch")
        self.assertEqual(study.ask().short, "paused")
        study.resume()
        self.assertIn("coverage", json.dumps(study.calibration()))

    def test_key_of_observations(self):
        study = self.server.create("once", ring())
        for _ in range(2):
            study.observe([1, 2], [0.5, 0.7], key="file-1")
        self.assertEqual(study.observations()["value"].tolist(), [0.5, 0.7])

    def test_classes(self):
        study = self.server.create("trees", ring(), classes=["oak", "beech"])
        study.observe([0, 1, 10, 11], ["oak", "oak", "beech", "beech"])
        trial = study.ask()[0]
        study.tell(trial, "oak")
        table = study.predictions()
        self.assertEqual(dict(zip(table.node, table["class"]))[0], "oak")
        with self.assertRaises(BadData):
            study.tell(study.ask()[0], 3.0)

    def test_open_and_refused(self):
        self.server.create("open", ring(), allowed=[3, 4], cost={3: 2.0})
        self.assertIn("open", self.server.studies())
        by_url = Study(self.server.url, "open", token=self.server.token)
        self.assertIn(by_url.ask()[0].node, ("3", "4"))
        for do, error in [
            (lambda: self.server.study("none"), grfgp.NotFound),
            (lambda: Study(self.server.url, "open"), grfgp.AccessDenied),
            (lambda: Study("http://127.0.0.1:9", "open"), grfgp.Unreachable),
            (lambda: Study("ftp://x", "open"), grfgp.UsageError),
            (lambda: by_url.observe({"nowhere": 1.0}), BadData),
            (lambda: by_url.observe({"3": float("inf")}), BadData),
            (lambda: self.server.create("open", ring(), goal="minimize"), Conflict),
            (lambda: self.server.create("bad", ring(), goal="rise"), grfgp.UsageError),
            (lambda: self.server.create("bad", ring(), colour="red"), grfgp.UsageError),
        ]:
            with self.assertRaises(error):
                do()


class Stores(unittest.TestCase):
    def test_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            store = os.path.join(folder, "team.db")
            with serve(store) as server:
                server.create("kept", ring()).observe({1: 2.0})
                with self.assertRaises(grfgp.StoreInUse):
                    serve(store)
            with serve(store) as server:
                self.assertEqual(server.study("kept", ring()).observations().node, [1])

    @unittest.skipIf(os.name == "nt", "unix sockets")
    def test_unix_socket(self):
        with tempfile.TemporaryDirectory() as folder:
            server = serve(os.path.join(folder, "a.db"), listen="unix:" + os.path.join(folder, "s"))
            with server:
                self.assertTrue(server.url.startswith("unix:"))
                self.assertEqual(server.create("here", ring()).show()["name"], "here")


class Lost(unittest.TestCase):
    """A server that loses its first answers."""

    def test_repeated_with_the_same_key(self):
        seen = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.reply({"settings": {}, "name": "x"})

            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"]))
                seen.append((self.path, self.headers["Idempotency-Key"]))
                if len(seen) < 3:
                    self.close_connection = True
                    return  # without an answer
                self.reply({"count": 1, "trials": [{"trial": 1, "node": "a", "cost": 1, "why": ""}]})

            def reply(self, body):
                data = json.dumps(body).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                pass

        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as fake:
            threading.Thread(target=fake.serve_forever, daemon=True).start()
            study = Study(f"http://127.0.0.1:{fake.server_port}", "x")
            self.assertEqual(study.ask()[0].node, "a")
            self.assertEqual(len(seen), 3)
            self.assertEqual(len({key for _, key in seen}), 1)
            self.assertTrue(seen[0][1])
            del seen[:]
            with self.assertRaises(grfgp.Unreachable):
                study.release(1)  # has no key: it may have taken effect, and is not repeated
            self.assertEqual(len(seen), 1)
            fake.shutdown()


class Searches(unittest.TestCase):
    def test_finds_the_best(self):
        found = maximize(ring(60), lambda i: -abs(i - 41) + 0.0, budget=25, known={0: -19.0})
        self.assertLessEqual(abs(found.node - 41), 2)
        self.assertEqual(len(found.values), 26)
        self.assertEqual(len(found.predictions), 60)
        self.assertLessEqual(abs(minimize(ring(60), lambda i: abs(i - 41), budget=25).node - 41), 2)

    def test_goes_on_after_an_exception(self):
        calls = []

        def measure(node):
            calls.append(node)
            if len(calls) == 4:
                raise OSError("the instrument is off")
            return -float(abs(node - 5))

        with tempfile.TemporaryDirectory() as folder:
            store = os.path.join(folder, "search.db")
            with self.assertRaises(OSError):
                maximize(ring(), measure, budget=8, store=store)
            found = maximize(ring(), measure, budget=8, store=store)
        self.assertEqual(len(found.values), 8)
        self.assertEqual(len(calls), 9)

    def test_failed_measurements(self):
        found = maximize(ring(), lambda i: None if i % 2 else float(i), budget=6)
        self.assertEqual(len(found.values) + len(found.failed), 6)
        self.assertTrue(all(i % 2 == 0 for i in found.nodes))
        with self.assertRaises(grfgp.NothingLeft):
            maximize(ring(), lambda i: None, budget=3)


if __name__ == "__main__":
    unittest.main()
