CREATE TABLE assets (
  asset       VARCHAR NOT NULL         COMMENT 'Asset id, a base58 public key.',
  "ORDER"     VARCHAR                  COMMENT 'Creators, an array of objects with address, share and verified.',
  exported_at TIMESTAMP_TZ(6) NOT NULL COMMENT 'Start of the export, UTC.'
)
COMMENT = 'One row per asset.';

COPY INTO assets FROM 'out/demo/parquet/assets/'
FILE_FORMAT = (TYPE = PARQUET USE_LOGICAL_TYPE = TRUE)
MATCH_BY_COLUMN_NAME = CASE_INSENSITIVE;

COPY INTO assets (
  asset,
  "ORDER",
  exported_at
) FROM 'out/demo/csv/assets/'
FILE_FORMAT = (
  TYPE = CSV SKIP_HEADER = 1 FIELD_OPTIONALLY_ENCLOSED_BY = '"' EMPTY_FIELD_AS_NULL = TRUE NULL_IF = ('\\N')
  ESCAPE = NONE ESCAPE_UNENCLOSED_FIELD = NONE ENCODING = 'UTF8'
);

-- Fractions inside json columns become doubles here: csv and parquet keep every digit.
CREATE OR REPLACE TEMPORARY TABLE incoming (line VARIANT);
COPY INTO incoming FROM 'out/demo/jsonl/assets/'
FILE_FORMAT = (TYPE = JSON);
INSERT INTO assets (
  asset,
  "ORDER",
  exported_at
)
SELECT
  line:asset::VARCHAR,
  TO_JSON(STRIP_NULL_VALUE(line:"order")),
  line:exported_at::TIMESTAMP_TZ(6)
FROM incoming;
DROP TABLE incoming;
