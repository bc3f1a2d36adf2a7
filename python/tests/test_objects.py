"""The classes of rules, stages and attacks: from the core's tables, and plain values."""

from __future__ import annotations

import copy
import inspect
import pickle

import numpy as np
import pytest

import boba
from boba import _core

ENTRIES = {(entry["kind"], entry["name"]): entry for entry in _core.entries()}
CLASSES = {
    **{("rule", name): made for name, made in boba.rules().items()},
    **{("attack", name): made for name, made in boba.attacks().items()},
}

SAMPLES = [
    boba.MultiKrum(f=1),
    boba.MultiKrum(f=1, m=3, neighbours=4),
    boba.Average(),
    boba.Median(even="lower"),
    boba.GeometricMedian(tolerance=1e-6),
    boba.Boba(f=16),
    boba.Boba(f=16, p_min="auto"),
    boba.Bucketing(s=3, remainder="keep"),
    boba.ServerMix(lambda_=0.25),
    boba.Bucketing(s=2) | boba.Krum(f=16) | boba.ServerMix(lambda_=0.125),
    boba.rule("bucketing(s=2) | krum(f=16)"),
    boba.InnerProductManipulation(gamma=3.5),
    boba.ALittleIsEnough(z=1.5, sign="plus"),
    boba.Gaussian(),
    boba.Simplex(p_min=-0.2, classes=4, aim="against"),
    boba.attack("ipm(gamma=2) | noise(size=0.5)"),
    boba.attack("ipm + lie(sign=plus)"),
]


@pytest.mark.parametrize("part", SAMPLES, ids=str)
def test_repr_pickle_and_copy_make_equal_objects(part: boba.Rule) -> None:
    others = [
        eval(repr(part), {"boba": boba}),
        pickle.loads(pickle.dumps(part)),
        copy.copy(part),
        copy.deepcopy(part),
    ]
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        others.append(pickle.loads(pickle.dumps(part, protocol)))
    for other in others:
        assert other == part and hash(other) == hash(part)
        assert type(other) is type(part)
        assert (other.spec, other.options, repr(other)) == (part.spec, part.options, repr(part))


def test_a_copy_works_after_use(rows: np.ndarray) -> None:
    rule = boba.MultiKrum(f=2)
    expected = rule(rows)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(rule))(rows), expected)
    np.testing.assert_array_equal(copy.deepcopy(rule)(rows), expected)


def test_equality_is_by_meaning() -> None:
    assert boba.Krum() == boba.Krum(f=0) == boba.rule("krum")
    assert boba.Krum(f=np.int64(2)) == boba.Krum(2)
    assert boba.ServerMix(lambda_=np.float32(0.5)) == boba.ServerMix()
    assert boba.Krum(f=1) != boba.Krum(f=2)
    assert boba.Krum(f=1) != "krum(f=1)"
    assert boba.Inf() != boba.Zero()
    assert len({boba.Krum(1), boba.Krum(f=1), boba.rule("krum(f=1)")}) == 1


@pytest.mark.parametrize("key", CLASSES, ids=lambda key: key[1])
def test_signatures_and_docs_come_from_the_tables(key: tuple[str, str]) -> None:
    made, entry = CLASSES[key], ENTRIES[key]
    parameters = inspect.signature(made).parameters
    assert list(parameters) == [option["name"] for option in entry["options"]]
    for option in entry["options"]:
        assert str(parameters[option["name"]].default) in (
            option["default"],
            str(float(option["default"])) if option["type"] == "number" else "",
        )
        assert option["help"].split()[0] in (made.__doc__ or "")
    assert made.__module__ == "boba" and getattr(boba, made.__name__) is made
    assert made().spec == entry["name"]
    words = " ".join((made.__doc__ or "").split())
    assert entry["computes"] in words and entry["citation"] in words


def test_help_shows_the_options() -> None:
    import pydoc

    text = pydoc.render_doc(boba.MultiKrum, renderer=pydoc.plaintext)
    assert "MultiKrum(f: int = 0, m: int = 0, neighbours: int = 0)" in text
    assert "Byzantine clients tolerated" in text


def test_options_are_attributes() -> None:
    rule = boba.MultiKrum(2, m=4)
    assert (rule.f, rule.m, rule.neighbours) == (2, 4, 0)
    assert rule.options == {"f": 2, "m": 4, "neighbours": 0}
    assert boba.ServerMix(lambda_=0.25).lambda_ == 0.25
    assert boba.Boba(p_min="auto").p_min == "auto" and boba.Boba(p_min=-0.2).p_min == -0.2
    with pytest.raises(ValueError, match="p_min=often is not a number; it may also be auto"):
        boba.rule("boba(p_min=often)")
    with pytest.raises(AttributeError):
        rule.f = 3  # type: ignore[misc]


def test_everything_has_a_class() -> None:
    listed = {*boba.rules(), *boba.stages(), *boba.attacks()}
    assert listed == {name for _, name in ENTRIES}
    assert set(boba.__all__) <= set(dir(boba))
    assert next(iter(boba.rules())) == "average"


def test_specs_make_objects() -> None:
    rule = boba.rule(" krum( f = 1 ) ")
    assert type(rule) is boba.Krum and str(rule) == "krum(f=1)"
    pipeline = boba.rule("bucketing(s=2) | krum(f=16) | server-mix(lambda=0.25)")
    assert isinstance(pipeline, boba.Pipeline)
    assert [type(part) for part in pipeline.parts] == [boba.Bucketing, boba.Krum, boba.ServerMix]
    assert type(boba.attack("ipm(gamma=10)")) is boba.InnerProductManipulation
    with pytest.raises(ValueError, match="no attack 'krum'"):
        boba.attack("krum")
    with pytest.raises(TypeError):
        boba.Krum(f=1) | boba.Krum(f=2)  # type: ignore[operator]
    with pytest.raises(ValueError, match="must come after a rule"):
        boba.ServerMix() | boba.Krum(f=1)


def test_the_version_is_that_of_the_build() -> None:
    from importlib.metadata import packages_distributions, version
    from pathlib import Path

    text = (Path(__file__).parents[2] / "CMakeLists.txt").read_text()
    assert f"project(boba VERSION {boba.__version__} " in text
    # "boba" on PyPI is somebody else's package.
    assert packages_distributions()["boba"] == ["boba-fl"]
    assert version("boba-fl") == boba.__version__
