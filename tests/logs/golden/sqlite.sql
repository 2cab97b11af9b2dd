WITH step_0 AS (
  SELECT
    TRUANT_TEXT("mail", 'mail') AS "arm",
    TRUANT_TEXT("revenue", 'revenue') AS "outcome",
    TRUANT_TEXT("opened", 'opened') AS "mediator_0",
    TRUANT_TEXT("score", 'score') AS "mediator_1",
    TRUANT_TEXT("country", 'country') AS "where_0",
    TRUANT_TEXT("age", 'age') AS "where_1",
    TRUANT_TEXT("mail", 'mail') AS "where_2",
    TRUANT_TEXT("score", 'score') AS "where_3"
  FROM "visits"
), step_1 AS (
  SELECT
    "arm" AS "arm",
    "outcome" AS "outcome",
    "mediator_0" AS "mediator_0",
    "mediator_1" AS "mediator_1",
    "where_0" AS "where_0",
    "where_1" AS "where_1",
    "where_2" AS "where_2",
    "where_3" AS "where_3"
  FROM step_0 AS r
  WHERE
    CASE
      WHEN TRIM("where_0", ' 	
') IN ('-99', '#N/A')
      OR LOWER(TRIM("where_0", ' 	
')) IN ('', 'na', 'n/a', '#n/a', 'nan', 'null', 'none', '-')
      OR CASE
        WHEN TRUANT_MATCHES(
          TRIM("where_0", ' 	
'),
          '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$'
        )
        THEN CAST(TRIM("where_0", ' 	
') AS REAL)
      END IN (CAST('-99.0' AS REAL))
      THEN NULL
      ELSE TRIM("where_0", ' 	
')
    END IN ('DE', 'AT')
    AND CASE
      WHEN CASE
        WHEN TRUANT_MATCHES(
          TRIM("where_1", ' 	
'),
          '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$'
        )
        THEN CAST(TRIM("where_1", ' 	
') AS REAL)
      END IN (CAST('-99.0' AS REAL))
      THEN NULL
      ELSE CASE
        WHEN TRUANT_MATCHES(
          TRIM("where_1", ' 	
'),
          '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$'
        )
        THEN CAST(TRIM("where_1", ' 	
') AS REAL)
      END
    END >= CAST('18.0' AS REAL)
    AND NOT CASE
      WHEN TRIM("where_2", ' 	
') IN ('-99', '#N/A')
      OR LOWER(TRIM("where_2", ' 	
')) IN ('', 'na', 'n/a', '#n/a', 'nan', 'null', 'none', '-')
      OR CASE
        WHEN TRUANT_MATCHES(
          TRIM("where_2", ' 	
'),
          '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$'
        )
        THEN CAST(TRIM("where_2", ' 	
') AS REAL)
      END IN (CAST('-99.0' AS REAL))
      THEN NULL
      ELSE TRIM("where_2", ' 	
')
    END GLOB 'test*'
    AND NOT CASE
      WHEN TRIM("where_3", ' 	
') IN ('-99', '#N/A')
      OR LOWER(TRIM("where_3", ' 	
')) IN ('', 'na', 'n/a', '#n/a', 'nan', 'null', 'none', '-')
      OR CASE
        WHEN TRUANT_MATCHES(
          TRIM("where_3", ' 	
'),
          '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$'
        )
        THEN CAST(TRIM("where_3", ' 	
') AS REAL)
      END IN (CAST('-99.0' AS REAL))
      THEN NULL
      ELSE TRIM("where_3", ' 	
')
    END IS NULL
), step_2 AS (
  SELECT
    "arm" AS "arm",
    "outcome" AS "outcome",
    "mediator_0" AS "mediator_0",
    "mediator_1" AS "mediator_1",
    "where_0" AS "where_0",
    "where_1" AS "where_1",
    "where_2" AS "where_2",
    "where_3" AS "where_3",
    CASE
      WHEN TRIM("outcome", ' 	
') IN ('-99', '#N/A')
      OR CASE
        WHEN TRUANT_MATCHES(
          REPLACE(REPLACE(TRIM("outcome", ' 	
'), '$', ''), ',', ''),
          '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$'
        )
        THEN CAST(REPLACE(REPLACE(TRIM("outcome", ' 	
'), '$', ''), ',', '') AS REAL)
      END IN (CAST('-99.0' AS REAL))
      THEN NULL
      ELSE CASE
        WHEN TRUANT_MATCHES(
          REPLACE(REPLACE(TRIM("outcome", ' 	
'), '$', ''), ',', ''),
          '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$'
        )
        THEN CAST(REPLACE(REPLACE(TRIM("outcome", ' 	
'), '$', ''), ',', '') AS REAL)
      END
    END AS "number_outcome",
    CASE
      WHEN CASE
        WHEN TRUANT_MATCHES(
          TRIM("mediator_1", ' 	
'),
          '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$'
        )
        THEN CAST(TRIM("mediator_1", ' 	
') AS REAL)
      END IN (CAST('-99.0' AS REAL))
      THEN NULL
      ELSE CASE
        WHEN TRUANT_MATCHES(
          TRIM("mediator_1", ' 	
'),
          '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$'
        )
        THEN CAST(TRIM("mediator_1", ' 	
') AS REAL)
      END
    END AS "number_mediator_1"
  FROM step_1 AS r
  LIMIT -1
  OFFSET 0
), step_3 AS (
  SELECT
    "arm" AS "arm",
    "mediator_0" AS "mediator_0",
    CASE
      WHEN "number_mediator_1" IS NULL
      THEN CAST(NULL AS INTEGER)
      WHEN "number_mediator_1" <= CAST('2.5' AS REAL)
      THEN 0
      WHEN "number_mediator_1" <= CAST('7.25' AS REAL)
      THEN 1
      ELSE 2
    END AS "mediator_1",
    "number_mediator_1" AS "number_mediator_1",
    CASE WHEN NOT "number_mediator_1" IS NULL THEN NULL ELSE "mediator_1" END AS "unread_mediator_1",
    COALESCE(
      CASE
        WHEN CASE
          WHEN TRUANT_MATCHES(
            REPLACE(REPLACE(TRIM("outcome", ' 	
'), '$', ''), ',', ''),
            '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$'
          )
          THEN CAST(REPLACE(REPLACE(TRIM("outcome", ' 	
'), '$', ''), ',', '') AS REAL)
        END IN (CAST('-99.0' AS REAL))
        THEN CAST(CASE
          WHEN TRUANT_MATCHES(
            REPLACE(REPLACE(TRIM("outcome", ' 	
'), '$', ''), ',', ''),
            '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$'
          )
          THEN CAST(REPLACE(REPLACE(TRIM("outcome", ' 	
'), '$', ''), ',', '') AS REAL)
        END AS TEXT)
      END,
      CASE WHEN NOT "number_outcome" IS NULL THEN NULL ELSE "outcome" END
    ) AS "unread_outcome",
    "number_outcome" AS "outcome",
    "number_outcome" AS "clean"
  FROM step_2 AS r
)
SELECT
  "arm" AS "arm",
  "mediator_0" AS "mediator_0",
  "mediator_1" AS "mediator_1",
  "unread_mediator_1" AS "unread_mediator_1",
  "unread_outcome" AS "unread_outcome",
  COUNT(*) AS "pulls",
  COUNT("outcome") AS "observed",
  SUM((
    "outcome" - CAST('120.5' AS REAL)
  )) AS "sum",
  SUM(
    (
      (
        "outcome" - CAST('120.5' AS REAL)
      )
    ) * (
      (
        "outcome" - CAST('120.5' AS REAL)
      )
    )
  ) AS "squares",
  SUM(
    (
      (
        (
          "outcome" - CAST('120.5' AS REAL)
        )
      ) * (
        (
          "outcome" - CAST('120.5' AS REAL)
        )
      )
    ) * (
      (
        "outcome" - CAST('120.5' AS REAL)
      )
    )
  ) AS "cubes",
  MIN("outcome") AS "low",
  MAX("outcome") AS "high"
FROM step_3 AS r
GROUP BY
  "arm",
  "mediator_0",
  "mediator_1",
  "unread_mediator_1",
  "unread_outcome"
LIMIT 1000001
