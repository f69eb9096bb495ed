"""Windows along an axis, on made-up operators: how many there are, where they start, and what the
text does not allow.
"""

from typing import Any

import pytest

from cypool.errors import SpecValueError
from cypool.spec.load import load
from cypool.spec.shapes import infer
from cypool.spec.windows import Axis, axes, inverse_axes, inverse_sizes, whole

POOL = """
op = "Pool"
domain = "ai.onnx"
[[version]]
since = 1
summary = "Pools."
shape_inference = true
attributes.kernel_shape = { type = "INTS", length = "D", minimum = 1, doc = "." }
attributes.strides = { type = "INTS", length = "D", each = 1, minimum = 1, doc = "." }
attributes.dilations = { type = "INTS", length = "D", each = 1, minimum = 1, doc = "." }
attributes.pads = { type = "INTS", length = "2 D", each = 0, minimum = 0, doc = "." }
attributes.auto_pad = { type = "STRING", default = "NOTSET", one_of = ["NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"], doc = "." }
attributes.ceil_mode = { type = "INT", default = 0, one_of = [0, 1], doc = "." }
types.T = { allowed = ["float"], doc = "." }
inputs.X = { type = "T", shape = "N C D+", doc = "." }
outputs.Y = { type = "T", shape = "N C windows*", doc = "." }
[version.windows]
kernel = "kernel_shape"
strides = "strides"
dilations = "dilations"
pads = "pads"
auto_pad = "auto_pad"
ceil_mode = "ceil_mode"
"""

UNPOOL = """
op = "Unpool"
domain = "ai.onnx"
[[version]]
since = 1
summary = "Undoes pooling."
shape_inference = true
attributes.kernel_shape = { type = "INTS", required = true, length = "D", minimum = 1, doc = "." }
attributes.strides = { type = "INTS", length = "D", each = 1, minimum = 1, doc = "." }
attributes.pads = { type = "INTS", length = "2 D", each = 0, minimum = 0, doc = "." }
types.T = { allowed = ["float"], doc = "." }
types.I = { allowed = ["int64"], doc = "." }
inputs.X = { type = "T", shape = "N C D+", doc = "." }
inputs.I = { type = "I", shape = "N C D+", holds = "index Y", doc = "." }
inputs.output_shape = { type = "I", shape = "rank", optional = true, holds = "shape Y", doc = "." }
outputs.Y = { type = "T", shape = "N C windows*", doc = "." }
windows = { kernel = "kernel_shape", strides = "strides", pads = "pads", inverse = true }
"""

(POOLING,) = load(POOL, "Pool.toml").versions
(UNPOOLING,) = load(UNPOOL, "Unpool.toml").versions


def axis(size: int, kernel: int, stride: int = 1, pads: tuple[int, int] = (0, 0), **attributes: Any) -> Axis:
    given = {"kernel_shape": (kernel,), "strides": (stride,), "pads": pads}
    return axes(POOLING, [size], given | {name: (value,) if name == "dilations" else value for name, value in attributes.items()})[0]


# size, kernel, stride, pads, the rest; how many windows and where the first begins: worked out by
# hand
COUNTS = [
    ((5, 3, 2, (1, 1)), {}, 3, -1),
    ((5, 2, 2), {"ceil_mode": 1}, 3, 0),
    ((5, 2, 2), {"ceil_mode": 1, "auto_pad": "VALID"}, 2, 0),
    ((5, 2, 3, (1, 1)), {"ceil_mode": 1}, 2, -1),
    ((4, 2, 1, (2, 2)), {}, 7, -2),
    ((6, 3, 2), {"auto_pad": "SAME_UPPER"}, 3, 0),
    ((6, 3, 2), {"auto_pad": "SAME_LOWER"}, 3, -1),
    ((6, 2, 1), {"auto_pad": "SAME_UPPER", "dilations": 3}, 6, -1),
    ((9, 1, 3), {"auto_pad": "SAME_LOWER"}, 3, 0),
    ((7, 2, 4), {"auto_pad": "SAME_UPPER", "ceil_mode": 1}, 2, 0),
    ((3, 4, 1), {}, 0, 0),
    ((3, 4, 2), {}, 0, 0),
    ((3, 4, 2), {"ceil_mode": 1}, 1, 0),
    ((3, 5, 2), {"ceil_mode": 1}, 0, 0),
    ((0, 3, 1, (1, 1)), {}, 0, -1),
    ((0, 2, 1, (1, 1)), {}, 1, -1),
    ((5, 2, 1, (2**62, 0)), {}, 4 + 2**62, -(2**62)),
]


@pytest.mark.parametrize(("along", "more", "count", "first"), COUNTS)
def test_windows_are_as_many_as_the_text_says(along: tuple[Any, ...], more: dict[str, Any], count: int, first: int) -> None:
    found = axis(*along, **more)
    assert (found.count, found.first) == (count, first)


def test_the_padded_end_is_that_of_the_input_and_not_of_the_overhang() -> None:
    assert axis(6, 3, 2, (1, 1), ceil_mode=1) == Axis(6, 4, -1, 2, 3, 1, 7)


def test_axes_take_their_own_attributes() -> None:
    found = axes(POOLING, [5, 7], {"kernel_shape": (1, 3), "strides": (2, 3), "pads": (0, 1, 2, 3), "dilations": (1, 2)})
    assert found == (Axis(5, 4, 0, 2, 1, 1, 7), Axis(7, 3, -1, 3, 3, 2, 10))


def test_a_whole_axis_is_one_window() -> None:
    assert whole(4) == axis(4, 4)


@pytest.mark.parametrize(
    ("along", "more", "message"),
    [
        ((3, 5), {}, r"^Pool-1: a window of 5 on spatial axis 0, which has 3 elements and padding of 0 and 0, leaves -1 outputs"),
        ((3, 3, 1, (1, 0)), {"auto_pad": "VALID"}, r"^Pool-1: pads is \[1, 0\] beside auto_pad VALID, expected one of the two"),
    ],
)
def test_what_leaves_no_window_or_contradicts_itself_is_refused(along: tuple[Any, ...], more: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecValueError, match=message):
        axis(*along, **more)


def test_pads_of_zeros_may_stand_beside_auto_pad() -> None:
    assert axis(6, 3, 2, (0, 0), auto_pad="SAME_LOWER").first == -1


def test_windows_need_a_kernel_even_where_the_schema_lets_it_be_left_out() -> None:
    with pytest.raises(SpecValueError, match=r"^Pool-1: attribute kernel_shape is missing, expected integers >= 1, one a spatial axis"):
        axes(POOLING, [3], {})


def test_a_symbolic_size_gives_an_unknown_number_of_windows() -> None:
    assert infer(POOLING, [("N", 3, "H", 6)], {"kernel_shape": (3, 3)}) == (("N", 3, None, 4),)


def test_a_rank_without_a_spatial_axis_is_refused() -> None:
    with pytest.raises(SpecValueError, match=r"^Pool-1: X has shape \(2, 3\), expected \(N, C, D1, ..., Dn\)$"):
        infer(POOLING, [(2, 3)], {"kernel_shape": ()})


def test_undoing_pooling_gives_the_size_that_windows_lie_in() -> None:
    given = {"kernel_shape": (2, 3), "strides": (2, 1), "pads": (0, 1, 0, 0)}
    assert inverse_sizes(UNPOOLING, [3, 4], given) == (6, 5)
    assert infer(UNPOOLING, [(1, 2, 3, 4), (1, 2, 3, 4)], given) == ((1, 2, 6, 5),)
    assert infer(UNPOOLING, [(1, 2, "H", 4), (1, 2, 3, None)], given) == ((1, 2, 6, 5),)
    with pytest.raises(SpecValueError, match=r"^Unpool-1: spatial axis 0 of the output would have size -1, expected 0 or more$"):
        inverse_sizes(UNPOOLING, [1], {"kernel_shape": (1,), "pads": (1, 1)})


def test_windows_that_are_undone_lie_in_the_output_or_beyond_it() -> None:
    given = {"kernel_shape": (2, 3), "strides": (2, 1), "pads": (0, 1, 0, 2)}
    assert inverse_axes(UNPOOLING, [3, 4], [4, 5], given) == (Axis(4, 3, 0, 2, 2, 1, 4), Axis(5, 4, -1, 1, 3, 1, 7))


def test_an_input_may_state_the_shape_of_the_output() -> None:
    inputs = [(1, 2, 3), (1, 2, 3), (3,)]
    given = {"kernel_shape": (1,), "pads": (9, 9)}  # by themselves they would leave a size below 0
    assert infer(UNPOOLING, inputs, given, {"output_shape": (1, 2, 7)}) == ((1, 2, 7),)
    assert infer(UNPOOLING, inputs, given) == ((1, 2, None),)
    for stated in ([1, 3, 7], [1, 2], [1, 2, -1], [1, 2, 7, 1]):
        with pytest.raises(SpecValueError, match=r"^Unpool-1: output_shape is \[.*\], expected \(1, 2, D1\) with sizes of 0 or more$"):
            infer(UNPOOLING, inputs, given, {"output_shape": stated})


def test_the_number_of_inputs_may_be_a_range() -> None:
    given = {"kernel_shape": (2,)}
    assert infer(UNPOOLING, [(1, 1, 3), (1, 1, 3), None], given) == ((1, 1, 4),)
    with pytest.raises(SpecValueError, match=r"^Unpool-1: 1 inputs, expected 2 to 3 \(X, I, output_shape\?\)$"):
        infer(UNPOOLING, [(1, 1, 3)], given)
    with pytest.raises(SpecValueError, match=r"^Unpool-1: I is missing, expected X, I, output_shape\?$"):
        infer(UNPOOLING, [(1, 1, 3), None], given)
