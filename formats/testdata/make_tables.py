"""Writes the spreadsheets and databases of this folder with the programs that people use.

    apt-get install python3-pandas python3-openpyxl sqlite3
    /usr/bin/python3 make_tables.py
"""

import datetime
import pathlib
import sqlite3

import openpyxl
import pandas

here = pathlib.Path(__file__).parent
nodes = [9007199254740993, 2, 3, 4, 5]  # the first is no float64
edges = pandas.DataFrame({"source": nodes, "target": nodes[1:] + nodes[:1], "weight": [1.0, 0.5, 0.25, 2.0, 1.5]})
values = pandas.DataFrame({
    "node": nodes,
    "speed": [44.5, None, 0.1 + 0.2, 1e-7, 61],
    "when": pandas.to_datetime(["2024-01-31 06:30", "2024-02-01", "1999-12-31 23:59:59.5", None, "2024-02-29"]),
    "quality": pandas.Categorical(["good", "bad", "good", "good", None]),
    "checked": [True, False, True, True, False],
})

with pandas.ExcelWriter(here / "two_sheets.xlsx", engine="openpyxl") as writer:
    edges.astype({"source": str, "target": str}).to_excel(writer, sheet_name="roads", index=False)
    values.astype({"node": str}).to_excel(writer, sheet_name="My speeds", index=False)

book = openpyxl.Workbook()
sheet = book.active
sheet.title = "speeds"
sheet.append(["node", "speed", "day", "clock", "note", "ok"])
sheet.append(["007", 44.5, datetime.date(2024, 1, 31), datetime.time(6, 30), "a & b", True])
sheet.append(["008", None, datetime.datetime(2024, 1, 31, 18, 45), datetime.time(23, 59, 59), None, False])
sheet.append([])
sheet.append(["009", "#N/A", None, None, "line\nbreak", None])
sheet["B6"], sheet["A6"] = "=B2*2", "010"
sheet["B5"].data_type = "e"
hidden = book.create_sheet("old")
hidden.append(["node", "speed"])
hidden.append(["007", 1])
hidden.sheet_state = "hidden"
book.create_sheet("empty")
book.save(here / "one_sheet.xlsx")

path = here / "city.db"
path.unlink(missing_ok=True)
db = sqlite3.connect(path)
edges.to_sql("roads", db, index=False)
values.to_sql("speeds", db, index=False)
db.execute("CREATE TABLE types (node INTEGER, day DATE, at TIMESTAMP, price DECIMAL(10, 2), shape BLOB, \"odd \"\"name\" TEXT)")
db.execute("INSERT INTO types VALUES (9007199254740993, '2024-01-31', '2024-01-31 06:30:00', 12.5, x'00ff', 'x')")
db.execute("CREATE VIEW fast AS SELECT node, speed FROM speeds WHERE speed > 40")
db.commit()
db.close()

path = here / "one_table.db"
path.unlink(missing_ok=True)
db = sqlite3.connect(path)
edges.to_sql("roads", db, index=False)
db.close()
