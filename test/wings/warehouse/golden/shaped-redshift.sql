CREATE TABLE "assets" (
  "asset"       VARCHAR(65535) NOT NULL,
  "order"       VARCHAR(65535),
  "exported_at" TIMESTAMP NOT NULL
);

COPY "assets"
FROM 'out/demo/parquet/assets/part-'
IAM_ROLE default
FORMAT PARQUET;

COPY "assets" (
  "asset",
  "order",
  "exported_at"
)
FROM 'out/demo/csv/assets/part-'
IAM_ROLE default
FORMAT CSV IGNOREHEADER 1 NULL AS '\N' TIMEFORMAT 'auto';

-- Numbers inside json columns are read into SUPER here: parquet keeps every digit.
CREATE TEMP TABLE incoming (
  "asset" VARCHAR(65535),
  "order" SUPER,
  "exported_at" TIMESTAMP
);
COPY incoming
FROM 'out/demo/jsonl/assets/part-'
IAM_ROLE default
FORMAT AS JSON 'auto';
INSERT INTO "assets"
SELECT
  "asset",
  NULLIF(JSON_SERIALIZE("order"), 'null'),
  "exported_at"
FROM incoming;
DROP TABLE incoming;
