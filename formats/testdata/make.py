#!/usr/bin/python3
"""Writes one small graph in every format, with the programs that people use.

Needs Debian's python3-networkx, python3-scipy, python3-pandas and python3-igraph. The nodes are N00 to N11,
N11 has no edge. Weights are multiples of 0.5; formats of whole numbers hold twice as much.
"""
import json, os, time

import igraph
import networkx as nx
import numpy as np
import pandas as pd
import scipy.sparse as sp

os.chdir(os.path.dirname(os.path.abspath(__file__)))

n = 12
G = nx.Graph()
for i in range(n):
    attributes = {"lat": 50 + i / 8, "lon": 6 + i / 16, "kind": "road" if i % 3 else "crossing"}
    if i % 4 != 3:
        attributes["speed"] = 30 + 1.5 * i
    G.add_node("N%02d" % i, **attributes)
for i in range(n - 1):
    for step, weight in ((1, 0.5 + i % 5), (4, 2.0)):
        if i + step < n - 1:
            G.add_edge("N%02d" % i, "N%02d" % (i + step), weight=weight, name="it's %d" % i)
ids = sorted(G)
edges = nx.to_pandas_edgelist(G)[["source", "target", "weight", "name"]]
nodes = pd.DataFrame([{"id": i, **G.nodes[i]} for i in ids])
A = nx.to_scipy_sparse_array(G, nodelist=ids)

# What all the others must agree with.
edges.to_csv("edges.csv", index=False)
nodes.to_csv("nodes.csv", index=False)

nx.write_gml(G, "networkx.gml")
nx.write_graphml(G, "networkx.graphml")
nx.write_gexf(G, "networkx.gexf")
nx.write_edgelist(G, "networkx.edgelist")
nx.write_edgelist(G, "networkx-tab.edgelist", delimiter="\t")
nx.write_multiline_adjlist(G, "networkx.madjlist")
nx.write_adjlist(G, "networkx.adjlist")
text = nx.Graph()  # Pajek wants text
for i in ids:
    text.add_node(i, **{k: str(v) for k, v in G.nodes[i].items()})
for u, v, d in G.edges(data=True):
    text.add_edge(u, v, weight=d["weight"])
nx.write_pajek(text, "networkx.net")
with open("node-link.json", "w") as f:
    json.dump(nx.node_link_data(G), f)
with open("cytoscape.json", "w") as f:
    json.dump(nx.cytoscape_data(G), f)

I = igraph.Graph.TupleList([(u, v, d["weight"]) for u, v, d in G.edges(data=True)], weights=True)
I.add_vertex("N11")
I.write_gml("igraph.gml")
for v in I.vs:
    v["id"] = v["name"]
I.write_pajek("igraph.net")
I.write_dot("igraph.dot")

edges.to_json("records.json", orient="records")
edges.to_json("records.jsonl", orient="records", lines=True)
edges.to_json("columns.json")
nodes.to_json("nodes.jsonl", orient="records", lines=True)

sp.save_npz("csr.npz", A.tocsr())
sp.save_npz("csc.npz", A.tocsc(), compressed=False)
sp.save_npz("coo.npz", sp.coo_array(sp.triu(A)))
sp.save_npz("bsr.npz", A.tobsr((2, 2)))
np.save("dense.npy", A.todense())
np.save("edge_index.npy", np.array([[ids.index(u), ids.index(v)] for u, v in G.edges]).T)
np.save("speeds.npy", nodes["speed"].to_numpy())

# No program at hand writes these.
twice = {i: [(ids.index(j) + 1, round(2 * G[i][j]["weight"])) for j in sorted(G[i])] for i in ids}
def metis(path, code, line):
    with open(path, "w") as f:
        f.write("%% made by make.py\n%d %d%s\n" % (n, G.number_of_edges(), code))
        for k, i in enumerate(ids):
            f.write(" ".join(str(x) for x in line(k, i)) + "\n")
metis("plain.graph", "", lambda k, i: [j for j, w in twice[i]])
metis("weights.graph", " 001", lambda k, i: [x for pair in twice[i] for x in pair])
metis("all.graph", " 111 2", lambda k, i: [k + 1, 10 + k, 20 + k] + [x for pair in twice[i] for x in pair])
with open("roads.gr", "w") as f:
    f.write("c made by make.py\np sp %d %d\n" % (n, 2 * G.number_of_edges()))
    for k, i in enumerate(ids):
        for j, w in twice[i]:
            f.write("a %d %d %d\n" % (k + 1, j, w))
with open("roads.co", "w") as f:
    f.write("c made by make.py\np aux sp co %d\n" % n)
    for k, i in enumerate(ids):
        f.write("v %d %d %d\n" % (k + 1, G.nodes[i]["lon"] * 1e6, G.nodes[i]["lat"] * 1e6))
with open("colours.col", "w") as f:
    f.write("c made by make.py\np edge %d %d\n" % (n, G.number_of_edges()))
    for u, v in G.edges:
        f.write("e %d %d\n" % (ids.index(u) + 1, ids.index(v) + 1))
