import pytest

from unmask.connect.libvirt_errors import explain, first_line, refused

URI = "qemu:///system"


@pytest.mark.parametrize(
    ("code", "text", "said"),
    [
        (38, "Failed to connect socket to '/run/s': No such file or directory", "start libvirt"),
        (38, "Failed to connect socket to '/run/s': Permission denied", "group libvirt"),
        (38, "Failed to connect socket to '/run/s': Connection refused", "nothing listens"),
        (38, "unable to connect to server at 'h:16509': Connection refused", "h:16509"),
        (38, "Cannot read CA certificate '/etc/pki/CA/cacert.pem': No such file", "qemu+ssh://"),
        (
            38,
            "Cannot recv data: ssh: Host key failed.: Connection reset by peer",
            "Host key failed.",
        ),
        (38, "Cannot recv data: Connection reset by peer", "Connection reset by peer"),
        (5, "no connection driver available for nosuch:///x", "no driver"),
        (8, "invalid argument: remote_open: transport in URL not recognised (...)", "transport"),
        (1, "internal error: Unable to get system bus connection: ...", "polkit"),
        (45, "authentication failed: Failed to start SASL", "credentials"),
        (88, "access denied", "access denied"),
        (1, "internal error: something new\nand more", "libvirt says: internal error: something"),
    ],
)
def test_every_cause_is_one_sentence_with_the_next_step(code: int, text: str, said: str) -> None:
    sentence = str(explain(URI, code, text))
    assert sentence.startswith(f"{URI}: ")
    assert said in sentence
    assert "\n" not in sentence


def test_braces_in_libvirts_text_are_only_text() -> None:
    text = "Failed to connect socket to '/run/{0}{x}': Permission denied"
    assert "/run/{0}{x}" in str(explain(URI, 38, text))


@pytest.mark.parametrize(
    ("code", "domain", "text", "expected"),
    [
        (38, 7, "Failed to connect socket to '/run/s': Permission denied", True),
        (80, 60, "authentication unavailable: no polkit agent", True),
        (1, 47, "Unable to get system bus connection", True),
        (29, 20, "operation forbidden", True),
        (38, 7, "Failed to connect socket to '/run/s': No such file or directory", False),
    ],
)
def test_a_refusal_is_told_from_other_failures(
    code: int, domain: int, text: str, *, expected: bool
) -> None:
    assert refused(code, domain, text) is expected


def test_first_line_is_bounded_and_never_empty() -> None:
    assert first_line("  ") == "no reason given"
    assert len(first_line("x" * 5000)) == 300
