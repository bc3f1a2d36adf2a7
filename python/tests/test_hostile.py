"""Inputs that cannot be used: a sentence for each, and no influence of what is refused."""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Callable

import numpy as np
import pytest
import torch

import boba

MEAN = boba.Average()
GOOD = np.random.default_rng(3).normal(size=(9, 40)).astype(np.float32)


@pytest.mark.parametrize("rule", ["average", "krum(f=2)", "mkrum(f=2)", "coomed", "geomed"])
@pytest.mark.parametrize("poison", [np.nan, np.inf, -np.inf, 3e38])
def test_a_poisoned_row_is_refused_and_has_no_influence(rule: str, poison: float) -> None:
    bad = GOOD.copy()
    bad[4, 7] = poison
    if abs(poison) < np.inf:
        bad[4] = poison
    result = boba.aggregate(bad, rule)
    assert result.refused == 1 and not result.accepted[4]
    assert result.clients[4].refused and result.clients[4].reason.startswith("refused")
    if rule == "average":
        np.testing.assert_array_equal(result.vector, MEAN(np.delete(bad, 4, 0)))
    assert np.isfinite(result.vector).all()


def test_all_rows_refused() -> None:
    with pytest.raises(boba.RefusedError, match="all 9 updates were refused; client 0"):
        MEAN(GOOD * np.float32(np.nan))
    assert issubclass(boba.RefusedError, ValueError)


def test_a_second_update_with_an_id_is_refused() -> None:
    result = boba.aggregate(GOOD[:3], "average", ids=["a", "b", "a"])
    assert list(result.accepted) == [True, True, False]
    assert [client.id for client in result.clients] == ["a", "b", "a"]
    assert "'a'" in result.clients[2].reason
    with pytest.raises(ValueError, match="2 client ids for 3 updates"):
        boba.aggregate(GOOD[:3], "average", ids=["a", "b"])


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("krumm(f=1)", "no rule 'krumm'; did you mean krum?"),
        ("krum(g=1)", "krum: no option g; options are: f, neighbours"),
        ("krum(f=-1)", r"krum: f=-1 is outside \[0, 1048576\]"),
        ("krum(f=x)", "f=x"),
        ("krum(f=1", "krum"),
        ("", "spec"),
        ("krum(f=1) | bucketing(s=2)", "bucketing must come before the rule"),
        ("krum(f=8)", r"krum needs n - f - 2 >= 1; got n=9, f=8"),
        ("trmean(f=5)", "trmean needs n >= 2f [+] 1; got n=9, f=5"),
        ("fltrust", "server"),
        ("zeno(f=1)", "oracle"),
        ("x" * 5000, "4096"),
    ],
)
def test_specs_that_cannot_run(spec: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        boba.aggregate(GOOD, spec)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: boba.Krum(g=1), "krum: no option g; options are: f, neighbours"),
        (lambda: boba.Krum(f=-1), r"krum: f=-1 is outside \[0, 1048576\]"),
        (lambda: boba.Krum(f=1.5), "f=1.5"),
        (lambda: boba.Krum(f=True), "f=True"),
        (lambda: boba.Krum(f=None), "f=None"),
        (lambda: boba.Krum(f=float("nan")), "f=nan"),
        (lambda: boba.Median(even="mean) | krum(f=1"), "is none of: mean, lower"),
        (lambda: boba.InnerProductManipulation(gamma=float("inf")), "gamma=inf"),
        (lambda: boba.ServerMix(lambda_=2), r"lambda=2 is outside \[0, 1\]"),
    ],
)
def test_options_that_will_not_do(make: object, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        make()  # type: ignore[operator]


def test_too_many_arguments_are_a_type_error() -> None:
    with pytest.raises(TypeError, match="Krum has 2 options; got 3 arguments"):
        boba.Krum(1, 2, 3)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="got f twice"):
        boba.Krum(1, f=1)  # type: ignore[misc]
    with pytest.raises(TypeError, match="rule is int"):
        boba.aggregate(GOOD, 5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("updates", "error", "sentence"),
    [
        ([], ValueError, "no updates came"),
        (np.empty((0, 5)), ValueError, "no updates came"),
        (np.empty((5, 0)), ValueError, "the updates have length 0"),
        ([np.empty(0)] * 3, ValueError, "the updates have length 0"),
        (np.ones(5), ValueError, "array of 1 dimension;"),
        (np.array(1.0), ValueError, "array of 0 dimensions"),
        ([np.array(1.0)], ValueError, r"updates\[0\] is a single number"),
        (GOOD.astype(np.float16), TypeError, "updates is float16; boba takes float32 and float64"),
        (GOOD.astype(int), TypeError, "updates is int64"),
        (GOOD > 0, TypeError, "updates is bool"),
        (GOOD.astype(complex), TypeError, "updates is complex128"),
        (GOOD.astype(">f4"), TypeError, "updates is ndarray of >f4"),
        (GOOD.astype(object), TypeError, "updates is ndarray of object"),
        (list(GOOD.astype(">f4")), TypeError, r"updates\[0\] is ndarray of >f4"),
        ([GOOD[0], GOOD[1].astype(object)], TypeError, r"updates\[1\] is ndarray of object"),
        ([[GOOD[0].astype(">f4")]], TypeError, r"updates\[0\]\[0\] is >f4; boba takes"),
        (
            [GOOD[0], GOOD[1].astype(np.float64)],
            TypeError,
            r"updates\[1\] is float64, updates\[0\]",
        ),
        ([GOOD[0], GOOD[1][:7]], ValueError, r"updates\[1\] has the shape \(7\), updates\[0\] has"),
        ([GOOD[0], GOOD[1].astype(np.int32)], TypeError, r"updates\[1\] is int32"),
        ([GOOD[0], None], TypeError, r"updates\[1\] is NoneType"),
        ([1.0, 2.0], TypeError, r"updates\[0\] is float"),
        ([[1.0], [2.0]], TypeError, r"updates\[0\]\[0\] is float"),
        (["krum", "krum"], TypeError, r"updates\[0\] is str"),
        (None, TypeError, "updates is NoneType"),
        (7, TypeError, "updates is int"),
        ([[]], ValueError, "list of no layers"),
        (
            [[GOOD[0]], [GOOD[0], GOOD[1]]],
            ValueError,
            r"updates\[1\] has 2 layers, the first has 1",
        ),
        ([[GOOD[0]], [GOOD[1][:3]]], ValueError, r"updates\[1\]\[0\] has the shape \(3,\)"),
        ([[GOOD[0]], GOOD[1]], TypeError, r"updates\[1\] is ndarray; it is a list of layers"),
        ([[GOOD[0], GOOD[0].astype(float)]], TypeError, r"updates\[0\]\[1\] is float64, updates"),
        ([[GOOD[0]], [GOOD[1].astype(float)]], TypeError, r"updates\[1\]\[0\] is float64"),
        ([[GOOD[0], np.array(3)]], TypeError, r"updates\[0\]\[1\] is int64"),
        (np.ma.masked_array(GOOD), TypeError, "masked"),
        (torch.ones(4, 5, dtype=torch.float16), TypeError, "updates is float16"),
        (torch.ones(4, 5, dtype=torch.bfloat16), TypeError, "updates is bfloat16"),
        (torch.ones(4, 5, device="meta"), TypeError, "updates is torch.Tensor"),
        (torch.eye(4).to_sparse(), TypeError, "updates is torch.Tensor"),
        ([[torch.ones(4, device="meta")]], TypeError, r"updates\[0\]\[0\] is Tensor on meta"),
        ([[torch.ones(4).bfloat16()]], TypeError, r"Tensor on cpu of torch.bfloat16; boba takes"),
    ],
)
def test_updates_that_are_none(updates: object, error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        MEAN(updates)


@pytest.mark.parametrize(
    ("given", "error", "sentence"),
    [
        ({"server": GOOD[:2, :5]}, ValueError, "a server gradient has length 5"),
        ({"server": GOOD[:2].astype(float)}, ValueError, "a server gradient is float64"),
        ({"server": GOOD[0]}, ValueError, "server is an array of 1 dimension"),
        ({"server": GOOD[:2], "server_counts": [1]}, ValueError, "1 server counts for 2"),
        ({"server": GOOD[:2], "server_counts": [1, np.nan]}, ValueError, "a server count is nan"),
        (
            {"server_whole": GOOD[:2]},
            ValueError,
            r"^server_whole has the shape \(2, 40\); an update",
        ),
        ({"server_whole": "whole"}, TypeError, "^server_whole is str; it is an array of float32"),
        ({"server_whole": array("i", [1])}, TypeError, "^server_whole is int32; boba takes"),
        ({"server_whole": np.ones(40, ">f4")}, TypeError, "^server_whole is >f4; boba takes"),
        ({"server": "rows"}, TypeError, r"^server\[0\] is str; it is an array"),
        ({"server": GOOD[:2].reshape(2, 5, 8)}, ValueError, r"^server has the shape \(5, 8\); an"),
        ({"server": [[GOOD[0, :9], GOOD[0, 9:]]]}, ValueError, r"^server has the shapes \(9,\), "),
        (
            {"server": GOOD[:2], "server_counts": 5},
            TypeError,
            "^server_counts is int; it is a list",
        ),
        ({"server": GOOD[:2], "server_counts": [1, "b"]}, TypeError, r"^server_counts\[1\] is str"),
        ({"model": "w"}, TypeError, "^model is str; it is an array of float32 or float64"),
        ({"model": None, "learning_rate": "x"}, TypeError, "^learning_rate is str; it is a number"),
        ({"model": memoryview(b"1234")}, TypeError, "^model is uint8; boba takes"),
        ({"model": GOOD[0].astype(object)}, TypeError, "^model is object; boba takes"),
        ({"model": np.float32(1)}, ValueError, "^model is a single number"),
        ({"model": GOOD[0].reshape(8, 5)}, ValueError, r"^model has the shape \(8, 5\); an update"),
        ({"ids": 5}, TypeError, "^ids is int; it is a list of names"),
        (
            {"ids": [*"abcdefgh", "i\udc80"]},
            ValueError,
            r"^ids\[8\] is not valid text: 'i\\udc80'",
        ),
        ({"model": GOOD[0, :3]}, ValueError, "the model has length 3"),
        ({"seed": -1}, ValueError, "seed=-1 is outside"),
        ({"seed": 2**64}, ValueError, "seed="),
        ({"seed": 1.5}, TypeError, "seed is float"),
        ({"round": 2**32}, ValueError, "round="),
        ({"threads": -1}, ValueError, "threads=-1"),
        ({"threads": 5000}, ValueError, "threads=5000"),
    ],
)
def test_arguments_that_do_not_fit(
    given: dict[str, object], error: type[Exception], sentence: str
) -> None:
    with pytest.raises(error, match=sentence):
        boba.aggregate(GOOD, "average", **given)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", ["transposed", "swapped"])
@pytest.mark.parametrize("where", ["server", "server_whole", "model"])
def test_layers_of_another_shape_are_refused(where: str, wrong: str) -> None:
    layers = [[row[:24].reshape(4, 6), row[24:]] for row in GOOD]
    swapped = layers[0][::-1] if wrong == "swapped" else [layers[0][0].T, layers[0][1]]
    given = [swapped, swapped] if where == "server" else swapped
    sentence = r"has the shapes .*; an update has the shapes \(4, 6\), \(16,\); it is shaped"
    with pytest.raises(ValueError, match=f"^{where} {sentence}"):
        boba.aggregate(layers, "average", **{where: given})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=f"^{where} {sentence}"):
        boba.OpenRound("average", layers[0], most=9, **{where: given})  # type: ignore[arg-type]


def test_a_square_update_is_not_confused_with_a_row() -> None:
    square = GOOD[:, :36].reshape(9, 6, 6)
    for given in (square[:, None], GOOD[:, :36].reshape(9, 4, 9)):
        with pytest.raises(ValueError, match=r"^server has .*; an update has the shape \(6, 6\)"):
            boba.FLTrust()(square, server=given)
    np.testing.assert_array_equal(
        boba.FLTrust()(square, server=square[:3]), boba.FLTrust()(square, server=GOOD[:3, :36])
    )


@pytest.mark.parametrize(
    ("make", "error", "sentence"),
    [
        (lambda: boba.rule(5), TypeError, "^rule is int; it is a spec such as "),
        (lambda: boba.rule(["krum"]), TypeError, "^rule is list; it is a spec such as "),
        (lambda: boba.rule("krum\udc80"), ValueError, r"^rule is not valid text: 'krum\\udc80'"),
        (lambda: boba.Median(even="\udc80"), ValueError, "^even is not valid text"),
        (lambda: boba.Krum(f=1).admits(-1), ValueError, r"^clients=-1 is outside \[0, "),
        (lambda: boba.Krum(f=1).admits(9.5), TypeError, "^clients is float; it is a whole number"),
        (lambda: boba.Krum(f=1).admits(9, classes=-1), ValueError, "^classes=-1 is outside"),
        (lambda: boba.Krum(f=1).admits(9, length="a"), TypeError, "^length is str; it is a whole"),
    ],
)
def test_calls_that_make_no_sense(
    make: Callable[[], object], error: type[Exception], sentence: str
) -> None:
    with pytest.raises(error, match=sentence):
        make()


class _Tensor(ctypes.Structure):
    """DLPack's managed tensor, by hand."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.c_void_p),
        ("byte_offset", ctypes.c_uint64),
        ("manager", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    ]


class Made:
    """An array by hand: a matrix that may lie, whose pointer must never be followed."""

    def __init__(self, shape: tuple[int, ...], data: int | None, device: int = 1) -> None:
        self.device = device
        self.shape = (ctypes.c_int64 * len(shape))(*shape)
        self.tensor = _Tensor(
            data=data,
            device_type=device,
            ndim=len(shape),
            code=2,
            bits=32,
            lanes=1,
            shape=self.shape,
        )

    def __dlpack__(self, **kwargs: object) -> object:
        make = ctypes.pythonapi.PyCapsule_New
        make.restype = ctypes.py_object
        make.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return make(ctypes.addressof(self.tensor), b"dltensor", None)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (self.device, 0)


def test_memory_of_a_device_is_refused() -> None:
    on_a_device = Made((4, 5), 16, device=2)
    with pytest.raises(TypeError, match="updates lies on a device of kind 2, not in main memory"):
        MEAN(on_a_device)
    with pytest.raises(TypeError, match=r"updates\[1\] lies on a device"):
        MEAN([np.ones((4, 5), np.float32), on_a_device])


@pytest.mark.parametrize(
    ("shape", "data", "sentence"),
    [
        ((4, 5), None, r"has the shape \(4, 5\) and no memory behind it: its data is NULL"),
        ((4, -5), 16, r"has the shape \(4, -5\); no axis is below 0"),
        ((-4, -5), 16, r"has the shape \(-4, -5\); no axis is below 0"),
        ((2**40, 2**40), 16, r"has the shape \(.*\); no memory can have so many numbers"),
        ((2, 2**62), 16, r"has the shape \(.*\); no memory can have so many numbers"),
    ],
)
def test_arrays_without_the_memory_they_promise(
    shape: tuple[int, ...], data: int | None, sentence: str
) -> None:
    made = Made(shape, data)
    good = np.ones((4, 5), np.float32)
    for given, name in (
        (made, "updates "),
        ([good, made], r"updates\[1\] "),
        ([[good], [made]], r"updates\[1\]\[0\] "),
    ):
        with pytest.raises(ValueError, match=name + sentence):
            MEAN(given)
    with pytest.raises(ValueError, match="^update " + sentence):
        boba.OpenRound("average", np.ones((4, 5)), most=2).submit("a", made)


def test_no_numbers_need_no_memory() -> None:
    with pytest.raises(ValueError, match="the updates have length 0"):
        MEAN(Made((4, 0), None))
    with pytest.raises(ValueError, match=f"updates has {2**40} rows of no numbers"):
        MEAN(np.empty((2**40, 0), np.float32))


ONE = np.float32(1)
WINDOWS = np.lib.stride_tricks.as_strided(np.ones(2**20, np.float32), (2**18, 2**18), (8, 8))


@pytest.mark.parametrize(
    "given",
    [
        np.broadcast_to(ONE, (1, 2**40)),
        np.broadcast_to(ONE, (2**40, 1)),
        np.broadcast_to(ONE, (2**20, 2**20)),
        np.broadcast_to(ONE, (2**20, 2**10, 2**10)),
        WINDOWS,
        [np.broadcast_to(ONE, 2**40)],
        [np.broadcast_to(ONE, 2**27)] * 9,
        [[np.broadcast_to(ONE, 2**40)]],
        [torch.ones(1).expand(2**40)],
    ],
)
def test_broadcast_arrays_are_not_copied_until_memory_is_gone(given: object) -> None:
    with pytest.raises(ValueError, match=r"^updates\S* repeats numbers .*ascontiguousarray"):
        MEAN(given)


def test_small_broadcast_arrays_are_arrays() -> None:
    rows = np.broadcast_to(np.float32(3), (4, 5))
    np.testing.assert_array_equal(MEAN(rows), np.full(5, 3))
    np.testing.assert_array_equal(MEAN([torch.ones(1).expand(5)] * 3), torch.ones(5))


def test_a_failed_call_leaves_the_next_alone() -> None:
    for _ in range(50):
        with pytest.raises(ValueError, match="krum needs"):
            boba.aggregate(GOOD[:2], "krum(f=1)")
    np.testing.assert_allclose(MEAN(GOOD), GOOD.mean(0), atol=1e-6)


def test_memory_is_given_back() -> None:
    import resource

    def peak() -> int:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    rows = list(np.ones((4, 250_000)))
    for _ in range(20):
        MEAN(rows)
    before = peak()
    for _ in range(200):  # 400 MB of results, if none were given back
        boba.aggregate(rows, "krum(f=1)").clients[0]
        with pytest.raises(ValueError, match="outside"):
            boba.aggregate(rows, "average", seed=-1)
    assert peak() - before < 50_000  # KiB
