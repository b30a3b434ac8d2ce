"""Graphs from every source, and ids that survive."""

import os
import tempfile
import unittest
import warnings

import numpy as np

from grfgp import BadData, Graph, GraphRegressor, GrfgpWarning, UsageError

try:
    import networkx
    import pandas
    import scipy.sparse
except ImportError as err:  # the package works without them
    raise unittest.SkipTest(f"these tests need {err.name}") from None

strange = ["007", "7", "a,b", 'say "hi"', "straße", "日本", "#7", "a b", "=1+1", "-", "NA", "x" * 200, (0, 1), 12, -3]


def values(n):
    return [float(np.sin(k / 2)) for k in range(n)]


class Sources(unittest.TestCase):
    def test_ids_survive(self):
        ring = [(strange[k], strange[(k + 1) % len(strange)]) for k in range(len(strange))]
        model = GraphRegressor(ring, family="diffusion").fit(strange[:10], values(10))
        self.assertEqual(set(model.predictions_.node), set(strange))
        at = dict(zip(model.predictions_.node, model.predictions_["n"]))
        self.assertEqual([at[v] for v in strange], [1] * 10 + [0] * 5)

    def test_every_source_gives_the_same_numbers(self):
        n = 12
        pairs = [(i, i + 1, 1.0 + i % 3) for i in range(n - 1)]
        g = networkx.Graph()
        g.add_weighted_edges_from(pairs)
        matrix = scipy.sparse.lil_matrix((n, n))
        for a, b, w in pairs:
            matrix[a, b] = matrix[b, a] = w
        frame = pandas.DataFrame(pairs, columns=["from", "to", "weight"])
        sources = {
            "pairs": pairs, "networkx": g, "coo": matrix.tocoo(), "csr": matrix.tocsr(), "upper": scipy.sparse.triu(matrix), "dense": matrix.toarray(),
            "frame": frame, "Graph": Graph(frame.sample(frac=1, random_state=1)),
        }  # fmt: skip
        found = {}
        for name, source in sources.items():
            model = GraphRegressor(source, family="diffusion").fit([0, 2, 4, 6, 8, 10], values(6))
            found[name] = model.predict(list(range(n)))
        for name in sources:
            np.testing.assert_allclose(found[name], found["pairs"], rtol=1e-9, err_msg=name)

    def test_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "edges.csv")
            with open(path, "w") as f:
                f.write("source,target\n" + "".join(f"n{i},n{i + 1}\n" for i in range(12)))
            model = GraphRegressor(path, family="diffusion").fit([f"n{i}" for i in range(0, 12, 2)], values(6))
            self.assertEqual(len(model.predict()), 13)
            self.assertEqual(model.predict(["n3", "n1"]).tolist(), model.predict()[[3, 1]].tolist())

    def test_lone_nodes_and_columns(self):
        nodes = pandas.DataFrame({"lat": [0.0, 0.1, 0.2, 5.0], "lon": [0.0, 0.0, 0.0, 5.0]}, index=["a", "b", "c", "lone"])
        model = GraphRegressor(Graph([("a", "b"), ("b", "c")], nodes=nodes), family="diffusion", mean=0, noise_sd=0.1).fit(["a", "c"], [1.0, -1.0])
        mean, sd = model.predict(["lone", "a"], return_std=True)
        self.assertAlmostEqual(mean[0], 0)
        self.assertGreater(sd[0], sd[1])

    def test_nearest_neighbours(self):
        nodes = pandas.DataFrame({"node": list(range(20)), "x": np.arange(20.0), "y": np.zeros(20)})
        model = GraphRegressor(Graph(nodes=nodes, knn=2), family="diffusion").fit(list(range(0, 20, 2)), values(10))
        self.assertEqual(model.predict([3]).shape, (1,))

    def test_directions_are_noted(self):
        for g in (networkx.DiGraph([(0, 1), (1, 2)]), np.array([[0, 1, 0], [2, 0, 0], [0, 1, 0]])):
            with self.assertWarnsRegex(GrfgpWarning, "directions"):
                Graph(g)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            Graph(np.triu(np.ones((4, 4)), 1))  # a triangle is one way to write a symmetric matrix

    def test_refused(self):
        frame = pandas.DataFrame({"a": [1], "b": [2], "c": [3]})
        partly = networkx.Graph([(0, 1), (1, 2)])
        partly[0][1]["weight"] = 2
        for make, error, words in [
            (lambda: Graph([(1, 2), ("1", 3)]), BadData, "written alike"),
            (lambda: Graph([("a ", "b")]), BadData, "blanks"),
            (lambda: Graph([("a\n", "b")]), BadData, "control characters"),
            (lambda: Graph([(None, "b")]), BadData, "cannot be the id"),
            (lambda: Graph([(b"a", "b")]), BadData, "cannot be the id"),
            (lambda: Graph(frame), UsageError, "source and target"),
            (lambda: Graph([("a", "b", -1)]), BadData, "finite number, 0 or more"),
            (lambda: Graph([("a", "b", float("nan"))]), BadData, "finite number, 0 or more"),
            (lambda: Graph(scipy.sparse.eye(3, 4)), BadData, "square"),
            (lambda: Graph(partly), BadData, "have the attribute weight"),
            (lambda: Graph([("a", "b")], weights="big"), UsageError, "similarity"),
            (lambda: Graph(nodes=frame), UsageError, "knn"),
            (lambda: Graph([("a", "b")], nodes={"node": ["a", "a"], "x": [1, 2]}), BadData, "more than once"),
        ]:
            with self.subTest(words), self.assertRaisesRegex(error, words):
                make()

    def test_distance_is_asked_for(self):
        frame = pandas.DataFrame({"source": range(9), "target": range(1, 10), "length": np.arange(1.0, 10)})
        nodes = [0, 2, 4, 6, 8]
        with self.assertRaisesRegex(UsageError, "--weights"):
            GraphRegressor(Graph(frame, weight="length"), family="diffusion").fit(nodes, values(5))
        GraphRegressor(Graph(frame, weight="length", weights="distance"), family="diffusion").fit(nodes, values(5))


if __name__ == "__main__":
    unittest.main()
