#!/bin/sh
# Write packaging/requirements.txt anew: every package that unmask needs, at one version, with the
# hashes of its files. The zipapp, the Debian package and the container are made of these.

set -eu
cd "$(dirname "$0")/.."
[ -x .venv/bin/uv ] || .venv/bin/python -m pip install --quiet uv==0.13.9
exec .venv/bin/uv pip compile --quiet --python-version 3.11 --python-platform linux --generate-hashes \
    --upgrade --no-annotate --custom-compile-command tools/lock.sh \
    --constraints packaging/constraints.txt --output-file packaging/requirements.txt \
    pyproject.toml
