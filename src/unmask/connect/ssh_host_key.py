"""Whether the key that a host shows may be trusted."""

from __future__ import annotations

from dataclasses import dataclass

from unmask.connect import ssh_errors as errors
from unmask.connect import ssh_known_hosts
from unmask.connect.ssh_config import HostSettings
from unmask.connect.ssh_known_hosts import Entry, HostKey, Verdict
from unmask.errors import TargetError


@dataclass(frozen=True, slots=True)
class HostKeys:
    """The host keys that are known of one server."""

    settings: HostSettings
    where: str
    trusted: tuple[Entry, ...]
    called: tuple[str, ...]
    everywhere: tuple[str, ...]
    """The same and what else it is called; under these its key is only looked for."""

    def judge(self, key: HostKey) -> tuple[Verdict, tuple[Entry, ...]]:
        """Return what the files say about a key, or the trusted ones where they say nothing."""
        said = ssh_known_hosts.judge(self._own(), self.everywhere, key)
        if said[0] is not Verdict.UNKNOWN:
            return said
        kept, _ = ssh_known_hosts.judge(self.trusted, self.everywhere, key)
        return (kept, ()) if kept is Verdict.KNOWN else said

    def _own(self) -> tuple[Entry, ...]:
        files = (*self.settings.known_hosts, *self.settings.global_known_hosts)
        return ssh_known_hosts.load(files)

    def kinds(self) -> tuple[str, ...]:
        """Return the kinds of the keys that are known, which the server is asked to show."""
        named = tuple(item.split()[0] for item in self.settings.pinned if " " in item)
        known = (*self._own(), *self.trusted)
        return (*named, *(e.key.kind for e in known if any(map(e.about, self.everywhere))))

    def check(self, key: HostKey) -> None:
        """Accept the key that the server shows, storing it where it is new and may be.

        Raises:
            TargetError: It is not known, has changed, is revoked, or cannot be stored.
        """
        verdict, lines = self.judge(key)
        file = next(iter(self.settings.known_hosts), "")
        if self.settings.pinned and verdict is not Verdict.REVOKED:
            if not any(_means(item, key) for item in self.settings.pinned):
                raise errors.other_key(self.where, key)
            return
        if verdict is Verdict.KNOWN:
            return
        if verdict is not Verdict.UNKNOWN or not self.settings.accept_new:
            raise errors.host_key(self.where, verdict, key, lines, file, self.called[0])
        try:
            if file and file != "/dev/null":
                ssh_known_hosts.store(file, self.called[0], key)
        except OSError as error:
            said = f"{self.where}: its host key cannot be stored in {file}: {error.strerror}"
            raise TargetError(said) from error


def _means(item: str, key: HostKey) -> bool:
    """Return whether a key or fingerprint of the configuration is that of `key`."""
    words = item.split()
    return words[:2] == [key.kind, key.text] or words == [key.fingerprint]
