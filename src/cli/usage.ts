/** What `spillway help` prints. docs/reference/cli.md shows the same. */

export const USAGE: string = `usage: spillway <command> [options]

  spillway sql 'SELECT ...' --backends URL,...    one query over the system tables
  spillway sql --listen HOST:PORT --backends ...  the same for psql and other clients
  spillway top --backends URL,...                 live view of what is slowed, and why
  spillway help [command]
  spillway --version

A backend is where an admin server or a key-value server listens: http://127.0.0.1:9464

Exit codes: 0 done, 1 failed, 2 wrong usage.
`;

const BACKENDS = `  --backends URL,URL,...  backends to look at; or the environment's SPILLWAY_BACKENDS
  --token-file FILE       a line TOKEN for all of them, or lines URL TOKEN; or SPILLWAY_TOKEN
  --backend-timeout-ms MS how long a backend may take to answer; 1000`;

export const SQL_USAGE: string = `usage: spillway sql 'SELECT ...' --backends URL,... [--json | --csv]
       spillway sql --listen HOST:PORT --backends URL,...

Needs the package @electric-sql/pglite.

${BACKENDS}
  --json, --csv           how one query's rows are printed; a table
  --listen HOST:PORT      serves the Postgres protocol until SIGINT or SIGTERM; port 0: one that is free
  --password-file FILE    its first line is asked of clients (SCRAM-SHA-256); or SPILLWAY_SQL_PASSWORD.
                          Needed when HOST is not a loopback address
  --max-clients N         at a time; each has its own engine of about 110 MB; 8
  --query-timeout-ms MS   after which a query is ended; 30000
`;

export const TOP_USAGE: string = `usage: spillway top --backends URL,... [options]

${BACKENDS}
  --interval SECONDS      between two looks; 1
  --sort KEY              pairs by severity, qps, table or since; severity
  --filter TEXT           only rows that hold the text
  --once                  prints one table and exits: so it does without a terminal, too

Keys: q quit, s sort, / filter, space pause, 1-6 sections, up and down scroll, h help.
`;
