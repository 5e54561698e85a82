#!/bin/sh
# Show unmask at work: start an emulated Proxmox VE cluster, audit it through its API, end it.

set -eu
cd "$(dirname "$0")/.."
unmask=.venv/bin/unmask
place=$(mktemp -d)

# The lab is $!, which the shell sets as it forks: a variable of our own would still be empty if
# Ctrl-C came between the two. Twice, because a child just forked may lose the first signal.
# Not INT, which a shell lets its background processes ignore until they ask for it.
end() {
    if [ -n "${!-}" ]; then
        kill -TERM "$!" 2>/dev/null || true
        sleep 0.1
        kill -TERM "$!" 2>/dev/null || true
        wait "$!" 2>/dev/null || true
    fi
    rm -rf "$place"
}
trap end EXIT
trap 'exit 130' INT TERM

echo 'demo: starting an emulated Proxmox VE cluster (unmask lab)' >&2
"$unmask" lab --port 0 --for 300 --ready-file "$place/ready.json" >"$place/lab.log" 2>&1 &
while ! [ -s "$place/ready.json" ]; do
    if ! kill -0 "$!" 2>/dev/null; then
        cat "$place/lab.log" >&2
        exit 3
    fi
    sleep 0.1
done
config=$(.venv/bin/python -c 'import json, sys; print(json.load(open(sys.argv[1]))["config"])' \
    "$place/ready.json")

echo 'demo: unmask audit inside (the cluster, and what is encrypted in its guests)' >&2
"$unmask" audit --config "$config" --fail-on never inside
cat <<'TEXT'

In short: the encrypted ZFS of 101 truenas keeps 0.6 % of its speed, for its CPU type hides what
its host has. What to do about it, and about the others, stands above under "What to do".

That was an emulated cluster, and it is gone again. To go on:
  .venv/bin/unmask lab                      the same cluster, for you to try everything on
  .venv/bin/unmask explain CRY001           what a finding means and what to do
  .venv/bin/unmask audit examples/homelab --output report.html      a page for your browser
  .venv/bin/unmask audit pve://YOUR-NODE    your own (docs/proxmox.md: how to make a token)
  .venv/bin/unmask audit pve+ssh://YOUR-NODE, qemu:///system, a copy of /etc/pve
TEXT
