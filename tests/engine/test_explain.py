"""The page on a rule, found by its code."""

from __future__ import annotations

import pytest

from unmask.engine import explain
from unmask.errors import UsageError


def test_a_code_in_any_case_gives_its_page() -> None:
    page = explain.page("cpu002")
    assert page.startswith("# CPU002: AES is shown without PCLMULQDQ\n")
    assert page == explain.page("CPU002")
    assert page.endswith("\n")
    assert not page.endswith("\n\n")
    assert "\n\n## Why it matters\n\n" in page


def test_codes_come_from_the_names_of_the_modules() -> None:
    codes = explain.codes()
    assert codes["CPU001"] == "cpu001_generic_model_hides_aes"
    assert all(len(code) == 6 for code in codes)


@pytest.mark.parametrize("code", ["CPU999", "", "../x", "cpu001_generic_model_hides_aes"])
def test_an_unknown_code_is_a_usage_error(code: str) -> None:
    with pytest.raises(UsageError, match="there is no rule"):
        explain.page(code)


def test_a_near_miss_is_named() -> None:
    with pytest.raises(UsageError, match="did you mean CPU0"):
        explain.page("CPU0O1")
