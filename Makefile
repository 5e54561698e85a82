.PHONY: lint test
lint:
	.venv/bin/ruff check . && .venv/bin/ruff format --check . && .venv/bin/mypy
test:
	.venv/bin/pytest
