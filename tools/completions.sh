#!/bin/sh
# Write packaging/completions/ anew: what packages install for shells, from what unmask prints.

set -eu
cd "$(dirname "$0")/.."
out=${1:-packaging/completions}
mkdir -p "$out"
.venv/bin/unmask --show-completion bash >"$out/unmask"
.venv/bin/unmask --show-completion fish >"$out/unmask.fish"
.venv/bin/unmask --show-completion zsh >"$out/_unmask"
