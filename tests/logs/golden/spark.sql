SELECT
  `arm` AS `arm`,
  `mediator_0` AS `mediator_0`,
  `mediator_1` AS `mediator_1`,
  `unread_mediator_1` AS `unread_mediator_1`,
  `unread_outcome` AS `unread_outcome`,
  COUNT(*) AS `pulls`,
  COUNT(`outcome`) AS `observed`,
  SUM((
    `outcome` - CAST('120.5' AS DOUBLE)
  )) AS `sum`,
  SUM(
    (
      (
        `outcome` - CAST('120.5' AS DOUBLE)
      )
    ) * (
      (
        `outcome` - CAST('120.5' AS DOUBLE)
      )
    )
  ) AS `squares`,
  SUM(
    (
      (
        (
          `outcome` - CAST('120.5' AS DOUBLE)
        )
      ) * (
        (
          `outcome` - CAST('120.5' AS DOUBLE)
        )
      )
    ) * (
      (
        `outcome` - CAST('120.5' AS DOUBLE)
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
      THEN CAST(NULL AS BIGINT)
      WHEN `number_mediator_1` <= CAST('2.5' AS DOUBLE)
      THEN 0
      WHEN `number_mediator_1` <= CAST('7.25' AS DOUBLE)
      THEN 1
      ELSE 2
    END AS `mediator_1`,
    `number_mediator_1` AS `number_mediator_1`,
    CASE WHEN NOT `number_mediator_1` IS NULL THEN NULL ELSE `mediator_1` END AS `unread_mediator_1`,
    COALESCE(
      CASE
        WHEN CASE
          WHEN REPLACE(REPLACE(TRIM(' \t\n\r\013\014' FROM `outcome`), '$', ''), ',', '') RLIKE '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?\\z'
          THEN CAST(REPLACE(REPLACE(TRIM(' \t\n\r\013\014' FROM `outcome`), '$', ''), ',', '') AS DOUBLE)
        END IN (CAST('-99.0' AS DOUBLE))
        THEN CAST(CASE
          WHEN REPLACE(REPLACE(TRIM(' \t\n\r\013\014' FROM `outcome`), '$', ''), ',', '') RLIKE '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?\\z'
          THEN CAST(REPLACE(REPLACE(TRIM(' \t\n\r\013\014' FROM `outcome`), '$', ''), ',', '') AS DOUBLE)
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
        WHEN TRIM(' \t\n\r\013\014' FROM `outcome`) IN ('-99', '#N/A')
        OR CASE
          WHEN REPLACE(REPLACE(TRIM(' \t\n\r\013\014' FROM `outcome`), '$', ''), ',', '') RLIKE '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?\\z'
          THEN CAST(REPLACE(REPLACE(TRIM(' \t\n\r\013\014' FROM `outcome`), '$', ''), ',', '') AS DOUBLE)
        END IN (CAST('-99.0' AS DOUBLE))
        THEN NULL
        ELSE CASE
          WHEN REPLACE(REPLACE(TRIM(' \t\n\r\013\014' FROM `outcome`), '$', ''), ',', '') RLIKE '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?\\z'
          THEN CAST(REPLACE(REPLACE(TRIM(' \t\n\r\013\014' FROM `outcome`), '$', ''), ',', '') AS DOUBLE)
        END
      END AS `number_outcome`,
      CASE
        WHEN CASE
          WHEN TRIM(' \t\n\r\013\014' FROM `mediator_1`) RLIKE '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?\\z'
          THEN CAST(TRIM(' \t\n\r\013\014' FROM `mediator_1`) AS DOUBLE)
        END IN (CAST('-99.0' AS DOUBLE))
        THEN NULL
        ELSE CASE
          WHEN TRIM(' \t\n\r\013\014' FROM `mediator_1`) RLIKE '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?\\z'
          THEN CAST(TRIM(' \t\n\r\013\014' FROM `mediator_1`) AS DOUBLE)
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
          WHEN TRIM(' \t\n\r\013\014' FROM `where_0`) IN ('-99', '#N/A')
          OR LOWER(TRIM(' \t\n\r\013\014' FROM `where_0`)) IN ('', 'na', 'n/a', '#n/a', 'nan', 'null', 'none', '-')
          OR CASE
            WHEN TRIM(' \t\n\r\013\014' FROM `where_0`) RLIKE '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?\\z'
            THEN CAST(TRIM(' \t\n\r\013\014' FROM `where_0`) AS DOUBLE)
          END IN (CAST('-99.0' AS DOUBLE))
          THEN NULL
          ELSE TRIM(' \t\n\r\013\014' FROM `where_0`)
        END IN ('DE', 'AT')
        AND CASE
          WHEN CAST(`where_1` AS DOUBLE) = CAST('NaN' AS DOUBLE)
          OR CAST(`where_1` AS DOUBLE) IN (CAST('-99.0' AS DOUBLE))
          THEN NULL
          ELSE CAST(`where_1` AS DOUBLE)
        END >= CAST('18.0' AS DOUBLE)
        AND NOT CASE
          WHEN TRIM(' \t\n\r\013\014' FROM `where_2`) IN ('-99', '#N/A')
          OR LOWER(TRIM(' \t\n\r\013\014' FROM `where_2`)) IN ('', 'na', 'n/a', '#n/a', 'nan', 'null', 'none', '-')
          OR CASE
            WHEN TRIM(' \t\n\r\013\014' FROM `where_2`) RLIKE '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?\\z'
            THEN CAST(TRIM(' \t\n\r\013\014' FROM `where_2`) AS DOUBLE)
          END IN (CAST('-99.0' AS DOUBLE))
          THEN NULL
          ELSE TRIM(' \t\n\r\013\014' FROM `where_2`)
        END RLIKE '(?s)^test.*\\z'
        AND NOT CASE
          WHEN TRIM(' \t\n\r\013\014' FROM `where_3`) IN ('-99', '#N/A')
          OR LOWER(TRIM(' \t\n\r\013\014' FROM `where_3`)) IN ('', 'na', 'n/a', '#n/a', 'nan', 'null', 'none', '-')
          OR CASE
            WHEN TRIM(' \t\n\r\013\014' FROM `where_3`) RLIKE '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?\\z'
            THEN CAST(TRIM(' \t\n\r\013\014' FROM `where_3`) AS DOUBLE)
          END IN (CAST('-99.0' AS DOUBLE))
          THEN NULL
          ELSE TRIM(' \t\n\r\013\014' FROM `where_3`)
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
