"""Heavy functions: compiled once, and called by all that use them instead of being compiled into each of them.

numba compiles a function together with everything that it calls. That is right for a few instructions in every
round, and wrong for a likelihood fit: it would be compiled again for each world and index. A heavy function is
compiled by itself, as a C function with a name of its own; code that calls it knows the name only.
"""

from __future__ import annotations

import dis
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any, cast

import llvmlite.binding
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.ccallback import CFunc
from numba.core.compiler_lock import global_compiler_lock
from numba.core.errors import TypingError
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

from truant.compile.marks import LEAN, Function, compiling, hot, lean
from truant.compile.reach import Reach, copy_of
from truant.compile.store import CompiledCode

# called by code that has let go of Python's lock already
_C_OPTIONS = {key: value for key, value in LEAN.items() if key != "nogil"}


def heavy(signature: Any) -> Callable[[Function], Function]:
    """Mark a lean function that is worth a call of its own; numbers, flags, arrays and named tuples go in.

    Parameters
    ----------
    signature : in `truant.compile.marks`, such as `NUMBER(TABLE, VECTOR, FLAG)`; returns a number or nothing.
    """

    def mark(function: Function) -> Function:
        body = Heavy(lean(function), signature)
        written = cast(FunctionType, function)
        arguments = ", ".join(written.__code__.co_varnames[: written.__code__.co_argcount])
        call: Any = intrinsic(body.call)
        names = {"_heavy_call": call}
        exec(f"def called({arguments}):\n    return _heavy_call(({arguments},))\n", names)
        called = copy_of(
            cast(FunctionType, names.pop("called")), function.__name__, names, function.__module__
        )
        called.__doc__ = function.__doc__
        marked: Any = hot(called)
        call.heavy = marked.heavy = body
        return cast(Function, marked)

    return mark


class Heavy:
    """A function that is compiled by itself."""

    def __init__(self, implementation: Any, signature: Any) -> None:
        self.implementation, self.signature = implementation, signature
        self._symbol = ""
        self._compiled: CFunc | None = None  # kept alive: others have its address

    @global_compiler_lock  # type: ignore[untyped-decorator]
    def load(self) -> str:
        """The name by which its machine code is found; compiled or loaded first, if need be."""
        if self._symbol:
            return self._symbol
        function = cast(FunctionType, self.implementation.py_func)
        reach = Reach.of(function, function.__globals__)
        if self in reach.heavy:
            raise TypeError(f"The heavy function {function.__name__!r} calls itself.")
        if any(step.opname == "RAISE_VARARGS" for code in reach.codes for step in dis.get_instructions(code)):
            raise TypeError(
                f"The heavy function {function.__name__!r} raises, which its callers would not notice."
            )
        symbols = [below.load() for below in reach.heavy]
        name = f"{function.__name__}_{reach.key(heavy=str(self.signature), symbols=symbols)}"
        flat = [kind for given in self.signature.args for kind in flattened(given)]
        compiled: Any = CFunc(self._receiver(name), (tuple(flat), self.signature.return_type), {}, _C_OPTIONS)
        if reach.can_be_kept:
            compiled._cache = CompiledCode(name)
        with compiling():
            compiled.compile()
        self._compiled, self._symbol = compiled, f"truant_{name}"
        llvmlite.binding.add_symbol(self._symbol, compiled.address)
        return self._symbol

    def _receiver(self, name: str) -> FunctionType:
        """A function of plain numbers and pointers that puts the arguments together again."""
        names: dict[str, Any] = {"implementation": self.implementation, "array_at": array_at}
        flat = (f"x{i}" for i in range(1000))
        used: list[str] = []
        arguments = [_rebuilt(kind, flat, used, names) for kind in self.signature.args]
        source = f"def receive({', '.join(used)}):\n    return implementation({', '.join(arguments)})\n"
        exec(source, names)
        module = self.implementation.py_func.__module__
        return copy_of(cast(FunctionType, names.pop("receive")), name, names, module)

    def call(self, typing: Any, given: Any) -> Any:
        """What numba puts in the place of a call with a tuple: the arguments taken apart, and the call by name."""
        name = self.implementation.__name__
        for had, wanted in zip(given.types, self.signature.args, strict=True):
            if typing.can_convert(had, wanted) is None:
                raise TypingError(f"The heavy function {name!r} takes {wanted} where it was given {had}.")
        symbol = self.load()
        kinds = types.Tuple(self.signature.args)

        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            flat = _taken_apart(context, builder, kinds, values[0])
            none = signature.return_type == types.void
            returned = ir.VoidType() if none else context.get_value_type(signature.return_type)
            shape = ir.FunctionType(returned, [value.type for value in flat])
            function = cgutils.get_or_insert_function(builder.module, shape, symbol)
            result = builder.call(function, flat)
            return context.get_dummy_value() if none else result

        return self.signature.return_type(kinds), generate


def flattened(kind: Any) -> list[Any]:
    """The plain types that an argument is handed over as."""
    if isinstance(kind, types.Array):
        if kind.layout != "C" or not kind.ndim:
            raise TypeError(f"A heavy function takes arrays whose rows lie one behind the other, not {kind}.")
        return [types.CPointer(kind.dtype), *[types.intp] * kind.ndim]
    if isinstance(kind, types.BaseTuple):
        return [part for inner in kind.types for part in flattened(inner)]
    return [kind]


def _rebuilt(kind: Any, flat: Iterator[str], used: list[str], names: dict[str, Any]) -> str:
    """The expression that puts an argument together again."""
    if isinstance(kind, types.BaseTuple):
        maker = f"make{len(names)}"
        names[maker] = getattr(kind, "instance_class", None)
        if names[maker] is None:
            return f"({''.join([_rebuilt(inner, flat, used, names) + ', ' for inner in kind.types])})"
        return f"{maker}({', '.join([_rebuilt(inner, flat, used, names) for inner in kind.types])})"
    own = [next(flat) for _ in flattened(kind)]
    used += own
    return f"array_at({own[0]}, ({', '.join(own[1:])},))" if isinstance(kind, types.Array) else own[0]


def _taken_apart(context: Any, builder: Any, kind: Any, value: Any) -> list[Any]:
    if isinstance(kind, types.Array):
        array = make_array(kind)(context, builder, value)
        return [array.data, *cgutils.unpack_tuple(builder, array.shape, kind.ndim)]
    if isinstance(kind, types.BaseTuple):
        inner = cgutils.unpack_tuple(builder, value, len(kind.types))
        pairs = zip(kind.types, inner, strict=True)
        return [part for each, single in pairs for part in _taken_apart(context, builder, each, single)]
    return [value]


@intrinsic  # type: ignore[untyped-decorator]
def array_at(typing: Any, pointer: Any, lengths: Any) -> Any:
    """The array that begins at a pointer, row after row (numba's own `carray` counts references)."""
    array_type = types.Array(pointer.dtype, len(lengths), "C")

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        array = make_array(array_type)(context, builder)
        size = context.get_abi_sizeof(context.get_data_type(array_type.dtype))
        step = itemsize = context.get_constant(types.intp, size)
        shape = cgutils.unpack_tuple(builder, values[1], len(lengths))
        strides: list[Any] = []
        for length in reversed(shape):
            strides.insert(0, step)
            step = builder.mul(step, length)
        populate_array(array, values[0], tuple(shape), tuple(strides), itemsize, None)
        return array._getvalue()

    return array_type(pointer, lengths), generate
