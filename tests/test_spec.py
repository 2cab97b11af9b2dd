"""A name with parameters: what a text means, and that what is written is read again."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truant.errors import InvalidValue
from truant.spec import Spec, parse_parameters

# What a text means


@pytest.mark.parametrize(
    ("text", "name", "parameters"),
    [
        ("mar-ucb", "mar-ucb", {}),
        ("mar-ucb:", "mar-ucb", {}),
        ("mar-ucb:level=cautious,kappa=2", "mar-ucb", {"level": "cautious", "kappa": 2}),
        ("mar:gamma=0.5,1.0", "mar", {"gamma": (0.5, 1.0)}),
        ("mar:gamma=.5,1,K=3", "mar", {"gamma": (0.5, 1), "K": 3}),
        ("mar:K=3,gamma=.5,1,.25", "mar", {"K": 3, "gamma": (0.5, 1, 0.25)}),
        ("mar:arms=4,arms=5", "mar", {"arms": 5}),
        (" mar : gamma = .5 , 1 , K = 3 ", "mar", {"gamma": (0.5, 1), "K": 3}),
        ("x:a=1e3,b=-2,c=1_000", "x", {"a": 1000.0, "b": -2, "c": 1000.0}),
        ("x:a=true,b=False,c=null,d=None", "x", {"a": True, "b": False, "c": None, "d": None}),
        ("x:a=True,false", "x", {"a": (True, False)}),
        ('x:a="2",b=two words', "x", {"a": "2", "b": "two words"}),
        ("x:a=u=v,b=c:d", "x", {"a": "u=v", "b": "c:d"}),
        ("x:a=inf,b=-inf", "x", {"a": math.inf, "b": -math.inf}),
        ("x:a=,b=1", "x", {"a": "", "b": 1}),
        # quoted texts, and tuples within tuples
        ('x:a="u, v",b=1,2', "x", {"a": "u, v", "b": (1, 2)}),
        ('x:a="k=1, l: \\"2\\"" , b = "" ', "x", {"a": 'k=1, l: "2"', "b": ""}),
        ('x:a="u=1","v,w",3', "x", {"a": ("u=1", "v,w", 3)}),
        ("x:a=[1],b=[[1,2],[3,4]],c=[]", "x", {"a": (1,), "b": ((1, 2), (3, 4)), "c": ()}),
        ('x:a={"u": [1, 2], "v": 3},b=4', "x", {"a": {"u": [1, 2], "v": 3}, "b": 4}),
        # quotes and brackets that are no JSON stand for themselves
        ('x:a=5" pipe,b=1', "x", {"a": '5" pipe', "b": 1}),
        ("x:a=[1,b=2", "x", {"a": "[1", "b": 2}),
    ],
)
def test_parse(text, name, parameters):
    found = Spec.parse(text)
    assert (found.name, found.parameters) == (name, parameters)
    for key, value in parameters.items():
        assert type(found.parameters[key]) is type(value), key


def test_nan_is_read_as_a_number_so_that_whoever_gets_it_can_refuse_it():
    for text in ("x:a=nan", "x:a=NaN"):
        assert math.isnan(Spec.parse(text).parameters["a"])


@pytest.mark.parametrize("text", ["level", ",level=1", "1,2", '"u=1"'])
def test_a_value_without_a_key_is_refused(text):
    with pytest.raises(InvalidValue) as refusal:
        Spec.parse(f"mar-ucb:{text}")
    assert str(refusal.value) == f"Parameters are written key=value, got {text!r}."


def test_what_is_no_text_is_refused():
    with pytest.raises(InvalidValue, match=r"^A name is a text, e\.g\. 'mar' or 'mar:gamma=0\.5', got 3\.$"):
        Spec.parse(3)


def test_deep_brackets_and_endless_numbers_are_texts_and_numbers():
    assert Spec.parse("x:a=" + "[" * 100_000).parameters == {"a": "[" * 100_000}
    assert Spec.parse("x:a=" + "[" * 900 + "]" * 900).parameters == {"a": "[" * 900 + "]" * 900}
    assert Spec.parse(f"x:a=1{'0' * 5000}").parameters == {"a": math.inf}


def test_several_texts_are_one_set_of_parameters():
    assert parse_parameters(["gamma=.5,1", "K=3"]) == {"gamma": (0.5, 1), "K": 3}
    with pytest.raises(InvalidValue, match=r"got '3'\.$"):
        parse_parameters(["gamma=.5", "3"])  # a new text begins with a key


def test_more_parameters_come_on_top():
    assert Spec.parse("mar:K=2,sd=1", K=3).parameters == {"K": 3, "sd": 1}


# What is written


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({}, "x"),
        ({"level": "cautious", "kappa": 2}, "x:level=cautious,kappa=2"),
        ({"kappa": 2, "level": "cautious"}, "x:kappa=2,level=cautious"),
        ({"a": 2.0, "b": 0.1, "c": 0.1 + 1e-15, "d": 1 / 3}, "x:a=2,b=0.1,c=0.100000000000001,d=0.3333333333333333"),
        ({"a": 1e15, "b": 1e22, "c": 1e-5, "d": -0.0}, "x:a=1000000000000000,b=1e+22,c=1e-05,d=-0.0"),
        ({"a": math.inf, "b": -math.inf, "c": math.nan}, "x:a=inf,b=-inf,c=nan"),
        ({"a": True, "b": None}, "x:a=true,b=null"),
        ({"a": "true", "b": "2", "c": "", "d": " u"}, 'x:a="true",b="2",c="",d=" u"'),
        ({"a": "u, v", "b": "u=v", "c": "c:d e", "d": "ü"}, 'x:a="u, v",b="u=v",c=c:d e,d=ü'),
        ({"a": (0.5, 1.0), "b": [1, "u,v"]}, 'x:a=0.5,1,b=1,"u,v"'),
        ({"a": (2.0,), "b": (), "c": ((1, 2), ("u", math.inf))}, 'x:a=[2],b=[],c=[[1,2],["u",Infinity]]'),
        ({"a": np.int64(3), "b": np.array([0.5, 1.0])}, "x:a=3,b=0.5,1"),
    ],
)  # fmt: skip
def test_write(parameters, text):
    spec = Spec("x", parameters)
    assert str(spec) == text
    assert Spec.parse(text) == spec


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**400), 10**400) | st.floats() | st.text(),
    lambda items: st.lists(items, max_size=4).map(tuple) | st.dictionaries(st.text(), items, max_size=3),
    max_leaves=8,
)
NAMES = st.text().map(str.strip).filter(lambda name: ":" not in name)
KEYS = st.from_regex(r"[A-Za-z_]\w*", fullmatch=True)


@given(name=NAMES, parameters=st.dictionaries(KEYS, VALUES, max_size=4))
def test_what_is_written_is_read_again(name, parameters):
    spec = Spec(name, parameters)
    again = Spec.parse(str(spec))
    assert again == spec
    assert hash(again) == hash(spec)
    assert str(again) == str(spec)
    assert list(again.parameters) == list(parameters)
    for key, value in parameters.items():
        if isinstance(value, float | int | str | tuple) and not has_nan(value):
            assert again.parameters[key] == value  # to the last digit


def has_nan(value):
    return any(map(has_nan, value)) if isinstance(value, tuple) else isinstance(value, dict) or value != value


@given(st.text())
def test_any_text_means_something_or_is_refused(text):
    try:
        spec = Spec.parse(f"x:{text}")
    except InvalidValue:
        return
    assert all("=" not in key and "," not in key for key in spec.parameters)


# Which are the same


def test_one_policy_in_two_spellings_is_one():
    one, two = Spec.parse("mar-ucb:level=1,kappa=2"), Spec.parse(" mar-ucb:kappa=2.0, level=1.0")
    assert one == two
    assert {one: 1}[two] == 1
    assert pickle.loads(pickle.dumps(one)) == two


@pytest.mark.parametrize(
    "other", ["x:a=2", "x:b=1", "y:a=1", "x", "x:a=true", 'x:a="1"', "x:a=[1]", "x:a=1,1", "x:a=1,b=1"]
)
def test_others_are_not(other):
    assert Spec.parse(other) != Spec("x", {"a": 1})


def test_a_spec_is_no_text():
    assert Spec("x") != "x"
    assert Spec.parse("x:a=nan") == Spec("x", {"a": math.nan})


def test_what_cannot_be_written_is_handed_on_and_refused_only_as_text():
    spec = Spec("table", {"data": pd.DataFrame({"a": [1]})})
    assert spec == spec
    with pytest.raises(
        InvalidValue, match=r"a number, a text, true, false, null or a list of these, got DataFrame\.$"
    ):
        str(spec)


@pytest.mark.parametrize("text", ['table:path="a, b', "table:path='a, b'", "table:path='a'"])
def test_quotes_that_are_not_json_are_refused(text):
    """They would be cut at their commas, or stay part of the text."""
    with pytest.raises(InvalidValue, match='key="a, b"'):
        Spec.parse(text)
