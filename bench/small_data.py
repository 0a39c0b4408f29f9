"""Makes the small TPC-H data of the tests and DuckDB's answers on it.

usage: small_data.py DIR [answers]

Writes DIR/TABLE.parquet for the eight tables at scale factor 0.01, as small as
zstd makes them, and for each DIR/../sql/qNN.sql the answer DIR/qNN.tsv. With
"answers", the tables stay as they are and only the answers are written. Needs
the command tpchgen-cli and the package duckdb; both are in PyPI. The data are
the same each time; the files are, as long as DuckDB's version is.

    python bench/small_data.py testdata/tpch/sf0.01

The small data of the Star Schema Benchmark are of the project's own generator; from
this seed, each query has rows:

    go run ./bench -sf 0.01 -seed 108 -out testdata/ssb/sf0.01 ssbgen
    python bench/small_data.py testdata/ssb/sf0.01 answers

An answer is what redfox run --format tsv prints, but for averages, which are
binary floats: columns separated by tabs, no header, dates as YYYY-MM-DD, rows
in the query's order. A row of nothing but null, the sum of no rows, is no row.
"""

import pathlib
import subprocess
import sys
import tempfile

import duckdb

TABLES = ["region", "nation", "supplier", "customer", "part", "partsupp", "orders", "lineitem"]


def make_tables(connection, directory):
    with tempfile.TemporaryDirectory() as made:
        subprocess.run(["tpchgen-cli", "parquet", "-s", "0.01", "--output-dir", made], check=True)
        for table in TABLES:
            connection.execute(
                f"copy (from '{made}/{table}.parquet') to '{directory}/{table}.parquet' "
                "(format parquet, compression zstd, compression_level 22)"
            )


def field(value):
    text = "" if value is None else str(value)
    for character, escape in (("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n"), ("\r", "\\r")):
        text = text.replace(character, escape)
    return text


def write_answers(connection, directory):
    for file in sorted(directory.glob("*.parquet")):
        connection.execute(f"create table {file.stem} as from '{file}'")
    for query in sorted((directory.parent / "sql").glob("q*.sql")):
        rows = connection.execute(query.read_text()).fetchall()
        lines = ["\t".join(map(field, row)) + "\n" for row in rows if any(v is not None for v in row)]
        (directory / f"{query.stem}.tsv").write_text("".join(lines))
        print(f"{query.stem}: {len(lines)} rows")


def main():
    if len(sys.argv) < 2 or sys.argv[2:] not in ([], ["answers"]):
        sys.exit(__doc__)
    directory = pathlib.Path(sys.argv[1])
    directory.mkdir(parents=True, exist_ok=True)
    connection = duckdb.connect()
    connection.execute("set threads = 1")
    if not sys.argv[2:]:
        make_tables(connection, directory)
    write_answers(connection, directory)


main()
