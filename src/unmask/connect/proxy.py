"""The proxy that the environment names for HTTPS (https_proxy, no_proxy), as curl reads them.

Its address may hold a password, which is in no error and in no attribute that is printed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from urllib3.util import make_headers

from unmask.errors import TargetError

SCHEMES = ("http", "https")


@dataclass(frozen=True, slots=True)
class Proxy:
    """A server that passes connections on; false where there is none."""

    url: str = ""
    """Without user and password."""
    headers: dict[str, str] = field(default_factory=dict, repr=False)
    """What the proxy itself is sent: user and password, where its address has them."""

    def __bool__(self) -> bool:
        """Return whether there is one."""
        return bool(self.url)

    @property
    def place(self) -> str:
        """Return HOST:PORT."""
        return self.url.partition("://")[2]


def towards(host: str) -> Proxy:
    """Return the proxy on the way to a host.

    Raises:
        TargetError: The environment names one that is none, or of a kind that is not spoken here.
    """
    bare = host.strip("[]")
    written = "" if proxy_bypass(bare) else getproxies().get("https", "").strip()
    if not written:
        return Proxy()
    try:
        parts = urlsplit(written if "://" in written else f"http://{written}")
        name, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        raise TargetError(_wrong(host, "is no address of a proxy")) from None
    if parts.scheme not in SCHEMES:
        raise TargetError(_wrong(host, f"names a proxy of the kind {parts.scheme[:20]}"))
    if not name.isascii() or not name.isprintable() or not name or " " in name:
        raise TargetError(_wrong(host, "is no address of a proxy"))
    place = f"[{name}]:{port}" if ":" in name else f"{name}:{port}"
    known = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
    headers = make_headers(proxy_basic_auth=known) if parts.username else {}
    return Proxy(f"{parts.scheme}://{place}", dict(headers))


def _wrong(host: str, what: str) -> str:
    return (
        f"the environment variable https_proxy {what}: write it http://HOST:PORT, or put {host}"
        " into no_proxy"
    )
