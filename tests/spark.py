"""Spark for the tests: Sail, an engine without Java that is reached by Spark Connect, and Spark itself where Java is.

Sail is started once for each process of the tests, in a few seconds. Java takes longer and a gigabyte: all that is
tried on it is one test, so that one process starts it.
"""

from __future__ import annotations

import logging
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "America/New_York",  # none of ours: results must not depend on it
    "spark.driver.memory": "1g",
}


@pytest.fixture(scope="session")
def sail():
    """A session of Spark Connect."""
    os.environ["RUST_LOG"] = "off"  # else it logs to stderr
    from pysail.spark import SparkConnectServer
    from pyspark.sql import SparkSession

    server = SparkConnectServer("127.0.0.1", 0)
    server.start(background=True)
    address, port = server.listening_address
    try:
        session = SparkSession.builder.remote(f"sc://{address}:{port}").create()
    except Exception as error:
        if "unsupported PySpark version" in str(error):
            pytest.skip(f"Sail says {error}; it is tried with the release that pyproject.toml asks for.")
        raise
    session.conf.set("spark.sql.session.timeZone", SETTINGS["spark.sql.session.timeZone"])
    os.environ.pop("SPARK_CONNECT_MODE_ENABLED")  # else this process can have no other session
    yield session
    session.stop()
    server.stop()


@pytest.fixture(scope="session")
def classic_spark(tmp_path_factory):
    """A session of Spark in this process, with a Java of its own."""
    if shutil.which("java") is None:
        pytest.skip("Java is not installed; without it Spark is tested by Sail alone.")
    folder = tmp_path_factory.mktemp("spark")
    gateway, session = start(str(folder))
    yield session
    session.stop()
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait(60)  # else Java outlives the tests


def start(folder: str) -> Any:
    """The process of Java, and the session."""
    import pyspark
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"  # else it warns about the name of the machine
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)  # else each refusal is logged
    folders = {"spark.local.dir": folder, "spark.sql.warehouse.dir": f"{folder}/warehouse"}
    settings = (
        pyspark.SparkConf().setMaster("local[2]").setAppName("tests").setAll((SETTINGS | folders).items())
    )
    said = Path(folder) / "java.txt"
    with said.open("w") as output:
        try:
            # a folder that is there: another test may have left this process in one that is gone
            gateway = launch_gateway(
                settings, popen_kwargs={"stdout": output, "stderr": output, "cwd": folder}
            )
        except Exception as error:
            raise RuntimeError(f"Java does not start: {said.read_text()}") from error
    return gateway, SparkSession(pyspark.SparkContext(conf=settings, gateway=gateway))
