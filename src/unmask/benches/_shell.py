"""The shell of the program that measures; `unmask.benches._script` puts it together."""

from __future__ import annotations

# ulimit cannot say "one byte", with which a kernel sends no core to programs like apport either.
HEAD = """\
exec 3<&0 2>/dev/null
LC_ALL=C
PATH=$PATH:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
UNMASK_MARK={mark}
UNMASK_SESSION=
if setsid true; then
    UNMASK_SESSION=setsid
fi
UNMASK_TOKEN={token}
UNMASK_HEAD='head -c '
if ! printf x | head -c 1 >/dev/null; then
    UNMASK_HEAD='dd bs=1 count='
fi
export LC_ALL PATH UNMASK_MARK UNMASK_SESSION UNMASK_HEAD UNMASK_TOKEN
unset ENV BASH_ENV CDPATH
umask 077
ulimit -c 0
prlimit --core=1:1 --pid "$$"
{guard}"""

WORKER = """\
trap 'exit 1' HUP INT TERM
say() {{
    printf '\\n%s %s\\n' "$UNMASK_MARK" "$*"
}}
processor() {{
    while read -r unmask_name unmask_numbers; do
        if [ "$unmask_name" = "cpu$unmask_cpu" ]; then
            say "$1" "$unmask_numbers"
            return
        fi
    done </proc/stat
}}
timer() {{
    trap 'kill "$unmask_sleep"; exit' TERM
    sleep "$1" &
    unmask_sleep=$!
    wait "$unmask_sleep"
    if read -r unmask_times <"/proc/$2/schedstat"; then
        say waited "$unmask_times" >&4
    fi
    kill -ALRM "$2"
}}
watch() {{
    unmask_timer=
    while IFS= read -r unmask_line || [ "$unmask_line" ]; do
        case $unmask_line in
            "$UNMASK_MARK pid "*)
                unmask_pid=${{unmask_line##* }}
                continue
                ;;
            +DT:*:"$2")
                timer "$1" "$unmask_pid" 4>&1 >/dev/null &
                unmask_timer=$!
                ;;
            +DT:*)
                timer "$unmask_skip" "$unmask_pid" 4>&1 >/dev/null &
                unmask_timer=$!
                ;;
        esac
        printf '%s\\n' "$unmask_line"
    done
    if [ "$unmask_timer" ]; then
        kill -TERM "$unmask_timer"
        wait "$unmask_timer"
    fi
}}
limit() {{
    trap 'kill "$unmask_sleep"; exit' TERM
    sleep "$1" >/dev/null &
    unmask_sleep=$!
    wait "$unmask_sleep"
    say late
    kill -TERM "$2"
    sleep 1 >/dev/null &
    unmask_sleep=$!
    wait "$unmask_sleep"
    kill -KILL "$2"
}}
bounded() {{
    unmask_limit=$1
    shift
    sh -c "$unmask_starter" sh "$@" 2>&1 &
    unmask_pid=$!
    limit "$unmask_limit" "$unmask_pid" &
    unmask_limiter=$!
    wait "$unmask_pid"
    unmask_code=$?
    kill -TERM "$unmask_limiter" && wait "$unmask_limiter"
    say = "$unmask_code"
}}
run() {{
    unmask_number=$1
    unmask_slice=$2
    unmask_size=$3
    shift 3
    if ! [ "$unmask_fine" ]; then
        unmask_slice=${{unmask_slice%.*}}
        if [ "$unmask_slice" = 0 ]; then
            unmask_slice=1
        fi
    fi
    processor before
    say run "$unmask_number"
    bounded "$@" | watch "$unmask_slice" "$unmask_size" | ${{UNMASK_HEAD}}{flood}
    processor after
}}
more() {{
    unmask_now=$(date +%s)
    unmask_took=$((unmask_now - unmask_round))
    unmask_round=$unmask_now
    [ "$((unmask_now - unmask_begin + unmask_took))" -le {budget} ]
}}
least_busy() {{
    {{
        while read -r unmask_name unmask_rest; do
            echo "$unmask_name $unmask_rest"
        done </proc/stat
        sleep "${{unmask_fine:-1}}"
        while read -r unmask_name unmask_rest; do
            echo "$unmask_name $unmask_rest"
        done </proc/stat
    }} | awk '
        /^cpu[0-9]/ {{
            name = substr($1, 4)
            if (name in idle) {{
                gain = $5 - idle[name]
                if (best == "" || gain > most) {{ best = name; most = gain }}
            }}
            idle[name] = $5
        }}
        END {{ print best }}'
}}
unmask_starter='printf "\\n%s pid %s\\n" "$UNMASK_MARK" "$$"; exec "$@"'
unmask_fine=
unmask_skip=1
if sleep 0.01; then
    unmask_fine=0.2
    unmask_skip={skipped}
fi
unmask_cpu=
unmask_pin=
if command -v taskset >/dev/null; then
    unmask_cpu=$(least_busy)
    unmask_pin="taskset -c $unmask_cpu"
    if ! $unmask_pin true; then
        unmask_cpu=
        unmask_pin=
    fi
fi
say pinned "$unmask_cpu"
say environment
env | grep -E '^OPENSSL_(ia32|arm)cap='
say load
cat /proc/loadavg || sysctl -n vm.loadavg
unmask_begin=$(date +%s)
unmask_round=$unmask_begin
{rounds}
{once}
say crypto
${{UNMASK_HEAD}}{crypto} </proc/crypto
say load
cat /proc/loadavg || sysctl -n vm.loadavg
{files}
"""

MAIN = """\
lifeline() {{
    while read -r unmask_word; do
        :
    done
    trap '' TERM
    kill -TERM $(victims "$1")
    sleep 1
    kill -KILL $(victims "$1")
}}
main() {{
    trap : PIPE
    trap 'kill -TERM $(victims "$unmask_job")' HUP INT TERM
    printf '\\n%s begin\\n' "$UNMASK_MARK"
    $UNMASK_SESSION sh -c "$unmask_worker" sh 3<&- &
    unmask_job=$!
    guard "$unmask_job" {total} >/dev/null 3<&- &
    unmask_guard=$!
    unmask_line=
    if [ {held} ]; then
        lifeline "$unmask_job" <&3 >/dev/null 3<&- &
        unmask_line=$!
    fi
    exec 3<&-
    while :; do
        wait "$unmask_job"
        unmask_code=$?
        if ! kill -0 "$unmask_job"; then
            break
        fi
    done
    if [ "$unmask_code" -ne 0 ]; then
        kill -KILL $(victims "$unmask_job")
    fi
    kill -TERM "$unmask_guard" && wait "$unmask_guard"
    if [ "$unmask_line" ]; then
        kill -TERM "$unmask_line" && wait "$unmask_line"
    fi
    {tidy}
    printf '\\n%s end %s\\n' "$UNMASK_MARK" "$unmask_code"
    exit
}}
main </dev/null
"""
