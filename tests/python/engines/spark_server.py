"""Spark for tests: Sail, an engine that speaks Spark Connect, or a standalone cluster of Spark, as processes of this machine."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ..ports import HOST, free_port
from .parity import save_schema, take_steps
from .processes import Processes

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Mapping, Sequence

    import duckdb

    from .parity import Read

STEPS: Final = Path(__file__).with_name("spark_tables.py")


@dataclass(frozen=True, slots=True)
class Spark:
    """A server of Spark Connect that answers, and the Python that has its client."""

    name: str
    python: str
    port: int
    session: str

    def new(self) -> Spark:
        """Give the same server with a session of its own: Sail's tables live and die with it."""
        return Spark(self.name, self.python, self.port, str(uuid.uuid4()))

    def environment(self, schema: str) -> dict[str, str]:
        """Give the variables that the targets of profiles.yml and Spark's client read."""
        return {
            "SPARK_REMOTE": f"sc://{HOST}:{self.port}/;session_id={self.session}",
            "PASSK_SPARK_SCHEMA": schema,
        }

    def take(self, *steps: Sequence[str]) -> list[list[list[Any]]]:
        """Take the steps of spark_tables.py, and give what was asked for."""
        said = take_steps(self.python, STEPS, steps, Path.cwd(), self.environment(""))
        answers: list[list[list[Any]]] = json.loads(said.splitlines()[-1])
        return answers

    def copy_schema(self, database: Path, schema: str, to: str, work: Path) -> None:
        """Fill the tables of a schema from those of DuckDB's, by way of Parquet."""
        files = save_schema(database, schema, work)
        made = [["make", f"{to}.{table}", str(path)] for table, path in files.items()]
        self.take(["ask", f"create schema if not exists {to}"], *made)

    def reader(self, schema: str, tables: Sequence[str], work: Path) -> Read:
        """Read tables, by way of Parquet: all of them at once, because a client takes seconds to start."""
        folder = Path(tempfile.mkdtemp(dir=work))
        self.take(
            *(["save", f"{schema}.{table}", str(folder / f"{table}.parquet")] for table in tables)
        )

        def read(
            connection: duckdb.DuckDBPyConnection, table: str, columns: Mapping[str, str]
        ) -> None:
            listed = ", ".join(
                f'make_timestamp("{name}") as "{name}"' if kind == "TIMESTAMP" else f'"{name}"'
                for name, kind in columns.items()
            )
            path = folder / f"{table}.parquet"
            connection.execute(f"create table there as select {listed} from read_parquet('{path}')")

        return read


class Sail(Processes):
    """Sail on a free port."""

    def __init__(self, sail: str, python: str) -> None:
        super().__init__()
        port = free_port()
        self.start("sail", [sail, "spark", "server", "--port", str(port)], {})
        self.wait_for("sail", port)
        self.spark = Spark("Sail", python, port, str(uuid.uuid4()))


class Cluster(Processes):
    """A master, two workers and a Spark Connect server, whose tables lie in a folder of this machine."""

    def __init__(self, home: str, python: str, memory: str = "1g", partitions: int = 4) -> None:
        super().__init__()
        self._home, self._memory = home, memory
        self.port, web = free_port(), free_port()
        self._start(
            "master", "org.apache.spark.deploy.master.Master",
            "--host", HOST, "--port", str(self.port), "--webui-port", str(web),
        )  # fmt: skip
        self.wait_for("master", self.port)
        self.workers = [self.start_worker(f"worker-{i}") for i in range(2)]
        connect = free_port()
        options = {
            "spark.connect.grpc.binding.port": connect,
            "spark.connect.grpc.binding.address": HOST,
            "spark.driver.host": HOST,
            "spark.driver.bindAddress": HOST,
            "spark.executor.memory": memory,
            "spark.executor.cores": 1,
            "spark.sql.shuffle.partitions": partitions,
            "spark.sql.warehouse.dir": f"file:{self.folder}/warehouse",
            "spark.sql.catalogImplementation": "in-memory",
            "spark.sql.session.timeZone": "UTC",
            "spark.ui.enabled": "false",
            "spark.local.dir": self.folder,
        }
        words = [
            f"{home}/bin/spark-submit",
            "--master",
            f"spark://{HOST}:{self.port}",
            "--driver-memory",
            memory,
        ]
        for name, value in options.items():
            words += ["--conf", f"{name}={value}"]
        words += ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal"]  # fmt: skip
        self.start("connect", words, self._environment)
        self.wait_for("connect", connect)
        self.spark = Spark("Spark", python, connect, str(uuid.uuid4()))

    @property
    def _environment(self) -> dict[str, str]:
        return {"SPARK_HOME": self._home, "SPARK_LOCAL_IP": HOST, "SPARK_NO_DAEMONIZE": "1"}

    def _start(self, name: str, main: str, *words: str) -> subprocess.Popen[bytes]:
        return self.start(name, [f"{self._home}/bin/spark-class", main, *words], self._environment)

    def start_worker(self, name: str) -> subprocess.Popen[bytes]:
        """Start a worker of one core."""
        return self._start(
            name, "org.apache.spark.deploy.worker.Worker", "--host", HOST, "--cores", "1", "--memory", self._memory,
            "--webui-port", str(free_port()), "--work-dir", str(self.folder / name), f"spark://{HOST}:{self.port}",
        )  # fmt: skip


def spark_home() -> str | None:
    """Give the folder of Spark that PASSK_SPARK_HOME names: a distribution, or pyspark's package."""
    home = os.environ.get("PASSK_SPARK_HOME")
    return (
        home
        if home and Path(home, "bin", "spark-class").is_file() and shutil.which("java")
        else None
    )
