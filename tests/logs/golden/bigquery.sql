SELECT
  `arm` AS `arm`,
  `mediator_0` AS `mediator_0`,
  `mediator_1` AS `mediator_1`,
  `unread_mediator_1` AS `unread_mediator_1`,
  `unread_outcome` AS `unread_outcome`,
  COUNT(*) AS `pulls`,
  COUNT(`outcome`) AS `observed`,
  SUM((
    `outcome` - CAST('120.5' AS FLOAT64)
  )) AS `sum`,
  SUM(
    (
      (
        `outcome` - CAST('120.5' AS FLOAT64)
      )
    ) * (
      (
        `outcome` - CAST('120.5' AS FLOAT64)
      )
    )
  ) AS `squares`,
  SUM(
    (
      (
        (
          `outcome` - CAST('120.5' AS FLOAT64)
        )
      ) * (
        (
          `outcome` - CAST('120.5' AS FLOAT64)
        )
      )
    ) * (
      (
        `outcome` - CAST('120.5' AS FLOAT64)
      )
    )
  ) AS `cubes`,
  MIN(`outcome`) AS `low`,
  MAX(`outcome`) AS `high`
FROM (
  SELECT
    `arm` AS `arm`,
    `mediator_0` AS `mediator_0`,
    CASE
      WHEN `number_mediator_1` IS NULL
      THEN CAST(NULL AS INT64)
      WHEN `number_mediator_1` <= CAST('2.5' AS FLOAT64)
      THEN 0
      WHEN `number_mediator_1` <= CAST('7.25' AS FLOAT64)
      THEN 1
      ELSE 2
    END AS `mediator_1`,
    `number_mediator_1` AS `number_mediator_1`,
    CASE WHEN NOT `number_mediator_1` IS NULL THEN NULL ELSE `mediator_1` END AS `unread_mediator_1`,
    COALESCE(
      CASE
        WHEN CASE
          WHEN REGEXP_CONTAINS(
            REPLACE(REPLACE(TRIM(`outcome`, ' \t\n\r\v\f'), '$', ''), ',', ''),
            '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$'
          )
          THEN CAST(REPLACE(REPLACE(TRIM(`outcome`, ' \t\n\r\v\f'), '$', ''), ',', '') AS FLOAT64)
        END IN (CAST('-99.0' AS FLOAT64))
        THEN CAST(CASE
          WHEN REGEXP_CONTAINS(
            REPLACE(REPLACE(TRIM(`outcome`, ' \t\n\r\v\f'), '$', ''), ',', ''),
            '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$'
          )
          THEN CAST(REPLACE(REPLACE(TRIM(`outcome`, ' \t\n\r\v\f'), '$', ''), ',', '') AS FLOAT64)
        END AS STRING)
      END,
      CASE WHEN NOT `number_outcome` IS NULL THEN NULL ELSE `outcome` END
    ) AS `unread_outcome`,
    `number_outcome` AS `outcome`,
    `number_outcome` AS `clean`
  FROM (
    SELECT
      `arm` AS `arm`,
      `outcome` AS `outcome`,
      `mediator_0` AS `mediator_0`,
      `mediator_1` AS `mediator_1`,
      `where_0` AS `where_0`,
      `where_1` AS `where_1`,
      `where_2` AS `where_2`,
      `where_3` AS `where_3`,
      CASE
        WHEN TRIM(`outcome`, ' \t\n\r\v\f') IN ('-99', '#N/A')
        OR CASE
          WHEN REGEXP_CONTAINS(
            REPLACE(REPLACE(TRIM(`outcome`, ' \t\n\r\v\f'), '$', ''), ',', ''),
            '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$'
          )
          THEN CAST(REPLACE(REPLACE(TRIM(`outcome`, ' \t\n\r\v\f'), '$', ''), ',', '') AS FLOAT64)
        END IN (CAST('-99.0' AS FLOAT64))
        THEN NULL
        ELSE CASE
          WHEN REGEXP_CONTAINS(
            REPLACE(REPLACE(TRIM(`outcome`, ' \t\n\r\v\f'), '$', ''), ',', ''),
            '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$'
          )
          THEN CAST(REPLACE(REPLACE(TRIM(`outcome`, ' \t\n\r\v\f'), '$', ''), ',', '') AS FLOAT64)
        END
      END AS `number_outcome`,
      CASE
        WHEN CASE
          WHEN REGEXP_CONTAINS(
            TRIM(`mediator_1`, ' \t\n\r\v\f'),
            '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$'
          )
          THEN CAST(TRIM(`mediator_1`, ' \t\n\r\v\f') AS FLOAT64)
        END IN (CAST('-99.0' AS FLOAT64))
        THEN NULL
        ELSE CASE
          WHEN REGEXP_CONTAINS(
            TRIM(`mediator_1`, ' \t\n\r\v\f'),
            '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$'
          )
          THEN CAST(TRIM(`mediator_1`, ' \t\n\r\v\f') AS FLOAT64)
        END
      END AS `number_mediator_1`
    FROM (
      SELECT
        `arm` AS `arm`,
        `outcome` AS `outcome`,
        `mediator_0` AS `mediator_0`,
        `mediator_1` AS `mediator_1`,
        `where_0` AS `where_0`,
        `where_1` AS `where_1`,
        `where_2` AS `where_2`,
        `where_3` AS `where_3`
      FROM (
        SELECT
          `mail` AS `arm`,
          `revenue` AS `outcome`,
          `opened` AS `mediator_0`,
          `score` AS `mediator_1`,
          `country` AS `where_0`,
          `age` AS `where_1`,
          `mail` AS `where_2`,
          `score` AS `where_3`
        FROM `visits`
      ) AS r
      WHERE
        CASE
          WHEN TRIM(`where_0`, ' \t\n\r\v\f') IN ('-99', '#N/A')
          OR LOWER(TRIM(`where_0`, ' \t\n\r\v\f')) IN ('', 'na', 'n/a', '#n/a', 'nan', 'null', 'none', '-')
          OR CASE
            WHEN REGEXP_CONTAINS(
              TRIM(`where_0`, ' \t\n\r\v\f'),
              '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$'
            )
            THEN CAST(TRIM(`where_0`, ' \t\n\r\v\f') AS FLOAT64)
          END IN (CAST('-99.0' AS FLOAT64))
          THEN NULL
          ELSE TRIM(`where_0`, ' \t\n\r\v\f')
        END IN ('DE', 'AT')
        AND CASE
          WHEN IS_NAN(CAST(`where_1` AS FLOAT64))
          OR CAST(`where_1` AS FLOAT64) IN (CAST('-99.0' AS FLOAT64))
          THEN NULL
          ELSE CAST(`where_1` AS FLOAT64)
        END >= CAST('18.0' AS FLOAT64)
        AND NOT REGEXP_CONTAINS(
          CASE
            WHEN TRIM(`where_2`, ' \t\n\r\v\f') IN ('-99', '#N/A')
            OR LOWER(TRIM(`where_2`, ' \t\n\r\v\f')) IN ('', 'na', 'n/a', '#n/a', 'nan', 'null', 'none', '-')
            OR CASE
              WHEN REGEXP_CONTAINS(
                TRIM(`where_2`, ' \t\n\r\v\f'),
                '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$'
              )
              THEN CAST(TRIM(`where_2`, ' \t\n\r\v\f') AS FLOAT64)
            END IN (CAST('-99.0' AS FLOAT64))
            THEN NULL
            ELSE TRIM(`where_2`, ' \t\n\r\v\f')
          END,
          '(?s)^test.*$'
        )
        AND NOT CASE
          WHEN TRIM(`where_3`, ' \t\n\r\v\f') IN ('-99', '#N/A')
          OR LOWER(TRIM(`where_3`, ' \t\n\r\v\f')) IN ('', 'na', 'n/a', '#n/a', 'nan', 'null', 'none', '-')
          OR CASE
            WHEN REGEXP_CONTAINS(
              TRIM(`where_3`, ' \t\n\r\v\f'),
              '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$'
            )
            THEN CAST(TRIM(`where_3`, ' \t\n\r\v\f') AS FLOAT64)
          END IN (CAST('-99.0' AS FLOAT64))
          THEN NULL
          ELSE TRIM(`where_3`, ' \t\n\r\v\f')
        END IS NULL
    ) AS r
  ) AS r
) AS r
GROUP BY
  `arm`,
  `mediator_0`,
  `mediator_1`,
  `unread_mediator_1`,
  `unread_outcome`
LIMIT 1000001
