# Everything that is done to this checkout is a target here; continuous integration calls nothing
# else. Each target sets up what it needs first (tools/setup.sh says what, and installs it).

BIN := .venv/bin
PYTEST_ARGS ?=
# Tests run side by side, the files of one process in the order of tests/conftest.py. More than four
# would boot more guests at once than many machines have memory for. JOBS=0 is one after the other.
JOBS ?= auto
SIDE_BY_SIDE = -n $(JOBS) --maxprocesses=4 --dist=loadfile --no-loadscope-reorder

.DEFAULT_GOAL := help
.PHONY: help demo test lint bench docs package pictures clean

help: ## show this list
	@awk -F ': ## ' '/^[a-z]+: ## / { printf "  make %-7s %s\n", $$1, $$2 }' Makefile

demo: ## audit an emulated Proxmox VE cluster
	@tools/setup.sh demo
	@tools/demo.sh

test: ## run all tests, with real libvirt and QEMU guests
	@tools/setup.sh test
	$(BIN)/pytest -rs $(SIDE_BY_SIDE) $(PYTEST_ARGS)

lint: ## check style, types and generated pages
	@tools/setup.sh test
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/python tools/rule_pages.py --check
	$(BIN)/python tools/usage_page.py --check
	$(BIN)/python tools/man_page.py --check

bench: ## measure speed and memory against the targets
	@tools/setup.sh test
	PYTHONPATH=tests $(BIN)/python -m benchmarks

docs: ## write the generated pages anew
	@tools/setup.sh demo
	$(BIN)/python tools/rule_pages.py
	$(BIN)/python tools/usage_page.py
	$(BIN)/python tools/man_page.py

package: ## build the wheel, the zipapp and the Debian package into dist/
	@tools/setup.sh package
	$(BIN)/python -m tools.packages dist

pictures: ## take the pictures of the HTML report in docs/images anew
	@tools/setup.sh test
	$(BIN)/python tools/report_pictures.py

clean: ## remove everything that make has made in this checkout
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage dist build
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
