CREATE TABLE "assets" (
  "asset"       text NOT NULL,
  "order"       json,
  "exported_at" timestamp(6) with time zone NOT NULL
);

-- PostgreSQL cannot read Parquet. Run this in DuckDB; replace dbname=warehouse by your database.
ATTACH 'dbname=warehouse' AS warehouse (TYPE postgres);
INSERT INTO warehouse."assets" BY NAME
SELECT * FROM read_parquet('out/demo/parquet/assets/part-*.parquet', hive_partitioning = false);

-- In psql. For compressed parts: gzip -dc or zstd -dc of each part before tail.
\copy "assets" ("asset", "order", "exported_at") FROM PROGRAM 'tail -q -n +2 "out/demo/csv/assets/"part-*.csv' WITH (FORMAT csv, NULL '\N')

-- In psql. For compressed parts: gzip -dc or zstd -dc instead of cat.
CREATE TEMP TABLE lines (line json);
\copy lines FROM PROGRAM 'cat "out/demo/jsonl/assets/"part-*.jsonl' WITH (FORMAT csv, DELIMITER E'\x01', QUOTE E'\x02')
INSERT INTO "assets" (
  "asset",
  "order",
  "exported_at"
)
SELECT
  filled."asset",
  filled."order",
  filled."exported_at"
FROM lines, json_populate_record(NULL::"assets", line) AS filled;
DROP TABLE lines;
