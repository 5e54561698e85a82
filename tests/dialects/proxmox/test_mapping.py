"""Devices of nodes under one name for the whole cluster."""

from __future__ import annotations

import pytest

from unmask.dialects.proxmox import mapping
from unmask.dialects.proxmox.mapping import Mapped

CONFIG = """\
gpu
\tdescription one of two
\tlive-migration-capable 1
\tmap id=10de:2231,node=oak,path=0000:65:00.0
\tmap id=10de:2231,node=elm,path=0000:c1:00.0;0000:c2:00.0

empty

usb-key
\tmap node=elm,id=1050:0407
"""


def test_what_a_file_says() -> None:
    assert mapping.parse(CONFIG) == {
        "gpu": Mapped(("elm", "oak"), live=True),
        "empty": Mapped(()),
        "usb-key": Mapped(("elm",)),
    }


def test_the_answer_of_the_api_says_the_same() -> None:
    rows: list[dict[str, object]] = [
        {
            "id": "gpu",
            "live-migration-capable": 1,
            "map": ["id=10de:2231,node=oak,path=0000:65:00.0", "node=elm"],
        },
        {"id": "empty"},
        {"id": "usb-key", "map": ["node=elm,id=1050:0407"], "live-migration-capable": 0},
    ]
    assert mapping.of_rows(rows) == mapping.parse(CONFIG)


@pytest.mark.parametrize("listed", [None, "node=elm", [1, None, {}], 7])
def test_a_map_that_is_no_list_of_texts_maps_nothing(listed: object) -> None:
    assert mapping.of_rows([{"id": "gpu", "map": listed}]) == {"gpu": Mapped(())}


@pytest.mark.parametrize("text", ["", "\tmap node=elm\n", "\n\n", "#gpu\n\tmap node=elm\n"])
def test_what_is_no_section_is_nothing(text: str) -> None:
    assert mapping.parse(text) == {}
