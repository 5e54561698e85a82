"""Logins, permissions, and who there is."""

from __future__ import annotations

from unmask.lab.accounts import Caller, Grants
from unmask.lab.answer import Json, Refused
from unmask.lab.call import Call, Route
from unmask.lab.guest_row import resource
from unmask.lab.parameters import FLAG, NEEDED, TEXT

SECTIONS = {
    "access": ("Group.", "User."),
    "dc": ("Sys.Audit", "Sys.Modify", "SDN."),
    "mapping": ("Mapping.",),
    "nodes": ("Sys.",),
    "sdn": ("SDN.",),
    "storage": ("Datastore.",),
    "vms": ("VM.",),
}
"""Which privileges the web interface is told about, by the top of their path."""

SEPARATE_GRANT = "Permissions.Modify"


def ticket(call: Call) -> Json:
    """Return a ticket for a password, or for a ticket that is still valid."""
    user = call.text("username")
    accounts = call.cluster.accounts()
    issued = call.sessions.login(accounts, user, call.text("password"))
    if not issued:
        raise Refused("authentication failure", 401, delay=3)
    found: dict[str, Json] = {
        "CSRFPreventionToken": call.sessions.csrf_token(user),
        "cap": _capabilities(call, Caller(user)),
        "ticket": issued,
        "username": user,
    }
    if call.cluster.accounts().has(Caller(user), "/", ["Sys.Audit"]):
        found["clustername"] = call.cluster.name
    return found


def _capabilities(call: Call, caller: Caller) -> Json:
    found: dict[str, dict[str, int]] = {section: {} for section in SECTIONS}
    for path, grants in _with_mappings(call, caller).items():
        section = path.split("/")[1] or "dc"
        starts = SECTIONS.get(section, ())
        wanted = {name: 1 for name in grants if name.startswith(starts)} if starts else {}
        if SEPARATE_GRANT in grants and section in SECTIONS and section != "dc":
            wanted[SEPARATE_GRANT] = 1
        found.setdefault(section, {}).update(wanted)
    return {section: found[section] for section in SECTIONS}


def _with_mappings(call: Call, caller: Caller) -> dict[str, Grants]:
    accounts = call.cluster.accounts()
    return accounts.paths(caller) | {"/mapping": accounts.effective(caller, "/mapping")}


def permissions(call: Call) -> Json:
    """Return what the caller, or somebody else, may do where."""
    accounts = call.cluster.accounts()
    caller = call.caller
    other = call.text("userid")
    if other and other != caller.name:
        call.need("/access", "Sys.Audit")
        user, _, token = other.partition("!")
        caller = Caller(user, token)
        if user not in accounts.users or (token and other not in accounts.tokens):
            raise Refused(f"no such user ('{other}')")
    path = call.text("path")
    return {path: accounts.effective(caller, path)} if path else accounts.paths(caller)


def domains(_: Call) -> Json:
    """Return the realms."""
    return [
        {"comment": "Linux PAM standard authentication", "realm": "pam", "type": "pam"},
        {"comment": "Proxmox VE authentication server", "realm": "pve", "type": "pve"},
    ]


def users(call: Call) -> Json:
    """Return the users that the caller may see."""
    accounts = call.cluster.accounts()
    everybody = call.may("/access", "User.Modify", "Sys.Audit")
    found = []
    for name, account in sorted(accounts.users.items()):
        if not everybody and name != call.caller.user:
            continue
        row: dict[str, Json] = {
            "enable": int(account.enabled), "expire": account.expire, "groups": "",
            "realm-type": name.rpartition("@")[2], "userid": name,
        }  # fmt: skip
        if call.number("full"):
            row["tokens"] = _tokens(call, name) or None
        found.append(row)
    return found


def _tokens(call: Call, user: str) -> list[dict[str, Json]]:
    return [
        {
            "expire": token.expire,
            "privsep": int(token.separated),
            "tokenid": name.partition("!")[2],
        }
        for name, token in sorted(call.cluster.accounts().tokens.items())
        if name.startswith(f"{user}!")
    ]


def _need_self_or_modify(call: Call) -> None:
    if call.caller.user != call.places["userid"]:
        call.need("/access", "User.Modify")


def tokens(call: Call) -> Json:
    """Return a user's tokens."""
    return _tokens(call, call.places["userid"])


def token(call: Call) -> Json:
    """Return one token."""
    for row in _tokens(call, call.places["userid"]):
        if row.pop("tokenid") == call.places["tokenid"]:
            return row
    name = f"{call.places['userid']}!{call.places['tokenid']}"
    raise Refused(f"no such token '{call.places['tokenid']}' for user '{name.partition('!')[0]}'")


def entries(call: Call) -> Json:
    """Return the access lists that the caller may see."""
    if not call.may("/access", "Sys.Audit", "Permissions.Modify"):
        return []
    return [
        {
            "path": entry.path,
            "propagate": int(entry.propagate),
            "roleid": entry.role,
            "type": "group" if entry.who[0] == "@" else "token" if "!" in entry.who else "user",
            "ugid": entry.who.removeprefix("@"),
        }
        for entry in call.cluster.accounts().entries
    ]


def roles(call: Call) -> Json:
    """Return the roles and their privileges."""
    accounts = call.cluster.accounts()
    own = [(name, privileges, 1) for name, privileges in accounts.built_in.items()]
    more = [(name, privileges, 0) for name, privileges in accounts.roles.items()]
    return [
        {"privs": ",".join(sorted(privileges)), "roleid": name, "special": special}
        for name, privileges, special in own + more
    ]


def pools(call: Call) -> Json:
    """Return the pools that the caller may see, or one of them."""
    wanted = call.text("poolid")
    found = []
    for name, members in sorted(call.cluster.accounts().pools.items()):
        if call.may(f"/pool/{name}", "Pool.Audit") and wanted in ("", name):
            row: dict[str, Json] = {"poolid": name}
            if wanted:
                row["members"] = _members(call, members)
            found.append(row)
    return found


def _members(call: Call, members: frozenset[int]) -> list[dict[str, Json]]:
    cluster = call.cluster
    return [
        resource(cluster, vmid, node, cluster.guest(node, vmid).main)
        for vmid, node in cluster.guests().items()
        if vmid in members
    ]


ROUTES = (
    Route(
        "POST",
        "/access/ticket",
        ticket,
        {
            "username": NEEDED,
            "password": NEEDED,
            "realm": TEXT,
            "otp": TEXT,
            "path": TEXT,
            "privs": TEXT,
            "new-format": FLAG,
            "tfa-challenge": TEXT,
        },
        world=True,
    ),
    Route("GET", "/access/domains", domains, world=True),
    Route("GET", "/access/permissions", permissions, {"path": TEXT, "userid": TEXT}),
    Route("GET", "/access/users", users, {"full": FLAG, "enabled": FLAG}),
    Route("GET", "/access/users/{userid}/token", tokens, check=_need_self_or_modify),
    Route("GET", "/access/users/{userid}/token/{tokenid}", token, check=_need_self_or_modify),
    Route("GET", "/access/acl", entries),
    Route("GET", "/access/roles", roles),
    Route("GET", "/pools", pools, {"poolid": TEXT, "type": TEXT}),
)
