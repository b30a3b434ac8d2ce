"""Writes the geographic test files of this folder with the tools that users have.

One small town in every form, its districts, sensors at coordinates, and a timetable. Needs the
Debian packages python3-geopandas, gdal-bin, osmium-tool and, for a picture of the documentation, chromium. Run it in this folder.
"""

import json
import os
import subprocess
import zipfile
from xml.sax.saxutils import quoteattr

import geopandas as gpd
from shapely.geometry import LineString, MultiPolygon, Point, Polygon

LON, LAT, STEP = 6.08, 50.77, 0.002


def at(x, y):
    return (round(LON + STEP * x, 7), round(LAT + STEP * y, 7))


# Streets by their vertices in steps of the grid, and attributes.
STREETS = [
    ("Nordstraße", "residential", "30", 1, [(0, 4), (1, 4), (2, 4), (3, 4)]),
    ("Markt", "tertiary", "50", 2, [(0, 3), (1, 3), (2, 3), (3, 3)]),
    ("Südstraße", "residential", "30", 1, [(0, 2), (1, 2), (2, 2), (3, 2)]),
    ("Westring", "secondary", "50", 2, [(0, 2), (0, 3), (0, 4)]),
    ("Rue de l'Église", "residential", "30", 1, [(1, 2), (1, 3), (1, 4)]),
    ("Ostring", "secondary", "70", 2, [(3, 2), (3, 3), (3, 4)]),
    # a curve of many vertices
    ("Bogen", "residential", None, 1, [(2, 2), (2.2, 1.7), (2.5, 1.5), (2.8, 1.4), (3.2, 1.5), (3.4, 1.8), (3.4, 2.4), (3, 3)]),
    # two pieces of one street that meet where nothing else does
    ("Parkweg", "residential", "30", 1, [(2, 3), (2, 3.5)]),
    ("Parkweg", "residential", "30", 1, [(2, 3.5), (2, 4)]),
    # a dead end, and a bridge over the Markt
    ("Sackgasse", "residential", "30", 1, [(0, 2), (-0.5, 1.5), (-1, 1.5)]),
    ("Brücke", "primary", "70", 2, [(0, 2), (0.5, 2.6), (0.6, 3.6), (1, 4)]),
    # a longer way between two junctions
    ("Umweg", "residential", "30", 1, [(2, 2), (2.5, 2.4), (3, 2)]),
    # a piece apart from the others
    ("Insel", "residential", "30", 1, [(6, 6), (6.5, 6), (7, 6.5)]),
]


def town():
    rows = [
        {"name": n, "highway": h, "maxspeed": s, "lanes": l, "oneway": "no", "geometry": LineString([at(*p) for p in pts])}
        for n, h, s, l, pts in STREETS
    ]
    return gpd.GeoDataFrame(rows, crs="EPSG:4326")


def ogr(*args):
    subprocess.run(["ogr2ogr", *args], check=True)


def remove(*names):
    for name in names:
        if os.path.exists(name):
            os.remove(name)


def write_osm():
    """The same town as OpenStreetMap XML, with things that are not roads."""
    ids, ways = {}, []
    for n, h, s, l, pts in STREETS:
        refs = [ids.setdefault(at(*p), 1000 + len(ids)) for p in pts]
        tags = {"name": n, "highway": h, "maxspeed": s, "lanes": str(l), "oneway": "no"}
        ways.append((refs, tags))
    # a footway that would be a junction, a private road, and a pedestrian area
    path = [ids[at(0, 3)], ids.setdefault(at(0.5, 3.3), 1000 + len(ids)), ids[at(1, 3)]]
    ways.append((path, {"highway": "footway"}))
    ways.append((path, {"highway": "residential", "access": "private"}))
    ways.append((path + [path[0]], {"highway": "residential", "area": "yes"}))
    with open("town.osm", "w", encoding="utf-8") as f:
        f.write('<?xml version="1.0" encoding="UTF-8"?>\n<osm version="0.6" generator="make_geo.py">\n')
        for (lon, lat), i in ids.items():
            f.write(f'  <node id="{i}" version="1" lat="{lat:.7f}" lon="{lon:.7f}"/>\n')
        for k, (refs, tags) in enumerate(ways):
            f.write(f'  <way id="{k + 1}" version="1">\n')
            f.writelines(f'    <nd ref="{r}"/>\n' for r in refs)
            f.writelines(f"    <tag k={quoteattr(a)} v={quoteattr(b)}/>\n" for a, b in tags.items() if b)
            f.write("  </way>\n")
        f.write("</osm>\n")
    for name, options in {"town.osm.pbf": "pbf", "town_plain.osm.pbf": "pbf,pbf_dense_nodes=false,pbf_compression=none"}.items():
        subprocess.run(["osmium", "cat", "town.osm", "-o", name, "--overwrite", "-f", options], check=True)


def districts():
    def box(x0, y0, x1, y1):
        return Polygon([at(x0, y0), at(x1, y0), at(x1, y1), at(x0, y1)])

    # The north has a vertex on the common border that the south lacks; the lake is a hole of
    # the east, filled by a district of its own; the islands are one district of two parts.
    north = Polygon([at(0, 2), at(1, 2), at(3, 2), at(3, 4), at(0, 4)])
    east = Polygon(box(3, 0, 6, 4).exterior.coords, [box(4, 1, 5, 2).exterior.coords])
    rows = [
        ("D01", "Nord", 1200, north),
        ("D02", "Süd", 900, box(0, 0, 3, 2)),
        ("D03", "Ost", 2100, east),
        ("D04", "See", 3, box(4, 1, 5, 2)),
        ("D05", "Inseln", 40, MultiPolygon([box(7, 7, 8, 8), box(9, 7, 10, 8)])),
        ("D06", "Eck", 310, box(6, 4, 7, 5)),
    ]
    return gpd.GeoDataFrame(
        [{"code": c, "name": n, "people": p, "geometry": g} for c, n, p, g in rows], crs="EPSG:4326"
    )


def sensors():
    """Sensors beside the junctions, up to some twenty metres away from them."""
    rows = []
    for k, (x, y) in enumerate([(0, 2), (1, 2), (2, 2), (3, 2), (0, 3), (1, 3), (2, 3), (3, 3), (0, 4), (1, 4), (3, 4), (-1, 1.5)]):
        p = (x + 0.05 * (k % 3 - 1), y + 0.04 * (k % 2))
        rows.append({"sensor": f"S{k:02d}", "speed": round(30 + 3 * x + 2 * y + (k * 7 % 5) / 4, 2), "geometry": Point(at(*p))})
    return gpd.GeoDataFrame(rows, crs="EPSG:4326")


def write_gtfs():
    stops = "stop_id,stop_name,stop_lat,stop_lon,location_type,parent_station,zone_id\n"
    places = {"bhf": (0, 0), "markt": (2, 0), "dom": (4, 1), "uni": (6, 1), "wald": (8, 3), "depot": (0, 3)}
    for i, (x, y) in places.items():
        lon, lat = at(x, y)
        kind = "1" if i == "bhf" else "0"
        stops += f'{i},"{i.title()}, Stadt",{lat},{lon},{kind},,A\n'
    for i in "12":
        lon, lat = at(0, 0.1 * int(i))
        stops += f"bhf{i},Bhf Gleis {i},{lat},{lon},0,bhf,A\n"
    lines = {
        "t1": [("bhf1", "08:00:00"), ("markt", "08:03:00"), ("dom", "08:05:00"), ("uni", "08:09:00")],
        "t2": [("uni", "23:58:00"), ("dom", "24:01:00"), ("markt", "24:03:00"), ("bhf2", "24:06:00")],
        "t3": [("bhf2", "09:00:00"), ("markt", "09:04:00"), ("wald", ""), ("uni", "09:14:00")],
        "t4": [("dom", "10:00:00"), ("markt", "10:00:00")],
    }
    times = "trip_id,arrival_time,departure_time,stop_id,stop_sequence\n"
    for trip, calls in lines.items():
        for k, (stop, when) in enumerate(calls):
            times += f"{trip},{when},{when},{stop},{10 * k}\n"
    with zipfile.ZipFile("gtfs.zip", "w", zipfile.ZIP_DEFLATED) as z:
        for name, text in {
            "agency.txt": "agency_name,agency_url,agency_timezone\nBus,https://example.org,Europe/Berlin\n",
            "stops.txt": stops,
            "trips.txt": "route_id,service_id,trip_id\n" + "".join(f"r,s,{t}\n" for t in lines),
            "stop_times.txt": times,
        }.items():
            z.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), text)


def network():
    """Junctions and edges of the town, as the program makes them: chains are one edge."""
    near = {}
    for *_, pts in STREETS:
        for a, b in zip(pts, pts[1:]):
            near.setdefault(a, set()).add(b)
            near.setdefault(b, set()).add(a)
    nodes = {p for p, others in near.items() if len(others) != 2}
    edges = set()
    for start in nodes:
        for step in near[start]:
            before, here = start, step
            while here not in nodes:
                before, here = here, next(p for p in near[here] if p != before)
            edges.add(tuple(sorted((start, here))))
    return nodes, edges


def draw():
    """The picture of the documentation: town and districts as they are drawn, and their graphs."""
    unit, parts = 62, []

    def at_panel(panel, x, y):
        return (70, 430, 730)[panel] + unit * x, 40 + unit * (4 - y)

    def line(panel, pts, colour, width):
        text = " ".join("%.1f,%.1f" % at_panel(panel, *p) for p in pts)
        parts.append(f'<polyline points="{text}" fill="none" stroke="{colour}" stroke-width="{width}" stroke-linejoin="round"/>')

    def dot(panel, p, radius, colour):
        x, y = at_panel(panel, *p)
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{colour}" stroke="white" stroke-width="1"/>')

    def label(panel, x, text):
        px, _ = at_panel(panel, x, 0)
        parts.append(f'<text x="{px:.1f}" y="26" font-family="sans-serif" font-size="15" fill="#222">{text}</text>')

    colours = ["#4477aa", "#66ccee", "#228833", "#ccbb44", "#ee6677", "#aa3377", "#777777"]
    near = [street for street in STREETS if street[0] != "Insel"]
    for k, (*_, pts) in enumerate(near):
        line(0, pts, colours[k % len(colours)], 3)
        for p in pts:
            dot(0, p, 3, "#444")
    nodes, edges = network()
    for a, b in sorted(edges):
        if max(a[0], b[0]) < 5:
            line(1, [a, b], "#999", 2.5)
    for p in sorted(nodes):
        if p[0] < 5:
            dot(1, p, 6, "#4477aa")
    shapes = {"Nord": (0, 2, 3, 4), "Süd": (0, 0, 3, 2), "Ost": (3, 0, 6, 4), "See": (4, 1, 5, 2)}
    fills = ["#cfe0f1", "#d9ead3", "#fdf0c4", "#b6d7f5"]
    for fill, (x0, y0, x1, y1) in zip(fills, shapes.values()):
        (px, py), (qx, qy) = at_panel(2, x0, y1), at_panel(2, x1, y0)
        parts.append(f'<rect x="{px}" y="{py}" width="{qx - px}" height="{qy - py}" fill="{fill}" stroke="#777"/>')
    centre = {n: ((x0 + x1) / 2, (y0 + y1) / 2) for n, (x0, y0, x1, y1) in shapes.items()}
    centre["Ost"] = (4.5, 3)
    for a, b in [("Nord", "Süd"), ("Nord", "Ost"), ("Süd", "Ost"), ("Ost", "See")]:
        line(2, [centre[a], centre[b]], "#999", 2.5)
    for name, p in centre.items():
        dot(2, p, 6, "#aa3377")
        x, y = at_panel(2, *p)
        y += 20 if name == "Süd" else -8
        parts.append(f'<text x="{x + 10:.1f}" y="{y:.1f}" font-family="sans-serif" font-size="14" fill="#222">{name}</text>')
    for panel, x, text in [(0, -1, "lines and their vertices"), (1, -1, "junctions and ends are nodes"), (2, 0, "areas and their common borders")]:
        label(panel, x, text)
    with open("files-maps.svg", "w", encoding="utf-8") as f:
        f.write('<svg xmlns="http://www.w3.org/2000/svg" width="1120" height="310"><rect width="1120" height="310" fill="white"/>' + "".join(parts) + "</svg>")
    subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1120,310", "--screenshot=../../docs/files-maps.png", "files-maps.svg"], check=True, capture_output=True)
    remove("files-maps.svg")


def archive(name, *files):
    with zipfile.ZipFile(name, "w", zipfile.ZIP_DEFLATED) as z:
        for f in files:
            info = zipfile.ZipInfo(f, (2026, 1, 1, 0, 0, 0))
            with open(f, "rb") as data:
                z.writestr(info, data.read())


def main():
    remove("town.geojson", "town.csv", "town_utm.geojson", "districts.geojson", "sensors.geojson", "town.geojsonl")
    town().to_file("town.geojson", driver="GeoJSON")
    town().to_file("town.shp", encoding="utf-8")
    ogr("-f", "CSV", "-lco", "GEOMETRY=AS_WKT", "town.csv", "town.geojson")
    ogr("-f", "GeoJSONSeq", "town.geojsonl", "town.geojson")
    ogr("-f", "ESRI Shapefile", "-t_srs", "EPSG:25832", "-lco", "ENCODING=ISO-8859-1", "town_utm.shp", "town.geojson")
    remove("town_utm.cpg")  # as many old files are
    write_osm()
    areas = districts()
    areas.to_file("districts.geojson", driver="GeoJSON")
    areas.to_file("districts.shp", encoding="utf-8")
    archive("districts.zip", "districts.shp", "districts.dbf", "districts.prj", "districts.cpg", "districts.shx")
    for ending in ("shp", "dbf", "prj", "cpg"):
        remove(f"districts.{ending}")
    sensors().to_file("sensors.geojson", driver="GeoJSON")
    write_gtfs()
    draw()
    remove("town.shx", "town_utm.shx", "districts.shx")
    with open("districts.geojson", encoding="utf-8") as f:
        assert len(json.load(f)["features"]) == 6


if __name__ == "__main__":
    main()
