"""The estimators: scikit-learn's contract, numbers, errors, and nothing left behind."""

import glob
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from unittest import mock

import numpy as np

import grfgp
from grfgp import BadData, Graph, GraphClassifier, GraphRegressor, NotFitted, UsageError, _binary

try:
    import networkx
    import pandas
    from sklearn.base import clone, is_classifier, is_regressor
    from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer
    from sklearn.utils.estimator_checks import check_get_params_invariance, check_no_attributes_set_in_init, check_set_params
except ImportError as err:
    raise unittest.SkipTest(f"these tests need {err.name}") from None


def grid(n):
    return networkx.grid_2d_graph(n, n)


class Data(unittest.TestCase):
    """A smooth function on a grid, measured at 40 of 81 nodes."""

    def setUp(self):
        self.graph = Graph(grid(9))
        rng = np.random.default_rng(1)
        self.nodes = [self.graph.ids[k] for k in rng.permutation(81)[:40]]
        self.truth = {v: np.sin(v[0] / 3) + np.cos(v[1] / 3) for v in self.graph.ids}
        self.y = np.array([self.truth[v] for v in self.nodes]) + 0.1 * rng.standard_normal(len(self.nodes))
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        patch = mock.patch.object(tempfile, "tempdir", folder.name)  # temporary files go there
        patch.start()
        self.addCleanup(patch.stop)
        self.temporary = folder.name

    def tearDown(self):
        self.assertEqual(os.listdir(self.temporary), [], "files were left behind")

    def model(self, **settings):
        return GraphRegressor(self.graph, family="diffusion", **settings)


class Regressor(Data):
    def test_predictions(self):
        model = self.model().fit(self.nodes, self.y)
        others = [v for v in self.graph.ids if v not in set(self.nodes)]
        mean, sd, lower, upper = model.predict(others, return_std=True, return_interval=True)
        truth = np.array([self.truth[v] for v in others])
        self.assertLess(np.sqrt(np.mean((mean - truth) ** 2)), 0.15)
        self.assertGreater(np.mean((lower < truth) & (truth < upper)), 0.85)
        self.assertTrue((sd > 0).all())
        self.assertGreater(model.score(others, truth), 0.9)
        self.assertTrue(0.03 < model.noise_sd_ < 0.3, model.noise_sd_)
        self.assertEqual(model.choice_["family"], "diffusion")

    def test_one_fit_runs_the_program_once(self):
        with mock.patch.object(_binary, "run", wraps=_binary.run) as run:
            model = self.model().fit(self.nodes, self.y)
            first = model.predict(self.nodes[:5])
            self.assertEqual(model.predict(self.nodes[4::-1]).tolist(), first[::-1].tolist())
            model.predict(return_std=True, return_interval=True)
            self.assertEqual(run.call_count, 1)
            narrow = model.predict(return_interval=0.5)
            model.predict(return_interval=0.5)
            noisy = model.predict(return_std=True, reading=True)
            self.assertLessEqual(run.call_count, 3)
            self.assertTrue(all("--measurements" not in call[0][0] for call in run.call_args_list[1:]), "it learns again")
        np.testing.assert_allclose(narrow[0], model.predict(), rtol=1e-6)  # the saved model is the same
        quantity = model.predict(return_std=True)[1]
        np.testing.assert_allclose(noisy[1] ** 2, quantity**2 + model.noise_sd_**2, rtol=1e-5)
        self.assertTrue((narrow[2] - narrow[1] < np.subtract(*model.predict(return_interval=True)[:0:-1])).all())

    def test_scikit_learn(self):
        model = self.model()
        self.assertTrue(is_regressor(model))
        copy = clone(model)
        self.assertIs(copy.graph, self.graph)
        self.assertEqual(copy.get_params(), model.get_params())
        for check in (check_get_params_invariance, check_set_params, check_no_attributes_set_in_init):
            check("GraphRegressor", model)
        scores = cross_val_score(model, self.nodes, self.y, cv=3)
        self.assertGreater(scores.min(), 0.7)
        search = GridSearchCV(model, {"family": ["diffusion", "matern"]}, cv=2).fit(self.nodes, self.y)
        self.assertIn(search.best_params_["family"], ("diffusion", "matern"))
        pipe = make_pipeline(FunctionTransformer(lambda X: [tuple(map(int, v.split("-"))) for v in X]), self.model())
        pipe.fit([f"{a}-{b}" for a, b in self.nodes], self.y)
        self.assertGreater(pipe.score([f"{a}-{b}" for a, b in self.nodes], self.y), 0.9)

    def test_networkx_itself_in_cross_validation(self):
        predicted = cross_val_predict(GraphRegressor(networkx.cycle_graph(24), family="diffusion"), np.arange(24).reshape(-1, 1), np.sin(np.arange(24) * np.pi / 12), cv=3)
        self.assertEqual(predicted.shape, (24,))

    def test_ways_to_give_nodes(self):
        ring = Graph([(i, (i + 1) % 20) for i in range(20)])
        nodes, y = list(range(0, 20, 2)), np.sin(np.arange(0, 20, 2.0))
        want = GraphRegressor(ring, family="diffusion").fit(nodes, y).predict([1, 2])
        frame = pandas.DataFrame({"node": nodes, "speed": y})
        for name, X, values in [
            ("array", np.array(nodes), y),
            ("column", np.array(nodes)[:, None], y[:, None]),
            ("floats", np.array(nodes, float), y),
            ("series", frame["node"], frame["speed"]),
            ("frame", frame[["node"]], frame["speed"]),
            ("other name", frame[["node"]].rename(columns={"node": "place"}), y.tolist()),
        ]:
            with self.subTest(name):
                np.testing.assert_array_equal(GraphRegressor(ring, family="diffusion").fit(X, values).predict([1, 2]), want)

    def test_pickle_and_seed(self):
        model = self.model().fit(self.nodes, self.y)
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(again.predict(), model.predict())
        np.testing.assert_array_equal(again.predict(return_interval=0.8), model.predict(return_interval=0.8))
        np.testing.assert_array_equal(self.model(threads=1).fit(self.nodes, self.y).predict(), model.predict())

    def test_noise(self):
        exact = self.model().fit(self.nodes, self.y, sd=np.full(len(self.y), 0.01)).predict(self.nodes)
        loose = self.model().fit(self.nodes, self.y, sd=np.full(len(self.y), 1.0)).predict(self.nodes)
        self.assertLess(np.abs(exact - self.y).mean(), np.abs(loose - self.y).mean())
        weights = np.full(len(self.y), 4.0)
        by_weight = self.model(noise_sd=0.2).fit(self.nodes, self.y, sample_weight=weights).predict()
        by_sd = self.model().fit(self.nodes, self.y, sd=np.full(len(self.y), 0.1)).predict()
        np.testing.assert_allclose(by_weight, by_sd, rtol=1e-9)

    def test_counts_and_shares(self):
        rng = np.random.default_rng(2)
        expected = rng.uniform(5, 20, len(self.nodes))
        risk = np.exp(0.5 * np.array([self.truth[v] for v in self.nodes]) - 0.5)
        counts = rng.poisson(expected * risk)
        model = self.model(values="count").fit(self.nodes, counts, exposure=expected)
        self.assertTrue((model.predict() > 0).all())
        self.assertGreater(np.corrcoef(model.predict(self.nodes), risk)[0, 1], 0.8)
        above = model.probability_above(self.nodes, 1.0)
        self.assertTrue(((0 <= above) & (above <= 1)).all() and above.std() > 0.1)
        share = self.model(values="share").fit(self.nodes, np.minimum(counts, 20), tested=np.full(len(counts), 50)).predict()
        self.assertTrue(((0 < share) & (share < 1)).all())

    def test_covariates(self):
        ids = list(range(40))
        size = np.random.default_rng(3).standard_normal(40)
        graph = Graph([(i, (i + 1) % 40) for i in ids], nodes=pandas.DataFrame({"size": size}, index=ids))
        y = 3 * size + 0.05 * np.cos(np.arange(40))
        known = GraphRegressor(graph, family="diffusion", covariates=["size"]).fit(ids[::2], y[::2])
        without = GraphRegressor(graph, family="diffusion").fit(ids[::2], y[::2])
        self.assertGreater(known.score(ids[1::2], y[1::2]), 0.98)
        self.assertLess(without.score(ids[1::2], y[1::2]), 0.5)
        known.predict(return_interval=0.5)  # the saved model finds its columns
        with self.assertRaisesRegex(UsageError, "nodes=table"):
            known.fit(pandas.DataFrame({"node": ids, "size": size}), y)

    def test_suggestions(self):
        model = self.model().fit(self.nodes, self.y)
        for goal in ("learn", "maximize", "threshold=1"):
            table = model.suggest(3, goal)
            self.assertEqual(len(set(table.node) - set(self.nodes)), 3, goal)
            self.assertTrue(all(table["why"]))
        allowed = [v for v in self.graph.ids if v not in set(self.nodes)][:4]
        self.assertEqual(set(model.suggest(4, allowed=allowed).node), set(allowed))
        self.assertEqual(set(model.suggest(3, allowed=allowed, pending=allowed[:1]).node), set(allowed[1:]))
        with self.assertRaises(grfgp.NothingLeft):
            model.suggest(1, allowed=allowed, exclude=allowed)

    def test_report_and_validation(self):
        model = self.model().fit(self.nodes, self.y)
        with tempfile.TemporaryDirectory() as folder:
            path = model.report(os.path.join(folder, "a.html"), folds=0, title="Speeds")
            with open(path, encoding="utf-8") as f:
                page = f.read()
            self.assertIn("Speeds", page)
            self.assertEqual(os.listdir(folder), ["a.html"])
        with self.assertRaisesRegex(UsageError, "there is no folder"):
            model.report(os.path.join(folder, "none", "a.html"))
        answer = model.validate(folds=3)
        self.assertGreater(answer["rmse"], 0)
        self.assertEqual(len(answer["left"]), len(self.nodes))

    def test_refused(self):
        fitted = self.model().fit(self.nodes, self.y)
        n = len(self.nodes)
        ring = [(i, (i + 1) % 9) for i in range(9)]
        for do, error, words in [
            (lambda: self.model().predict(self.nodes), NotFitted, "call fit first"),
            (lambda: self.model().suggest(), NotFitted, "call fit first"),
            (lambda: fitted.predict([(99, 99)]), BadData, "not in the graph"),
            (lambda: GraphRegressor(ring).fit(["1", "2"], [1, 2]), BadData, "the graph has 1: give ids of the same type"),
            (lambda: self.model().fit(self.nodes, self.y[1:]), UsageError, f"y has {n - 1} numbers, and X has {n} nodes"),
            (lambda: self.model().fit(self.nodes, np.full(n, np.nan)), BadData, r"y\[0\] is nan"),
            (lambda: self.model().fit(self.nodes, ["x"] * n), BadData, "no number"),
            (lambda: self.model().fit(np.zeros((3, 2)), [1, 2, 3]), UsageError, "2 columns"),
            (lambda: self.model().fit("abc", [1, 2, 3]), UsageError, "list or an array"),
            (lambda: self.model(values="count").fit(self.nodes, self.y - 5), BadData, "count"),
            (lambda: self.model().fit(self.nodes, np.ones(n)), BadData, "nothing to learn from"),
            (lambda: self.model().fit(self.nodes, self.y, sample_weight=self.y), UsageError, "noise_sd"),
            (lambda: self.model().fit(self.nodes, self.y, tested=self.y), UsageError, "values='share'"),
            (lambda: GraphRegressor(self.graph, family="cubic").fit(self.nodes, self.y), UsageError, "family"),
            (lambda: self.model(hops=2.5).fit(self.nodes, self.y), UsageError, "hops"),
            (lambda: self.model(memory="1KiB").fit(self.nodes, self.y), grfgp.TooLarge, "memory"),
            (lambda: self.model(device="tpu").fit(self.nodes, self.y), UsageError, "auto, cpu or gpu"),
        ]:
            with self.subTest(words), self.assertRaisesRegex(error, words):
                do()

    def test_device(self):
        want = self.model().fit(self.nodes, self.y)
        cpu = self.model(device="cpu").fit(self.nodes, self.y)
        for level in (0.95, 0.5):  # of the fit, and of the saved model
            np.testing.assert_allclose(cpu.predict(self.nodes, return_interval=level), want.predict(self.nodes, return_interval=level), rtol=1e-6)
        for make in (self.model, lambda **settings: GraphClassifier(self.graph, **settings)):
            try:
                make(device="gpu").fit(self.nodes, (self.y > 0).astype(int) + np.arange(len(self.y)) % 2)
            except grfgp.TooLarge as err:  # there is no card, as nearly everywhere
                self.assertRegex(str(err), "no graphics card")
                self.assertEqual(err.exit_code, 9)

    def test_errors_name_no_temporary_folder(self):
        with self.assertRaises(BadData) as caught:
            self.model(values="count").fit(self.nodes, self.y - 5)
        self.assertNotIn("grfgp-", str(caught.exception))
        self.assertEqual(caught.exception.exit_code, 3)

    @unittest.skipIf(os.name == "nt", "signals")
    def test_interrupt_stops_the_program(self):
        code = (
            "import grfgp, signal, sys\n"
            "signal.signal(signal.SIGINT, signal.default_int_handler)  # also where a shell in the background ignores it\n"
            "n = 40000\n"
            "print('go', flush=True)\n"
            "try:\n"
            "    grfgp.GraphRegressor([(i, (i + 1) % n) for i in range(n)] + [(i, (i * 7) % n) for i in range(n)]).fit(range(0, n, 2), [float(i % 17) for i in range(0, n, 2)])\n"
            "except KeyboardInterrupt:\n"
            "    sys.exit(42)\n"
        )
        with tempfile.TemporaryDirectory() as folder:
            env = {**os.environ, "TMPDIR": folder, "PYTHONPATH": os.pathsep.join(sys.path)}
            child = subprocess.Popen([sys.executable, "-c", code], env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            self.assertEqual(child.stdout.readline(), b"go\n")
            deadline = time.monotonic() + 60
            while not glob.glob(os.path.join(folder, "grfgp-*", "answer.json")) and time.monotonic() < deadline:
                time.sleep(0.01)  # until the program runs
            child.send_signal(signal.SIGINT)
            self.assertEqual(child.wait(60), 42)
            child.stdout.close()
            self.assertEqual(os.listdir(folder), [])

    def test_map(self):
        model = self.model()
        self.assertIn("GraphRegressor", model._repr_html_())
        page = model.fit(self.nodes, self.y)._repr_html_()
        self.assertEqual(page.count("<circle"), 2 * len(self.graph))
        self.assertIn("81 nodes, 40 of them measured", page)
        self.assertIn("text/html", model._repr_mimebundle_())
        self.assertNotIn("<script", page)

    def test_map_escapes(self):
        nodes = [f"<b>{i}</b>" for i in range(12)]
        page = GraphRegressor([(nodes[i], nodes[i - 1]) for i in range(12)], family="diffusion").fit(nodes[::2], np.sin(np.arange(6)))._repr_html_()
        self.assertNotIn("<b>", page)


class Classifier(Data):
    def setUp(self):
        super().setUp()
        self.kinds = np.array(["west" if v[0] < 4 else "east" for v in self.nodes])

    def test_predictions(self):
        model = GraphClassifier(self.graph, family="diffusion").fit(self.nodes, self.kinds)
        self.assertTrue(is_classifier(model))
        self.assertEqual(model.classes_.tolist(), ["east", "west"])
        everywhere = model.predict_proba()
        np.testing.assert_allclose(everywhere.sum(axis=1), 1, rtol=1e-6)
        self.assertEqual(model.predict([(0, 1), (8, 1)]).tolist(), ["west", "east"])
        self.assertGreater(model.score(self.nodes, self.kinds), 0.9)
        self.assertEqual(len(model.suggest(2)), 2)
        self.assertIn("<circle", model._repr_html_())

    def test_classes_keep_their_type(self):
        for classes in ([0, 1], [True, False], [10, 9], ["1", "01"], ["a,b", 'q"']):
            y = [classes[int(v[0] < 4)] for v in self.nodes]
            model = GraphClassifier(self.graph, family="diffusion").fit(self.nodes, y)
            self.assertEqual(model.classes_.tolist(), sorted(classes))
            self.assertEqual(model.predict([(0, 1), (8, 1)]).tolist(), [classes[1], classes[0]])
            self.assertGreater(model.predict_proba([(0, 1)])[0, model.classes_.tolist().index(classes[1])], 0.5)

    def test_scikit_learn(self):
        model = GraphClassifier(self.graph, family="diffusion")
        scores = cross_val_score(model, self.nodes, self.kinds, cv=3, scoring="neg_log_loss")
        self.assertGreater(scores.min(), -0.7)
        self.assertGreater(cross_val_score(model, self.nodes, self.kinds, cv=3).min(), 0.7)

    def test_refused(self):
        model = GraphClassifier(self.graph)
        for y, error, words in [
            (self.kinds[1:], UsageError, "classes, and X has"),
            (["NA"] * 5 + ["b"] * (len(self.nodes) - 5), BadData, "missing value"),
            (["a"] * len(self.nodes), BadData, "class"),
        ]:
            with self.subTest(words), self.assertRaisesRegex(error, words):
                model.fit(self.nodes, y)


class Program(unittest.TestCase):
    def test_missing(self):
        with mock.patch.dict(os.environ, {"GRFGP_BIN": "/there/is/none"}), self.assertRaisesRegex(grfgp.ProgramMissing, "GRFGP_BIN"):
            _binary.path()

    def test_without_scikit_learn(self):
        code = (
            "import sys\n"
            "for name in ('sklearn', 'pandas', 'scipy', 'networkx'): sys.modules[name] = None\n"
            "import grfgp\n"
            "ring = [(i, (i + 1) % 20) for i in range(20)]\n"
            "m = grfgp.GraphRegressor(ring, family='matern').set_params(family='diffusion')\n"
            "m.fit(list(range(0, 20, 2)), [float(i % 5) for i in range(10)])\n"
            "assert m.get_params()['family'] == 'diffusion' and len(m.predict()) == 20\n"
            "m._repr_html_(), repr(m), repr(m.predictions_)\n"
            "try: m.set_params(famly=1)\n"
            "except ValueError: print('good')\n"
        )
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        self.assertEqual(subprocess.run([sys.executable, "-c", code], env=env, stdout=subprocess.PIPE).stdout, b"good\n")

    def test_verbose(self):
        code = "import grfgp; grfgp.GraphRegressor([(i, i + 1) for i in range(9)], verbose={}, family='diffusion').fit([0, 3, 6, 9], [1.0, 2.0, 1.5, 0.5])"
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        for verbose in (True, False):
            done = subprocess.run([sys.executable, "-c", code.format(verbose)], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.assertEqual((done.stdout, b"fitting" in done.stderr), (b"", verbose))


class Threads(Data):
    def test_fits_side_by_side(self):
        found = {}

        def fit(k):
            found[k] = self.model(seed=1).fit(self.nodes, self.y).predict()

        threads = [threading.Thread(target=fit, args=(k,)) for k in range(3)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        for k in range(3):
            np.testing.assert_array_equal(found[k], found[0])


if __name__ == "__main__":
    unittest.main()
