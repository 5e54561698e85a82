"""Users, tokens, roles and access lists: the format of user.cfg and the rules that go with it.

Sources: parse_user_config and roles() of PVE/AccessControl.pm, permissions() and
get_effective_permissions() of PVE/RPCEnvironment.pm, and recorded answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from unmask.lab.edition import Edition

ROOT = "root@pam"

BASE = ("/", "/access", "/access/groups", "/nodes", "/pool", "/sdn", "/storage", "/vms")
"""Paths that `access/permissions` always looks at."""

Grants = Mapping[str, int]
"""Privileges and their propagate flag (0 or 1) at one path."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks: a user, or a token of one."""

    user: str
    """With the realm, such as "root@pam"."""
    token: str = ""
    """The token's id; "" for a user with a ticket."""

    @property
    def name(self) -> str:
        """Return the name as UPIDs and access lists write it."""
        return f"{self.user}!{self.token}" if self.token else self.user

    @property
    def root(self) -> bool:
        """Return whether it is root itself; no token of root's is."""
        return self.user == ROOT and not self.token


@dataclass(slots=True)
class Account:
    """A user or a token."""

    enabled: bool = True
    expire: int = 0
    """Unix time; 0 for never."""
    separated: bool = False
    """A token whose privileges are also limited by its own access lists."""

    def valid(self, now: float) -> bool:
        """Return whether it may log in."""
        return self.enabled and (not self.expire or self.expire > now)


@dataclass(frozen=True, slots=True)
class Entry:
    """One access list entry: who may do what below a path."""

    path: str
    who: str
    role: str
    propagate: bool


@dataclass(slots=True)
class Accounts:
    """All that user.cfg says."""

    edition: Edition
    users: dict[str, Account] = field(default_factory=dict)
    tokens: dict[str, Account] = field(default_factory=dict)
    """By "user@realm!id"."""
    groups: dict[str, frozenset[str]] = field(default_factory=dict)
    roles: dict[str, frozenset[str]] = field(default_factory=dict)
    pools: dict[str, frozenset[int]] = field(default_factory=dict)
    entries: list[Entry] = field(default_factory=list)
    built_in: Mapping[str, frozenset[str]] = field(init=False)

    def __post_init__(self) -> None:
        self.built_in = self.edition.roles()

    def effective(self, caller: Caller, path: str) -> dict[str, int]:
        """Return the privileges of `caller` at `path`."""
        own = self._of_user(caller.user, path)
        if not caller.token or not self.tokens[caller.name].separated:
            return own
        limit = self._walk(path, {caller.name}, frozenset())
        return {name: min(own[name], flag) for name, flag in limit.items() if name in own}

    def has(self, caller: Caller, path: str, privileges: Iterable[str]) -> bool:
        """Return whether `caller` has any of `privileges` at `path`."""
        return caller.root or not frozenset(privileges).isdisjoint(self.effective(caller, path))

    def paths(self, caller: Caller) -> dict[str, Grants]:
        """Return what `caller` may do at every path of interest, without the empty ones."""
        wanted = {*BASE, *(entry.path for entry in self.entries)}
        for pool, members in self.pools.items():
            wanted |= {f"/pool/{pool}", *(f"/vms/{vmid}" for vmid in members)}
        found = {path: self.effective(caller, path) for path in sorted(wanted)}
        return {path: grants for path, grants in found.items() if grants}

    def pool_of(self, vmid: int) -> str:
        """Return the pool that a guest belongs to, "" for none."""
        return next((name for name, members in self.pools.items() if vmid in members), "")

    def _of_user(self, user: str, path: str) -> dict[str, int]:
        if user == ROOT:
            return dict.fromkeys(sorted(self.edition.privileges()), 1)
        groups = frozenset(name for name, members in self.groups.items() if user in members)
        found = self._walk(path, {user}, groups)
        if path.startswith("/vms/") and path[5:].isdigit():
            pool = self.pool_of(int(path[5:]))
            if pool:
                found = self._walk(f"/pool/{pool}", {user}, groups) | found
        return found

    def _walk(self, path: str, who: set[str], groups: frozenset[str]) -> dict[str, int]:
        """Return the privileges after walking from "/" down: the nearest entry counts."""
        found: dict[str, int] = {}
        for step in _steps(path):
            last = step == path
            own = self._at(step, who, last=last)
            if own is None:
                own = self._at(step, {f"@{group}" for group in groups}, last=last)
            found = found if own is None else own
        return found

    def _at(self, step: str, who: set[str], *, last: bool) -> dict[str, int] | None:
        """Return the privileges that the entries at one path give, None where there are none."""
        here = [
            entry
            for entry in self.entries
            if entry.path == step and entry.who in who and (entry.propagate or last)
        ]
        if not here:
            return None
        found: dict[str, int] = {}
        for entry in here:
            for name in self.role(entry.role):
                found[name] = max(found.get(name, 0), int(entry.propagate))
        return {} if any(entry.role == "NoAccess" for entry in here) else found

    def role(self, name: str) -> frozenset[str]:
        """Return the privileges of a role, the edition's own or a configured one."""
        return self.built_in.get(name, frozenset()) | self.roles.get(name, frozenset())


def _steps(path: str) -> list[str]:
    parts = [part for part in path.split("/") if part]
    return ["/", *("/" + "/".join(parts[: end + 1]) for end in range(len(parts)))]


def parse(text: str, edition: Edition) -> Accounts:
    """Return the accounts that `text`, in the format of user.cfg, describes."""
    accounts = Accounts(edition, users={ROOT: Account()})
    for line in text.splitlines():
        kind, _, rest = line.strip().partition(":")
        fields = [*rest.split(":"), "", "", "", "", ""]
        _take(accounts, kind, fields)
    return accounts


def _take(accounts: Accounts, kind: str, fields: list[str]) -> None:
    match kind:
        case "user":
            accounts.users[fields[0]] = Account(fields[1] == "1", int(fields[2] or 0))
        case "token":
            separated = fields[2] == "1"
            accounts.tokens[fields[0]] = Account(expire=int(fields[1] or 0), separated=separated)
        case "group":
            accounts.groups[fields[0]] = frozenset(_list(fields[1]))
        case "pool":
            accounts.pools[fields[0]] = frozenset(int(vmid) for vmid in _list(fields[2]))
        case "role":
            known = accounts.edition.privileges()
            accounts.roles[fields[0]] = frozenset(_list(fields[1])) & known
        case "acl":
            for who in _list(fields[2]):
                for role in _list(fields[3]):
                    entry = Entry(fields[1], who, role, fields[0] == "1")
                    accounts.entries.append(entry)


def _list(text: str) -> list[str]:
    return [word for word in text.split(",") if word]
