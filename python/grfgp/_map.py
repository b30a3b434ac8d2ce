"""Maps of predictions for notebooks: inline SVG, which needs no script and no network."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any, Hashable, List, Optional, Sequence, Tuple

import numpy as np

from .errors import GrfgpError
from .graph import Graph
from .tables import Array, Table, shown

if TYPE_CHECKING:
    from .study import Study

escape = html.escape

# Most nodes and edges that a map draws; of more nodes it draws an even sample, of more
# edges none.
_most_nodes = 4000
_most_edges = 6000

# Knots of the colour scale viridis, from the lowest to the highest value.
_scale = np.array([[68, 1, 84], [71, 44, 122], [59, 81, 139], [44, 113, 142], [33, 144, 141], [39, 173, 129], [92, 200, 99], [170, 220, 50], [253, 231, 37]])

# Colours of classes that people with colour blindness can tell apart (Okabe and Ito).
_class_colours = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442"]
_other_colour = "#999999"

_width, _height, _margin = 400, 320, 10

_style = "font-family:system-ui,sans-serif;font-size:13px;color:inherit"


def regression(graph: Graph, table: Table, title: str) -> str:
    """Return maps of mean and sd, with the first rows of the table."""
    place = _place(graph, table)
    pictures = ""
    if place is not None:
        pictures = _figure(place, table, "mean", "mean") + _figure(place, table, "sd", "standard deviation")
    return _page(title, _counted(table), pictures, table._table_html(5))


def classes(graph: Graph, table: Table, names: Sequence[Hashable], title: str) -> str:
    """Return a map of classes, paler where the model is unsure."""
    place = _place(graph, table)
    pictures = _class_figure(place, table, list(names)) if place is not None else ""
    return _page(title, f"{len(table):,} nodes, {len(names)} classes", pictures, table._table_html(5))


def study(of: "Study") -> str:
    """Return a map of a study with what would be suggested next."""
    from .study import drawing

    now = of.show()
    words = f"{now['status']}, {now['values']} measurements, goal {now['settings'].get('goal', 'learn')}"
    try:
        table = of.predictions()
    except GrfgpError as err:
        return _page(f"Study {of.name}", words, f"<p>{escape(str(err))}</p>", "")
    at, edges, _ = drawing(of._http, now["settings"]["graph"])
    pictures = ""
    if len(at) == len(table) and "mean" in table:
        pictures = _figure((at, edges), table, "mean", "mean") + _figure((at, edges), table, "sd", "standard deviation")
    return _page(f"Study {of.name}", words, pictures, of.suggestions()._table_html(5))


def _counted(table: Table) -> str:
    measured = int(np.sum(table["measured"].astype(bool))) if "measured" in table else 0
    return f"{len(table):,} nodes, {measured:,} of them measured"


def _page(title: str, words: str, pictures: str, table: str) -> str:
    return (
        f'<div style="{_style}"><div><strong>{escape(title)}</strong></div><div style="opacity:.75">{escape(words)}</div>'
        f'<div style="display:flex;flex-wrap:wrap;gap:16px;margin:8px 0">{pictures}</div>{table}</div>'
    )


Place = Tuple[Array, Array]


def _place(graph: Graph, table: Table) -> Optional[Place]:
    """Return positions and edges in the rows of the table, as the program draws them; None if it cannot."""
    if graph._drawing is None:
        from .server import serve
        from .study import drawing, store_graph

        try:
            with serve() as server:
                at, edges, _ = drawing(server._http, store_graph(server._http, graph))
        except GrfgpError:
            return None  # the numbers are shown all the same
        graph._drawing = (at, edges)
    place: Place = graph._drawing
    return place if len(place[0]) == len(table) else None


def _spots(at: Array) -> Tuple[Array, Array, float, float]:
    """Return the nodes that are drawn, their places on the picture, the radius of a node and the height."""
    drawn = np.flatnonzero(np.isfinite(at).all(axis=1))
    if len(drawn) > _most_nodes:
        drawn = drawn[np.linspace(0, len(drawn) - 1, _most_nodes).astype(int)]
    if not len(drawn):
        return drawn, at[drawn], 0.0, 0.0
    low, high = at[drawn].min(axis=0), at[drawn].max(axis=0)
    size = np.maximum(high - low, 1e-12 * max(1.0, float(np.abs(high).max())))
    wide, tall = _width - 2 * _margin, _height - 2 * _margin
    unit = min(wide / size[0], tall / size[1])
    spot = (at - low) * unit + _margin
    spot[:, 0] += (wide - size[0] * unit) / 2
    height = size[1] * unit + 2 * _margin
    spot[:, 1] = height - spot[:, 1]  # north is up
    return drawn, spot, float(np.clip(150 / np.sqrt(len(drawn)) / 3, 1.2, 6)), float(height)


def _svg(place: Place, table: Table, fill: Sequence[str], words: Sequence[str], opacity: Optional[Array] = None) -> str:
    at, edges = place
    drawn, spot, radius, height = _spots(at)
    if not len(drawn):
        return ""
    parts: List[str] = []
    if len(edges) <= _most_edges and len(drawn) == int(np.isfinite(at).all(axis=1).sum()):
        ends = edges[np.isfinite(at[edges]).all(axis=(1, 2))] if len(edges) else edges
        path = "".join(f"M{spot[a, 0]:.1f} {spot[a, 1]:.1f}L{spot[b, 0]:.1f} {spot[b, 1]:.1f}" for a, b in ends)
        parts.append(f'<path d="{path}" stroke="currentColor" stroke-opacity=".25" stroke-width=".8" fill="none"/>')
    known = next((table[name].astype(bool) for name in ("measured", "given") if name in table), np.zeros(len(table), bool))
    for k in sorted(drawn.tolist(), key=lambda k: bool(known[k])):  # measured nodes on top
        ring = f' stroke="currentColor" stroke-width="{max(0.8, radius / 3):.1f}"' if known[k] else ""
        pale = f' fill-opacity="{opacity[k]:.2f}"' if opacity is not None else ""
        parts.append(f'<circle cx="{spot[k, 0]:.1f}" cy="{spot[k, 1]:.1f}" r="{radius:.1f}" fill="{fill[k]}"{pale}{ring}><title>{escape(words[k])}</title></circle>')
    return f'<svg viewBox="0 0 {_width} {height:.0f}" width="{_width}" height="{height:.0f}" role="img" style="max-width:100%">{"".join(parts)}</svg>'


def _figure(place: Place, table: Table, name: str, caption: str) -> str:
    """Return a map of a column of numbers with its colour scale."""
    values = table[name].astype(float)
    finite = values[np.isfinite(values)]
    if not len(finite):
        return ""
    low, high = (float(v) for v in np.quantile(finite, [0.01, 0.99]))  # a lone node must not stretch the scale
    share = np.clip((values - low) / (high - low), 0, 1) if high > low else np.full(len(values), 0.5)
    words = [f"{node}: {shown(mean)} ± {shown(sd)}" for node, mean, sd in zip(table.node, table["mean"], table["sd"])]
    svg = _svg(place, table, _colours(share), words)
    stops = ",".join(_colours(np.linspace(0, 1, len(_scale))))
    bar = (
        f'<span>{escape(shown(low))}</span><span style="display:inline-block;width:120px;height:10px;background:linear-gradient(90deg,{stops})"></span>'
        f"<span>{escape(shown(high))}</span>"
    )
    return _captioned(svg, f"<span>{escape(caption)}</span>{bar}")


def _class_figure(place: Place, table: Table, names: List[Hashable]) -> str:
    colour = {name: _class_colours[k] if k < len(_class_colours) else _other_colour for k, name in enumerate(names)}
    label, chance = table["class"].tolist(), table["probability"].astype(float)
    words = [f"{node}: {c}, probability {p:.2f}" for node, c, p in zip(table.node, label, chance)]
    least = 1 / max(2, len(names))
    svg = _svg(place, table, [colour[c] for c in label], words, np.clip(0.15 + 0.85 * (chance - least) / (1 - least), 0.15, 1))
    key = "".join(
        f'<span><span style="display:inline-block;width:10px;height:10px;border-radius:5px;background:{colour[c]}"></span> {escape(str(c))}</span>'
        for c in names[: len(_class_colours)]
    )
    more = len(names) - len(_class_colours)
    return _captioned(svg, key + (f'<span style="color:{_other_colour}">{more} more</span>' if more > 0 else ""))


def _captioned(svg: str, caption: str) -> str:
    return f'<div>{svg}<div style="display:flex;flex-wrap:wrap;gap:8px;align-items:center;margin-left:{_margin}px">{caption}</div></div>'


def _colours(share: Array) -> List[str]:
    """Return colours of numbers from 0 to 1.

    >>> _colours(np.array([0.0, 1.0]))
    ['#440154', '#fde725']
    """
    knots = np.linspace(0, 1, len(_scale))
    share = np.nan_to_num(share)
    rgb = np.column_stack([np.interp(share, knots, _scale[:, c]) for c in range(3)]).round().astype(int)
    return [f"#{r:02x}{g:02x}{b:02x}" for r, g, b in rgb.tolist()]
