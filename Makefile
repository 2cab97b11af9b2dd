# Everything runs in VENV, made on first use and again when pyproject.toml changes.
VENV := .venv
PYTHON := $(VENV)/bin/python
READY := $(VENV)/.ready
# uv is to trust the certificates that the system trusts
export UV_SYSTEM_CERTS ?= 1
# modules are compiled to bytecode once, not in each of the many processes of the tests
export PYTHONDONTWRITEBYTECODE =

.PHONY: demo picture reproduce test test-newest check study bench clean

demo: $(READY)
	@$(VENV)/bin/truant demo --out out/demo

picture: $(READY)
	@$(VENV)/bin/python -m research.demo_picture docs/images/demo.png

# the paper's figures and claims, into out/reproduction
reproduce: $(READY)
	@$(PYTHON) -m research reproduce

# the page of an analysis is looked at in a browser; without one, that test says so and is left out
test: $(READY)
	@if ! command -v chromium >/dev/null && ! command -v chromium-browser >/dev/null && ! command -v google-chrome >/dev/null \
		&& [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "Installing chromium (once) ..."; { apt-get update -qq && apt-get install -y -qq chromium; } >/dev/null 2>&1 || true; \
	fi
	@$(PYTHON) -m pytest -n auto --maxprocesses 4

NEWEST := out/venv-newest

# with the newest release of every dependency, without the upper bounds of pyproject.toml; made anew each time, as what
# is newest changes. It prints the versions that those bounds exclude, and those that bounds of other packages hold back.
test-newest:
	@echo "Setting up $(NEWEST) (downloads 0.6 GB, installs 1.6 GB) ..."
	@mkdir -p out
	@$(call environment,$(NEWEST))
	@$(NEWEST)/bin/python -m pip install -qq --disable-pip-version-check uv
	@grep -oE '"[A-Za-z0-9._-]+(\[[^]]*\])?[^"]*(<|==|~=)[^"]*"' pyproject.toml | sed -E 's/^"([A-Za-z0-9._-]+).*/\1/' \
		| $(NEWEST)/bin/uv pip install -q -p $(NEWEST)/bin/python --overrides - -e '.[dev]'
	@$(NEWEST)/bin/python -c 'from importlib.metadata import requires, version; from packaging.requirements import Requirement; \
		lifted = [r for r in map(Requirement, requires("truant")) if version(r.name) not in r.specifier]; \
		print(*{f"Without its bound: {r.name} {version(r.name)}, not {r.specifier}" for r in lifted} or ["No bound holds back anything."], sep="\n")'
	@echo "Held back by other packages:"
	@$(NEWEST)/bin/uv pip list -q -p $(NEWEST)/bin/python --outdated --exclude pip --exclude setuptools
	@$(call install,$(NEWEST),--no-deps axe-playwright-python)
	@touch $(NEWEST)/.ready
	@$(MAKE) --no-print-directory test VENV=$(NEWEST)

check: $(READY)
	@$(PYTHON) -m ruff check .
	@$(PYTHON) -m ruff format --check .
	@$(PYTHON) -m mypy
	@$(VENV)/bin/lint-imports

# what was computed with the present code is kept in out/research: it goes on where it was stopped
study: $(READY)
	@status=0; for group in validation ablations; do $(PYTHON) -m research $$group || status=1; done; exit $$status

# other packages live in an environment of their own; gcc builds the C floor
bench: $(READY) research/speed/.venv/.ready
	@$(PYTHON) -m research speed

research/speed/.venv/.ready: Makefile
	@$(call environment,research/speed/.venv)
	@$(call install,research/speed/.venv,river mabwiser optuna)
	@touch $@

clean:
	rm -rf .venv research/speed/.venv out dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# of axe-playwright-python tests need only the script axe.min.js that it carries, not the packages that it asks for
$(READY): pyproject.toml
	@echo "Setting up $(VENV) (once: downloads 0.6 GB, installs 1.6 GB) ..."
	@$(call environment,$(VENV))
	@$(call install,$(VENV),-e '.[dev]')
	@$(call install,$(VENV),--no-deps 'axe-playwright-python>=0.1.8')
	@touch $@

# $(call environment,FOLDER): an empty one
define environment
for candidate in python3 python3.13 python3.12 python3.11 python; do \
	if $$candidate -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then exec $$candidate -m venv --clear $(1); fi; \
done; \
echo "truant needs Python 3.11 or newer, and none was found; install one and run make again." >&2; exit 1
endef

# $(call install,FOLDER,PACKAGES): uv takes seconds and pip minutes, but uv does not read pip's settings (a mirror, say)
define install
{ $(1)/bin/python -m pip install -qq --disable-pip-version-check uv && $(1)/bin/uv pip install -q -p $(1)/bin/python $(2); } 2>/dev/null || { \
	echo "uv could not install; pip does, which takes some minutes ..."; \
	$(1)/bin/python -m pip install -qq --disable-pip-version-check $(2); \
}
endef
