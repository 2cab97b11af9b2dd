"""What a compiled function reaches: the functions below it, and the values that numba takes as constants.

numba itself does not notice a change in a function that is called. So compiled code is kept under a key of all that
it reaches: the source files of its functions' modules (`truant.fingerprint`), their code as it is in memory, and the
constants that they use.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import CodeType, FunctionType, ModuleType
from typing import Any, cast

import llvmlite
import numba
import numpy as np
from numba.core.extending import _Intrinsic
from numba.core.registry import CPUDispatcher

from truant.fingerprint import code_fingerprint, source_file

# what decides machine code beside the source: versions, and numba's own settings
_SETTINGS = sorted(f"{name}={value}" for name, value in os.environ.items() if name.startswith("NUMBA_"))
VERSIONS = f"{sys.version} numba {numba.__version__} llvmlite {llvmlite.__version__} numpy {np.__version__} {_SETTINGS}"


@dataclass
class Reach:
    """The compiled functions below a function, and a text for all that decides their code."""

    functions: list[CPUDispatcher] = field(default_factory=list)
    heavy: list[Any] = field(default_factory=list)  # those of them that are compiled by themselves
    texts: list[str] = field(default_factory=list)
    modules: set[str] = field(default_factory=set)
    codes: list[CodeType] = field(default_factory=list)

    @classmethod
    def of(cls, function: FunctionType, names: dict[str, Any]) -> Reach:
        """All that a function reaches, with its global names as given."""
        reach = cls()
        reach._add(function, names)
        return reach

    @property
    def lean(self) -> bool:
        """Whether none of the functions makes arrays."""
        return all(function.targetoptions.get("_nrt") is False for function in self.functions)

    @property
    def can_be_kept(self) -> bool:
        """Code that was typed in, or executed from a text, has no module through which numba could load it again."""
        known = all(inspect.getmodule(function.py_func) for function in self.functions)
        return known and all(module and source_file(module) for module in self.modules)

    def key(self, **options: Any) -> str:
        """A name for all this code and for what it is compiled with."""
        digest = hashlib.sha256(f"{VERSIONS} {sorted(options.items())}".encode())
        digest.update(code_fingerprint(*filter(None, self.modules)).encode())
        for text in self.texts:
            digest.update(f"{len(text)} {text}".encode())
        return digest.hexdigest()[:24]

    def _add(self, function: FunctionType, names: dict[str, Any]) -> None:
        used: list[str] = []
        for code in _codes(function.__code__):
            constants = [c for c in code.co_consts if not isinstance(c, CodeType)]
            self.texts.append(
                f"{code.co_name} {code.co_code.hex()} {constants} {code.co_names} {code.co_varnames}"
            )
            used.extend(code.co_names)
            self.codes.append(code)
        self.texts.append(str(function.__module__))
        self._add_value(function.__defaults__)
        self.modules.add(function.__module__ or "")  # code that was executed from a text has none
        values = [names.get(name) for name in used]
        values += [cell.cell_contents for cell in function.__closure__ or ()]
        modules = [value for value in values if isinstance(value, ModuleType)]
        for module in modules:  # and the modules within them: package.module.function
            inner = [vars(module).get(name) for name in used]
            modules += [each for each in inner if isinstance(each, ModuleType) and each not in modules]
            values += inner
        for value in values:
            self._add_value(value)

    def _add_value(self, value: Any) -> None:
        if isinstance(value, np.ndarray):  # numba takes a global array as a constant, too
            self.texts.append(f"{value.dtype} {value.shape} {value.strides} {value.tobytes().hex()}")
        elif isinstance(value, tuple):
            self.texts.append(f"{type(value).__qualname__} {getattr(value, '_fields', '')} {len(value)}")
            for inner in value:
                self._add_value(inner)
        elif isinstance(value, CPUDispatcher | _Intrinsic):
            body = getattr(value, "heavy", None)
            function = body.implementation if body is not None else value
            if function in self.functions:  # which of them it is: two names may share a function or swap two
                self.texts.append(f"function {self.functions.index(function)}")
            elif not isinstance(function, CPUDispatcher):
                self.texts.append(repr(function))
            else:
                if body is not None:
                    self.heavy.append(body)
                self.functions.append(function)
                self.texts.append(repr(sorted(function.targetoptions.items())))
                below = cast(FunctionType, function.py_func)
                self._add(below, below.__globals__)
        elif hasattr(value, "__name__"):
            # a class, a module, a function of numpy: its repr may hold an address
            fields = getattr(value, "_fields", "")
            self.texts.append(f"{getattr(value, '__module__', '')} {value.__name__} {fields}")
        else:  # numbers, texts, None, types of numba and numpy: all that numba takes as a constant
            self.texts.append(f"{type(value)} {value!r}")


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def copy_of(function: FunctionType, name: str, names: dict[str, Any], module: str = "") -> FunctionType:
    """The same function with other global names, under a name of its own, by which its machine code is found."""
    copy = FunctionType(function.__code__, names, name, function.__defaults__, function.__closure__)
    copy.__qualname__, copy.__module__ = name, module or function.__module__
    return copy
