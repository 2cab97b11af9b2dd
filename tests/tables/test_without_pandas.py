"""truant does its work where pandas cannot be imported."""

import subprocess
import sys

CODE = """
import importlib.abc, sys

class WithoutPandas(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "pandas":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, WithoutPandas())

import polars, truant
from truant.charts import estimates_chart

columns = {"arm": "mail", "mediator": "opened", "outcome": "spent"}
frame = polars.read_csv(VISITS)
for data in (VISITS, frame, frame.lazy(), frame.to_arrow(), frame.to_dict(as_series=False)):
    found = truant.analyze(data, **columns)
    assert truant.worlds.from_table(data, **columns).arm_names == ("new", "old")
found.save("table.csv"), found.save("table.parquet"), found.report("page.html")
estimates_chart(polars.from_arrow(found.table())).to_dict()
result = truant.simulate("mar", ["naive-ucb", "mcar-ucb"], horizon=50, runs=2, progress=False)
repr(result), result._repr_html_(), result.chart().to_dict(), result.save("runs.parquet")
assert truant.Simulation.load("runs.parquet").table().equals(result.table())
print(result.long().num_rows, result.arms().num_rows, truant.datasets.actg175().num_rows)
"""


def test_everything_but_pandas_itself_works(tmp_path, pytestconfig):
    code = CODE.replace("VISITS", repr(str(pytestconfig.rootpath / "examples" / "visits.csv")))
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[-1] == "2139"
