"""Sweeps that are killed: half-written files are noticed."""

import pyarrow as pa
import pyarrow.parquet as pq
from research.validation import killed_sweep


def test_a_half_written_file_is_not_readable(tmp_path):
    path = tmp_path / "part.parquet"
    pq.write_table(pa.table({"regret": range(100)}, metadata={"key": "part"}), path)
    assert killed_sweep.readable(path)
    assert not killed_sweep.readable(path.rename(tmp_path / "another.parquet"))
    path = (tmp_path / "another.parquet").rename(path)
    path.write_bytes(path.read_bytes()[:-10])
    assert not killed_sweep.readable(path)


def test_the_study_has_the_parts_that_its_fingerprint_is_of():
    text = killed_sweep.TEXT.format(runs=1, steps=2)
    assert f'name = "{killed_sweep.WORLD}"' in text
    assert all(f'"{policy}"' in text for policy in killed_sweep.POLICIES)
