"""A custom CPU model that has to be there before a guest can have it."""

from __future__ import annotations

from collections.abc import Mapping

from unmask.dialects.proxmox import custom_models, section_file
from unmask.errors import UsageError
from unmask.fixes import _pve_value
from unmask.fixes._target import RefusedError

KIND = "cpu-model: "


def name_of(section: str) -> str:
    """Return the name that a section defines.

    Raises:
        UsageError: It is not exactly one section of cpu-models.conf.
    """
    models = custom_models.parse(section)
    heads = list(section_file.parse(section))
    if len(models.models) != 1 or len(heads) != 1 or models.faults:
        said = models.faults[0][1] if models.faults else "one section is needed"
        raise UsageError(f"the custom model cannot be made: {said}")
    return next(iter(models.models))


def properties(section: str) -> Mapping[str, str]:
    """Return the keys of a section, as the API takes them beside the name."""
    (found,) = section_file.parse(section).values()
    return found


def there(text: str, name: str, section: str) -> bool:
    """Return whether a file defines the model just as the section does.

    Args:
        text: Of cpu-models.conf.
        name: Of the model.
        section: That defines it.

    Raises:
        RefusedError: It defines another one of that name.
    """
    found = custom_models.parse(text).models.get(name)
    if found is None:
        return False
    wanted = custom_models.parse(section).models[name]
    if _pve_value.of_option(found) != _pve_value.of_option(wanted):
        raise RefusedError(
            f"the cluster has another custom model {name} already, which was left as it is: choose "
            "another name"
        )
    return True


def as_file(rows: object) -> str:
    """Return the file that the API's list of custom models describes."""
    text = []
    for row in rows if isinstance(rows, list) else []:
        if isinstance(row, dict) and isinstance(row.get("cputype"), str):
            name = row["cputype"].removeprefix("custom-")
            keys = sorted(key for key in row if key not in ("cputype", "digest"))
            lines = "".join(f"\t{key} {row[key]}\n" for key in keys)
            text.append(f"{KIND}{name}\n{lines}\n")
    return "".join(text)
