"""The shell functions that probes' commands may use, and those that keep a command in bounds."""

from __future__ import annotations

LIBRARY = r"""
part() {
    printf '\n%s .%s\n' "$UNMASK_MARK" "$1"
}
has() {
    command -v "$1" >/dev/null 2>&1
}
take() {
    $UNMASK_HEAD"$1"
}
show() {
    for unmask_file; do
        if [ ! -f "$unmask_file" ]; then
            continue
        fi
        if [ -r "$unmask_file" ]; then
            part "/$unmask_file"
            take "${UNMASK_TAKE:-16384}" <"$unmask_file"
        else
            part "!/$unmask_file"
        fi
    done
}
pick() {
    unmask_pattern=$1
    shift
    for unmask_file; do
        if [ ! -f "$unmask_file" ]; then
            continue
        fi
        if [ -r "$unmask_file" ]; then
            part "/$unmask_file"
            take 1048576 <"$unmask_file" | grep -E -i -e "$unmask_pattern" | take 8192
        else
            part "!/$unmask_file"
        fi
    done
}
found() {
    for unmask_file; do
        if [ -e "$unmask_file" ]; then
            printf '/%s\n' "$unmask_file"
        fi
    done
}
signatures() {
    case $(blkid --help 2>&1) in
        *BusyBox*) blkid ;;
        *) blkid -c /dev/null ;;
    esac
}
packages() {
    if has dpkg-query; then
        dpkg-query -W -f '${db:Status-Abbrev} ${Package} ${Version}\n' "$@" | sed -n 's/^ii *//p'
    elif has rpm; then
        rpm -q --qf '%{NAME} %{VERSION}\n' "$@" | grep -v -e ' is not ' -e ' no '
    elif has apk; then
        for unmask_name; do
            sed -n "/^P:$unmask_name\$/,/^V:/s/^V:/$unmask_name /p" \
                lib/apk/db/installed
        done
    elif [ -f usr/lib/opkg/status ]; then
        for unmask_name; do
            sed -n "/^Package: $unmask_name\$/,/^Version:/s/^Version:/$unmask_name/p" \
                usr/lib/opkg/status
        done
    elif has pkg && pkg -N >/dev/null; then
        pkg query '%n %v' "$@"
    elif has pacman; then
        pacman -Q "$@"
    fi
}
hide() {
    sed -e 's/0x[0-9A-Fa-f]\{16,\}/0x/g' -e 's/[0-9A-Fa-f]\{32,\}/(hidden)/g' \
        -e 's/[A-Za-z0-9+/]\{43\}=/(hidden)/g'
}
"""
"""Commands start in the root directory and name files below it: "etc/fstab".

`part NAME` begins a part. `show FILE...` prints files as parts ("/etc/fstab"), `pick PATTERN
FILE...` only the lines that match, so that a secret beside them never leaves the guest. A file that
the user may not read becomes the part "!/etc/fstab", and what is no regular file is passed over, so
that a pipe or device in its place cannot stall. `found PATH...` prints those paths that are there.
`packages NAME...` prints name and version of those that are installed. `signatures` prints what
blkid finds, without the cache that it would write; BusyBox's has none, and takes options for
devices. `take BYTES` cuts its input, and `hide` blanks what looks like a key."""

RUNNER = """\
trap 'unmask_late=late' TERM
exec 4>&1
unmask_code=$(
    trap : TERM
    {
        {
            cd "$UNMASK_ROOT/"
            sh -c "$UNMASK_LIBRARY$2" sh </dev/null 2>/dev/null 3>&- 4>&-
            echo "$?" >&3
        } | {
            trap '' TERM
            exec $UNMASK_HEAD"$1"
        } >&4 3>&-
    } 3>&1
)
printf '\\n%s = %s\\n' "$UNMASK_MARK" "${unmask_late:-$unmask_code}"
"""
"""Runs one command: $1 bytes at most, $2 the command. At SIGTERM the command dies and what it has
printed still comes out, because the one who counts the bytes ignores it."""

GUARD = """\
victims() {
    if [ "$UNMASK_SESSION" ]; then
        echo "-$1"
    else
        ps -A -o pid= -o ppid= | awk -v top="$1" '
            { parent[$1] = $2 }
            END {
                chosen[top] = 1
                for (more = 1; more;) {
                    more = 0
                    for (pid in parent)
                        if (!(pid in chosen) && (parent[pid] in chosen)) {
                            chosen[pid] = 1
                            more = 1
                        }
                }
                for (pid in chosen) print pid
            }'
    fi
}
guard() {
    trap 'kill "$unmask_sleep"; wait "$unmask_sleep"; exit' TERM
    sleep "$2" &
    unmask_sleep=$!
    wait "$unmask_sleep"
    kill -TERM $(victims "$1")
    sleep 1 &
    unmask_sleep=$!
    wait "$unmask_sleep"
    kill -KILL $(victims "$1")
}
"""
"""Ends the job $1 and all that it has started after $2 seconds: politely, then by force. At SIGTERM
it leaves nothing behind."""
