"""Runs SQL in DuckDB for another process, and times it.

usage: python3 duckdb_peer.py THREADS

It prints its version as a line of JSON, and then answers each line of standard input, a
JSON object, with another one:

  sql     the statement
  repeat  how often it is run after a first time; 0 runs it once
  limit   seconds after which no further repetition starts; the first three do
  rows    whether to answer with the rows

The answer has "seconds", the wall clock of each repetition, to the end of the statement
but without the making of Python values of its rows, or with repeat 0 that of the only
run, with them; "processor", the time that all threads took in these runs; "columns", names and types; "rows", lists of texts; or "error".
"""

import json
import os
import sys
import time


def main():
    # What the library prints, such as bars of progress, must not come between answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def say(what):
        print(json.dumps(what), file=answers, flush=True)

    try:
        import duckdb
    except ImportError as e:
        say({"error": str(e), "missing": True})
        return
    connection = duckdb.connect()
    connection.execute(f"set threads = {int(sys.argv[1])}")
    connection.execute("set enable_progress_bar = false")
    say({"version": duckdb.__version__})
    for line in sys.stdin:
        try:
            answer = ask(connection, json.loads(line))
        except duckdb.Error as e:
            answer = {"error": str(e)}
        say(answer)


def ask(connection, request):
    out = {"seconds": []}
    start, used = time.perf_counter(), time.process_time()
    result = connection.execute(request["sql"])
    rows = result.fetchall() if request.get("rows") else []
    first = time.perf_counter() - start
    if request.get("rows"):
        out["columns"] = [[d[0], str(d[1])] for d in result.description]
        if any(c[1] == "NUMBER" for c in out["columns"]):  # older versions do not tell floats apart
            relation = connection.sql(request["sql"])
            out["columns"] = [[n, str(t)] for n, t in zip(relation.columns, relation.types)]
        out["rows"] = [["NULL" if v is None else str(v) for v in row] for row in rows]
    if request.get("repeat", 0) > 0:
        used = time.process_time()
    for i in range(request.get("repeat", 0)):
        if i >= 3 and sum(out["seconds"]) > request.get("limit", 1e9):
            break
        start = time.perf_counter()
        run(connection, request["sql"])
        out["seconds"].append(time.perf_counter() - start)
    return {**out, "seconds": out["seconds"] or [first], "processor": time.process_time() - used}


def run(connection, sql):
    """Runs a query to its end. execute alone may return with the first rows."""
    if hasattr(connection, "complete"):
        connection.execute(sql)
        connection.complete()
    else:
        connection.sql(sql).execute()


main()
