"""Runs one workload in DuckDB and prints a JSON object with its times.

usage: duckdb_peer.py WORKLOAD THREADS REPEAT ARG...

  tc GRAPH.tsv.gz     transitive closure by a recursive CTE
  triangles GRAPH.tsv.gz  count of x->y, y->z, x->z
  q1 | q3 | q6 DIR    TPC-H over DIR/*.parquet, loaded into tables first
  tpch-load DIR       reads the columns that Q1 needs into a table
  tsv-load FILE       reads a file of two integer columns into a table

Times are seconds of wall clock: "load" for bringing the data into memory,
"run" for each repetition of the query on loaded data. "rows" is the answer as
a list of lists of strings.
"""

import json
import sys
import time

import duckdb

TPCH = {
    "q1": (
        ["lineitem"],
        """select l_returnflag, l_linestatus, sum(l_quantity), sum(l_extendedprice),
             sum(l_extendedprice * (1 - l_discount)),
             sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)),
             avg(l_quantity), avg(l_extendedprice), avg(l_discount), count(*)
           from lineitem where l_shipdate <= date '1998-09-02'
           group by all order by all""",
    ),
    "q3": (
        ["lineitem", "orders", "customer"],
        """select l_orderkey, sum(l_extendedprice * (1 - l_discount)) as revenue,
             o_orderdate, o_shippriority
           from customer, orders, lineitem
           where c_mktsegment = 'BUILDING' and c_custkey = o_custkey
             and l_orderkey = o_orderkey
             and o_orderdate < date '1995-03-15' and l_shipdate > date '1995-03-15'
           group by l_orderkey, o_orderdate, o_shippriority
           order by revenue desc, o_orderdate, l_orderkey limit 10""",
    ),
    "q6": (
        ["lineitem"],
        """select sum(l_extendedprice * l_discount) from lineitem
           where l_shipdate >= date '1994-01-01' and l_shipdate < date '1995-01-01'
             and l_discount between 0.05 and 0.07 and l_quantity < 24""",
    ),
}

Q1_COLUMNS = """l_orderkey, l_linenumber, l_quantity, l_extendedprice, l_discount,
  l_tax, l_returnflag, l_linestatus, l_shipdate"""

TC = """with recursive tc(x, y) as (
          select x, y from edge
          union
          select tc.x, edge.y from tc join edge on tc.y = edge.x)
        select count(*) from tc"""


TRIANGLES = """select count(*) from edge a, edge b, edge c
               where a.y = b.x and a.x = c.x and b.y = c.y"""


def timed(connection, sql):
    start = time.perf_counter()
    rows = connection.execute(sql).fetchall()
    return time.perf_counter() - start, [[str(v) for v in row] for row in rows]


def main():
    workload, threads, repeat, args = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
    connection = duckdb.connect()
    connection.execute(f"set threads = {threads}")
    out = {"version": duckdb.__version__, "run": [], "rows": []}

    if workload in ("tc", "triangles"):
        load = [f"""create table edge as select distinct column0 as x, column1 as y
                    from read_csv('{args[0]}', delim='\t', header=false,
                                  columns={{'column0': 'INT', 'column1': 'INT'}})"""]
        query = TC if workload == "tc" else TRIANGLES
    elif workload in TPCH:
        tables, query = TPCH[workload]
        load = [f"create table {t} as from '{args[0]}/{t}.parquet'" for t in tables]
    elif workload == "tpch-load":
        load, query = [], f"create or replace table t as select {Q1_COLUMNS} from '{args[0]}/lineitem.parquet'"
    elif workload == "tsv-load":
        load, query = [], f"""create or replace table t as from read_csv('{args[0]}', delim='\t',
            header=false, columns={{'x': 'BIGINT', 'y': 'BIGINT'}})"""
    else:
        sys.exit(f"duckdb_peer.py: no workload {workload!r}")

    start = time.perf_counter()
    for statement in load:
        connection.execute(statement)
    out["load"] = time.perf_counter() - start
    for _ in range(repeat):
        seconds, rows = timed(connection, query)
        out["run"].append(seconds)
        out["rows"] = rows
    json.dump(out, sys.stdout)


main()
