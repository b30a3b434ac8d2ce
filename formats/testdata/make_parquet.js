// Writes the Parquet and Arrow files of this folder with DuckDB and Apache Arrow.
//
//   npm install @duckdb/node-api apache-arrow && node make_parquet.js FOLDER
const fs = require("node:fs");
const path = require("node:path");
const { DuckDBInstance } = require("@duckdb/node-api");
const arrow = require("apache-arrow");

const folder = process.argv[2] ?? __dirname;
const at = (name) => path.join(folder, name);

async function main() {
  const db = await (await DuckDBInstance.create(":memory:")).connect();
  await db.run(`CREATE TABLE roads AS SELECT i AS source, (i + 1) % 50 AS target, 1 / (i + 1.0::DOUBLE) AS weight FROM range(50) t(i)`);
  await db.run(`COPY roads TO '${at("roads.parquet")}' (FORMAT parquet, COMPRESSION zstd)`);
  await db.run(`CREATE TYPE grade AS ENUM ('good', 'bad')`);
  await db.run(`CREATE TABLE types AS SELECT * FROM (VALUES
    (9007199254740993::BIGINT, 44.5::DOUBLE, 0.1::FLOAT, 'é'::VARCHAR, DATE '2024-01-31', TIMESTAMP '2024-01-31 06:30:00.25', 12.50::DECIMAL(9, 2), 'good'::grade, true, 200::UTINYINT, [1, 2], {'a': 1}, '\\x00\\xFF'::BLOB, TIME '23:59:59'),
    (-2, 'nan'::DOUBLE, NULL, '', DATE '1969-12-31', TIMESTAMP '1969-12-31 23:59:59', -0.05, NULL, false, NULL, NULL, NULL, NULL, NULL),
    (3, 1e-7, 2.5, NULL, NULL, NULL, NULL, 'bad', NULL, 0, [], {'a': 2}, '\\x01'::BLOB, TIME '00:00:00'))
    t(id, value, small, name, day, "at", price, grade, ok, tiny, list, pair, bytes, clock)`);
  await db.run(`COPY types TO '${at("types.parquet")}' (FORMAT parquet, COMPRESSION snappy)`);
  await db.run(`COPY (SELECT i AS node, i * 0.5 AS value FROM range(3000) t(i)) TO '${at("groups.parquet")}' (FORMAT parquet, COMPRESSION gzip, ROW_GROUP_SIZE 2048)`);
  await db.run(`CREATE TABLE encodings AS SELECT i AS node, (i * 7919) % 10007 - 5000 AS far, 1 / (i + 1.0::DOUBLE) AS value,
    (i / 3.0)::FLOAT AS single, CASE WHEN i % 7 = 0 THEN NULL ELSE 'road ' || (i * i)::VARCHAR END AS name, i % 3 = 0 AS third,
    'kind ' || (i % 5)::VARCHAR AS kind, i::INTEGER AS small FROM range(150) t(i)`);
  await db.run(`COPY encodings TO '${at("encodings.parquet")}' (FORMAT parquet, COMPRESSION lz4_raw, PARQUET_VERSION V2, DICTIONARY_SIZE_LIMIT 20)`);
  await db.run(`COPY (SELECT 1 AS node) TO '${at("brotli.parquet")}' (FORMAT parquet, COMPRESSION brotli)`);
  fs.writeFileSync(at("roads.arrow"), arrow.tableToIPC(arrow.tableFromArrays({ source: Int32Array.of(0, 1), target: Int32Array.of(1, 2) }), "file"));
}

main();
