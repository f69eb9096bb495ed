"""Which reading a runtime follows, from results that tell it in different ways."""

from __future__ import annotations

import dataclasses

import pytest
from report_runs import NAN, OLD, RANGE, excerpt, result

from cypool.conformance.judging.records import Header, Result
from cypool.conformance.reports import summary
from cypool.conformance.reports.fingerprint import Followed, fingerprint, fingerprints
from cypool.spec.model import Ruling

ON_NAN = {"rulings": ("nan",)}
CASE = "MaxRoiPool-1/float/nan"
COMPUTES = result("some", "MaxRoiPool-1/float/ramp", "pass")


def follows(*names: str, verdict: str = "pass") -> Result:
    return result("some", CASE, verdict, readings={"nan": names}, **ON_NAN)


def found(*results: Result, ruling: Ruling = NAN, computed: tuple[str, ...] = ("never", "last")) -> list[Followed]:
    header = Header("", {}, len(results), "onnx", {}, {"MaxRoiPool": (ruling,)}, computed)
    return fingerprint(header, [COMPUTES, *results])


def words(*results: Result, ruling: Ruling = NAN, computed: tuple[str, ...] = ("never", "last")) -> list[str]:
    return [str(followed) for followed in found(*results, ruling=ruling, computed=computed)]


def test_what_is_as_ruled_goes_by_the_word_for_the_choice() -> None:
    (followed,) = found(follows("as ruled"))
    assert (str(followed), followed.as_ruled, followed.legitimate, followed.text) == ("nan: wins", True, True, "It wins.")


def test_another_reading_goes_by_its_name_and_says_whether_the_text_allows_it() -> None:
    (last,), (never,) = found(follows("last")), found(follows("never"))
    assert (str(last), last.as_ruled, last.legitimate) == ("nan: last", False, True)
    assert (str(never), never.as_ruled, never.legitimate, never.text) == ("nan: never", False, False, "It is passed over.")


def test_the_reading_that_agrees_most_often_is_followed_and_numbers_tell_of_the_rest() -> None:
    assert words(follows("never", "last"), follows("last"), follows("as ruled")) == ["nan: last (2 of 3)"]


def test_of_equals_the_choice_comes_first_and_then_the_order_of_the_spec() -> None:
    assert words(follows("as ruled", "never")) == ["nan: wins"]
    assert words(follows("last", "never")) == ["nan: never"]


def test_a_pass_tells_nothing_where_values_tell_readings_apart_and_did_not() -> None:
    assert words(result("some", CASE, "pass", **ON_NAN)) == []


def test_a_pass_tells_where_nobody_knows_what_other_readings_give_or_there_is_none() -> None:
    assert words(result("some", CASE, "pass", **ON_NAN), computed=()) == ["nan: wins"]
    assert words(result("some", CASE, "pass", **ON_NAN), ruling=dataclasses.replace(NAN, readings=())) == ["nan: wins"]


def test_a_refusal_of_what_is_valid_tells_where_one_ruling_alone_is_at_stake() -> None:
    alone, beside = (result("some", CASE, "error", rulings=rulings) for rulings in (("nan",), ("nan", "p-range")))
    assert words(COMPUTES, alone, computed=()) == ["nan: refuses what is valid"]
    assert words(COMPUTES, beside, computed=()) == []
    assert words(COMPUTES, alone) == []  # values would tell


def test_a_refusal_tells_nothing_where_most_is_refused() -> None:
    refused = result("some", CASE, "load error", **ON_NAN)
    assert words(COMPUTES, refused, computed=()) == ["nan: refuses what is valid"]
    assert words(COMPUTES, refused, refused, computed=()) == []


def test_a_wrong_value_of_no_reading_is_none_recorded() -> None:
    (followed,) = found(result("some", CASE, "wrong value", **ON_NAN))
    assert (followed.name, followed.legitimate, followed.text) == ("none recorded", False, "")


def test_a_fault_of_another_ruling_explains_a_wrong_value_and_counts_there() -> None:
    elsewhere = result("some", CASE, "wrong value", reading="never", readings={"nan": ("never",)}, rulings=("p-range",))
    header = Header("", {}, 2, "onnx", {}, {"MaxRoiPool": (RANGE, NAN)}, ("never",))
    assert [str(followed) for followed in fingerprint(header, [COMPUTES, elsewhere])] == ["nan: never"]


def test_invalid_cases_tell_whether_a_limit_is_kept() -> None:
    refused, accepted = (result("some", CASE, verdict, fault="x", **ON_NAN) for verdict in ("pass", "accepted what is invalid"))
    assert words(refused) == ["nan: wins"]
    assert words(accepted, accepted, refused) == ["nan: accepts what is invalid (2 of 3)"]


def test_refusing_everything_is_no_reading() -> None:
    refused = result("some", "MaxRoiPool-1/double/nan", "pass", fault="x", **ON_NAN)
    assert words(refused) == []
    assert words(refused, result("some", "MaxRoiPool-1/double/ramp", "wrong value", got=excerpt("1.0"))) == ["nan: wins"]


@pytest.mark.parametrize("other", ["MaxRoiPool-22/float/nan", "MaxRoiPool-1/float/nan@21", "MaxRoiPool-1/float/nan+symbolic"])
def test_a_place_where_nothing_is_computed_tells_nothing_of_another(other: str) -> None:
    refused = [result("some", other, verdict, fault=fault, **ON_NAN) for verdict, fault in (("load error", None), ("pass", "x"))]
    assert words(*refused) == []


def test_unsupported_crashed_and_late_tell_nothing() -> None:
    assert words(*(result("some", CASE, verdict, **ON_NAN) for verdict in ("unsupported", "crashed", "timed out"))) == []


def test_rulings_of_two_operators_with_one_name_are_two() -> None:
    header = Header("", {}, 1, "onnx", {}, {"GlobalLpPool": (dataclasses.replace(NAN, chosen="other"),), "MaxRoiPool": (NAN,)}, ())
    other = result("some", "GlobalLpPool-1/float/nan", "pass", readings={"nan": ("as ruled",)}, **ON_NAN)
    assert list(map(str, fingerprint(header, [follows("as ruled"), other]))) == ["nan: other", "nan: wins"]


def test_side_by_side_rows_are_the_rulings_that_any_runtime_tells_of() -> None:
    header, results = OLD
    rows = [(op, ruling.id, {name: followed.name for name, followed in own.items()}) for op, ruling, own in fingerprints(header, results)]
    assert rows == [
        ("GlobalLpPool", "p-range", {"sharp": "above-0", "blunt": "accepts what is invalid"}),
        ("MaxRoiPool", "nan", {"sharp": "last", "blunt": "never"}),
    ]
    assert fingerprints(header, summary.of_runtime("nobody", results)) == []


def test_a_ruling_that_the_header_does_not_know_is_passed_over() -> None:
    assert words(result("some", CASE, "pass", fault="x", rulings=(RANGE.id,))) == []
