# Everything runs in .venv, made on first use and again when pyproject.toml changes.
PYTHON := .venv/bin/python
READY := .venv/.ready

.PHONY: demo picture test check study bench clean

demo: $(READY)
	@.venv/bin/truant demo --out out/demo

# the README's picture is one of the demo's files
picture: demo
	@cp out/demo/picture.png docs/images/demo.png

# the page of an analysis is looked at in a browser; without one, that test says so and is left out
test: $(READY)
	@if ! command -v chromium >/dev/null && ! command -v chromium-browser >/dev/null && ! command -v google-chrome >/dev/null \
		&& [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "Installing chromium (once) ..."; { apt-get update -qq && apt-get install -y -qq chromium; } >/dev/null 2>&1 || true; \
	fi
	@$(PYTHON) -m pytest -n auto --maxprocesses 4

check: $(READY)
	@$(PYTHON) -m ruff check .
	@$(PYTHON) -m ruff format --check .
	@$(PYTHON) -m mypy
	@.venv/bin/lint-imports

# what was computed with the present code is kept in out/research: it goes on where it was stopped
study: $(READY)
	@status=0; for group in validation ablations; do $(PYTHON) -m research $$group || status=1; done; exit $$status

# other packages live in an environment of their own; gcc builds the C floor
bench: $(READY) research/speed/.venv/.ready
	@$(PYTHON) -m research speed

research/speed/.venv/.ready: Makefile
	@$(PYTHON) -m venv --clear research/speed/.venv
	@research/speed/.venv/bin/python -m pip install -qq --disable-pip-version-check river mabwiser optuna
	@touch research/speed/.venv/.ready

clean:
	rm -rf .venv research/speed/.venv out dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): pyproject.toml
	@echo "Setting up .venv (once: downloads and installs 1.7 GB, some minutes) ..."
	@found=; for candidate in python3 python3.13 python3.12 python3.11 python; do \
		if $$candidate -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then found=$$candidate; break; fi; \
	done; \
	if [ -z "$$found" ]; then echo "truant needs Python 3.11 or newer, and none was found; install one and run make again." >&2; exit 1; fi; \
	$$found -m venv --clear .venv
	@$(PYTHON) -m pip install -qq --disable-pip-version-check -e '.[all,dev]'
	@touch $(READY)
