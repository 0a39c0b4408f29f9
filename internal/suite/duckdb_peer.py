"""Runs SQL in DuckDB for another process, and times it.

usage: python3 duckdb_peer.py THREADS

It prints its version as a line of JSON, and then answers each line of standard input, a
JSON object, with another one:

  sql     the statement
  repeat  how often it is run after a first time that is not reported; 0 runs it once,
          which is reported
  limit   seconds after which no further repetition starts; the first three do
  rows    whether to answer with the rows

The answer has "seconds", the wall clock of each run, without the making of Python values
of the rows; "columns", names and types; "rows", lists of texts; or "error".
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
    sql, repeat = request["sql"], request.get("repeat", 0)
    out = {"seconds": []}
    for i in range(repeat + 1):
        if i > 3 and sum(out["seconds"]) > request.get("limit", 1e9):
            break
        start = time.perf_counter()
        result = connection.execute(sql)
        elapsed = time.perf_counter() - start
        if i > 0 or repeat == 0:
            out["seconds"].append(elapsed)
    if request.get("rows"):
        out["columns"] = [[d[0], str(d[1])] for d in result.description]
        out["rows"] = [["NULL" if v is None else str(v) for v in row] for row in result.fetchall()]
    return out


main()
