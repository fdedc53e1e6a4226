/** The SQL that makes the system tables and takes all power from who asks. Run once in each engine, by its superuser. */
import type { Column, SystemTable } from './system-tables.js';

/** Who clients are. */
export const READER = 'spillway_reader';

/** Beneath the data directory: the only place that `pg_read_file` shows to who is no superuser. */
export const ROWS_DIRECTORY = 'spillway';

export function rowsFile(table: SystemTable): string {
  return `${ROWS_DIRECTORY}/${table.name}.json`;
}

/**
 * Each table is a view of a file of the engine's own file system, which is written before a query. So a refresh runs no
 * SQL in a client's session: it works whatever the session has set, and also after an error.
 */
export function createSystemTables(tables: readonly SystemTable[]): string {
  return [
    `CREATE ROLE ${READER} LOGIN`,
    'REVOKE ALL ON DATABASE postgres FROM PUBLIC',
    'REVOKE ALL ON SCHEMA public FROM PUBLIC',
    'CREATE SCHEMA spillway',
    'CREATE SCHEMA spillway_source',
    'GRANT USAGE ON SCHEMA public, spillway, spillway_source TO PUBLIC',
    ...tables.flatMap((table) => {
      const columns = table.columns.map(definition).join(', ');
      // What a function returns has forgotten the length of a VARCHAR.
      const casts = table.columns.map(cast).join(', ');
      const source = `spillway_source.${table.name}()`;
      return [
        `CREATE FUNCTION ${source} RETURNS TABLE (${columns}) LANGUAGE sql STABLE SECURITY DEFINER
         SET search_path = pg_catalog ROWS 1000
         AS $$ SELECT * FROM json_to_recordset(pg_read_file('${rowsFile(table)}')::json) AS row (${columns}) $$`,
        ...['information_schema', 'spillway'].flatMap((schema) => [
          `CREATE VIEW ${schema}.${table.name} AS SELECT ${casts} FROM ${source}`,
          `GRANT SELECT ON ${schema}.${table.name} TO PUBLIC`,
        ]),
      ];
    }),
    // Rights are given to PUBLIC and not to the reader, who could drop its own. Large objects need no schema to be made in.
    ...LARGE_OBJECT_WRITERS.map((name) => `REVOKE EXECUTE ON FUNCTION ${name} FROM PUBLIC`),
  ].join(';\n');
}

/**
 * From here on the engine has no superuser. The role that it logged in as is deleted, so that no `SET SESSION
 * AUTHORIZATION` leads back to it: Postgres asks the catalog, at each of them, whether that role may. What it owns stays
 * its own, and it may still read its own files, which is what the functions above need.
 */
export function giveUpPower(): string {
  return `CREATE FUNCTION public.give_up() RETURNS void LANGUAGE sql SECURITY DEFINER AS $$
      DELETE FROM pg_proc WHERE proname = 'give_up';
      DELETE FROM pg_authid WHERE oid = 10
    $$;
    SET SESSION AUTHORIZATION ${READER};
    SELECT public.give_up()`;
}

const LARGE_OBJECT_WRITERS = [
  'lo_creat(integer)',
  'lo_create(oid)',
  'lo_from_bytea(oid, bytea)',
  'lo_open(oid, integer)',
  'lo_put(oid, bigint, bytea)',
  'lo_truncate(integer, integer)',
  'lo_truncate64(integer, bigint)',
  'lo_unlink(oid)',
  'lowrite(integer, bytea)',
] as const;

function definition({ name, type }: Column): string {
  return `"${name.toLowerCase()}" ${type}`;
}

function cast({ name, type }: Column): string {
  const column = name.toLowerCase();
  return `${column}::${type} AS ${column}`;
}

/** What the files hold: rows as objects, by column. */
export function rowsJson(table: SystemTable, readings: Parameters<SystemTable['rows']>[0]): string {
  const names = table.columns.map(({ name }) => name.toLowerCase());
  return JSON.stringify(
    table.rows(readings).map((row) => Object.fromEntries(names.map((name, i) => [name, row[i]]))),
  );
}
