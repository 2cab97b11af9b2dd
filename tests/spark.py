"""Spark for the tests: Sail, an engine without Java that is reached by Spark Connect, and Spark itself where Java is.

Sail is started once for each process of the tests, in a few seconds. Java takes longer and a gigabyte: all that is
tried on it is one test, so that one process starts it.
"""

from __future__ import annotations

import logging
import os
import shutil
import struct
import subprocess
import time
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
    java, gateway, session = start(folder)
    yield session
    session.stop()
    gateway.shutdown()
    java.stdin.close()
    java.wait(60)  # else Java outlives the tests


def start(folder: Path) -> Any:
    """The process of Java, the connection to it, and the session."""
    import pyspark
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"  # else it warns about the name of the machine
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)  # else each refusal is logged
    folders = {"spark.local.dir": str(folder), "spark.sql.warehouse.dir": f"{folder}/warehouse"}
    settings = (
        pyspark.SparkConf().setMaster("local[2]").setAppName("tests").setAll((SETTINGS | folders).items())
    )
    java, port, secret = start_java(settings, folder)
    # what makes PySpark connect to a Java that runs, instead of starting one
    os.environ |= {"PYSPARK_GATEWAY_PORT": str(port), "PYSPARK_GATEWAY_SECRET": secret}
    gateway = launch_gateway()
    for name in ("PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET"):
        os.environ.pop(name)
    return java, gateway, SparkSession(pyspark.SparkContext(conf=settings, gateway=gateway))


def start_java(settings: Any, folder: Path) -> tuple[subprocess.Popen[bytes], int, str]:
    """The process, its port and its secret.

    PySpark would start it by a fork that runs Python (`preexec_fn`). Where this process has spoken to Sail before,
    threads of gRPC run in it, whose handlers of a fork can end the child before it becomes Java. Without a `preexec_fn`
    Popen uses vfork, which calls no handlers; a session of its own keeps Ctrl-C away from Java.
    """
    import pyspark

    command = [Path(pyspark.__file__).parent / "bin" / "spark-submit"]
    for key, value in settings.getAll():
        command += ["--conf", f"{key}={value}"]
    connection, output = folder / "connection", folder / "java.txt"
    environment = os.environ | {"SPARK_CONNECT_MODE": "0", "_PYSPARK_DRIVER_CONN_INFO_PATH": str(connection)}
    with output.open("w") as file:
        java = subprocess.Popen(
            [*command, "pyspark-shell"],
            stdin=subprocess.PIPE,  # Java ends when it is closed
            stdout=file,
            stderr=file,
            env=environment,
            cwd=folder,  # a folder that is there: another test may have left this process in one that is gone
            start_new_session=True,
        )
    while not connection.exists():  # Spark renames the file to this when it is written
        if java.poll() is not None:
            raise RuntimeError(f"Java does not start: {output.read_text()}")
        time.sleep(0.1)
    port, length = struct.unpack(">ii", connection.read_bytes()[:8])
    return java, port, connection.read_bytes()[8 : 8 + length].decode()
