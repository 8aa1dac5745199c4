"""Every small change to the Python core: an operator, constant, bound, branch or statement each.

Left out are, and have tests in runtime/python/tests:

- modules without a rule that a vector could show (LEFT_OUT);
- words for people: docstrings, variables of _WORDS, all but the code of an IdemError, the default
  of `field`, and the names that check_range is given;
- what type checkers and decorators read: annotations, aliases of types, dataclass(frozen=True);
- names: a constant is changed where it is defined. But an enum's member becomes the next one.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType

from patterns import variants

# The exceptions' words, the public names, the handshake, and a record of None.
LEFT_OUT = {"__init__", "errors", "generated", "context"}
# _begins finds where in a text its fault is.
_WORDS = {"problem", "shown", "_PROBLEMS", "_begins"}

_COMPARED = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_COMPUTED = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
_SWAPPED = {"min": "max", "max": "min", "any": "all", "all": "any"}
# Functions of which one argument alone would do for most values.
_CHOOSING = {"min", "max", "abs"}
# Methods that give a text like their own: left out one by one.
_TEXT_METHODS = {"lstrip", "rstrip", "strip", "ljust", "lower", "upper", "replace", "translate"}
_PATTERN_FUNCTIONS = {"re.compile", "_matches"}
_RAISING = {"IdemError", "_fault", "_ill_formed"}
# Their first argument is a name for people, or a type.
_NAMING = {"check_range", "cast"}


@dataclass(frozen=True)
class Mutant:
    """One change to one module. Its name says where and what, whatever the line."""

    name: str
    module: str
    tree: ast.Module
    node: ast.AST
    replacement: ast.AST | None

    def code(self) -> CodeType:
        """The changed module, compiled."""
        changed = copy.deepcopy(self.tree)
        places = zip(ast.walk(self.tree), ast.walk(changed), strict=True)
        node = next(copied for original, copied in places if original is self.node)
        _Replace(node, self.replacement or ast.Pass()).visit(changed)
        return compile(ast.fix_missing_locations(changed), f"{self.module}.py", "exec")


Enums = dict[str, list[str]]
"""The members of each enum of the core."""


def enums_of(source: str) -> Enums:
    """The enums of a module."""
    return {
        node.name: [ast.unparse(a.targets[0]) for a in node.body if isinstance(a, ast.Assign)]
        for node in ast.parse(source).body
        if isinstance(node, ast.ClassDef) and [ast.unparse(b) for b in node.bases] == ["Enum"]
    }


def mutants_of(module: str, source: str, enums: Enums) -> Iterator[Mutant]:
    """The mutants of a module, in the order of its source."""
    tree = ast.parse(source)
    names: Counter[str] = Counter()
    for place, node, replacement, *label in _Changes(enums).of_body(tree.body, ""):
        after = ast.unparse(replacement) if replacement is not None else "(left out)"
        change = label[0] if label else f"{_short(ast.unparse(node))} -> {_short(after)}"
        name = f"{module}.{place}: {_ascii(change)}"
        names[name] += 1
        if names[name] > 1:
            name += f" #{names[name]}"
        yield Mutant(name, module, tree, node, replacement)


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 72 else text[:69] + "..."


def _ascii(text: str) -> str:
    printable = (c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return "".join(printable).encode("ascii", "backslashreplace").decode()


class _Replace(ast.NodeTransformer):
    def __init__(self, node: ast.AST, replacement: ast.AST) -> None:
        self.node, self.replacement = node, replacement

    def visit(self, node: ast.AST) -> ast.AST:
        if node is self.node:
            return self.replacement
        changed: ast.AST = self.generic_visit(node)
        return changed


_Change = tuple[str, ast.AST, ast.AST | None] | tuple[str, ast.AST, ast.AST | None, str]
"""Where, what, its replacement, and the words for both where they are not the code itself."""


class _Changes:
    """The changes of a module: where (functions and classes), the node, and what replaces it."""

    def __init__(self, enums: Enums) -> None:
        self.enums = enums

    def of_body(self, body: list[ast.stmt], place: str) -> Iterator[_Change]:
        for statement in body:
            yield from self._of_statement(statement, place)

    def _of_statement(self, node: ast.stmt, place: str) -> Iterator[_Change]:
        here = place or "module"
        match node:
            case ast.FunctionDef():
                inner = f"{place}.{node.name}" if place else node.name
                for argument, default in _defaults(node.args):
                    if argument.arg != "field":
                        yield from self._of_expression(default, inner)
                yield from self.of_body(node.body, inner)
            case ast.ClassDef():
                yield from self.of_body(node.body, f"{place}.{node.name}" if place else node.name)
            case ast.Assign() | ast.AnnAssign():
                target = node.targets[0] if isinstance(node, ast.Assign) else node.target
                name = ast.unparse(target)
                if name in _WORDS or node.value is None or _is_type(name, node.value):
                    return
                if isinstance(target, ast.Subscript):
                    yield here, node, None
                yield from self._of_expression(node.value, here if place else name)
            case ast.AugAssign():
                yield here, node, None
                yield here, node, _with(node, op=_COMPUTED[type(node.op)]())
                yield from self._of_expression(node.value, here)
            case ast.Expr():
                if not isinstance(node.value, ast.Constant):
                    yield here, node, None
                    yield from self._of_expression(node.value, here)
            case ast.Raise():
                yield here, node, None
                if node.exc is not None:
                    yield from self._of_expression(node.exc, here)
            case ast.Return(value=ast.expr() as returned):
                yield from self._of_expression(returned, here)
            case ast.If():
                raises = isinstance(node.body[-1], ast.Raise)  # which is left out itself
                yield from self._of_test(node.test, here, (True,) if raises else (True, False))
                yield from self.of_body([*node.body, *node.orelse], here)
            case ast.While():
                yield here, node.test, ast.Constant(False)
                yield from self._of_expression(node.test, here)
                yield from self.of_body(node.body, here)
            case ast.For():
                yield from self._of_expression(node.iter, here)
                yield from self.of_body(node.body, here)
            case ast.With():
                yield here, node, ast.If(ast.Constant(True), node.body, [])
                yield from self.of_body(node.body, here)
            case ast.Try():
                yield from self.of_body([*node.body, *node.orelse, *node.finalbody], here)
                for handler in node.handlers:
                    if not isinstance(handler.body[0], ast.Raise):
                        yield here, handler.body[0], ast.Raise()
                    yield from self.of_body(handler.body, here)
            case ast.Import() | ast.ImportFrom() | ast.Assert() | ast.Pass() | ast.Return():
                pass
            case _:
                raise NotImplementedError(f"mutants of {type(node).__name__}")

    def _of_test(
        self, node: ast.expr, here: str, always: tuple[bool, ...] = (True, False)
    ) -> Iterator[_Change]:
        for constant in always:
            yield here, node, ast.Constant(constant)
        yield from self._of_expression(node, here)

    def _of_expression(self, node: ast.AST, here: str) -> Iterator[_Change]:
        match node:
            case ast.Call():
                yield from self._of_call(node, here)
                return
            case ast.Compare():
                for index, op in enumerate(node.ops):
                    for other in _COMPARED[type(op)]:
                        ops = [*node.ops[:index], other(), *node.ops[index + 1 :]]
                        yield here, node, _with(node, ops=ops)
            case ast.BoolOp():
                other_op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
                yield here, node, _with(node, op=other_op)
                for index in range(len(node.values)):
                    values = _without(node.values, index)
                    yield here, node, values[0] if len(values) == 1 else _with(node, values=values)
            case ast.BinOp():
                yield here, node, _with(node, op=_COMPUTED[type(node.op)]())
            case ast.UnaryOp():
                yield here, node, copy.deepcopy(node.operand)
            case ast.IfExp():
                yield from self._of_test(node.test, here)
                yield from self._of_expression(node.body, here)
                yield from self._of_expression(node.orelse, here)
                return
            case ast.Constant():
                for constant in _other_constants(node.value):
                    yield here, node, ast.Constant(constant)
            case ast.FormattedValue(format_spec=ast.JoinedStr(values=[ast.Constant() as spec])):
                for other_spec in _other_specs(str(spec.value)):
                    yield here, spec, ast.Constant(other_spec)
                yield from self._of_expression(node.value, here)
                return
            case ast.Subscript(slice=ast.Slice() as bounds):
                for bound in ("lower", "upper"):
                    if getattr(bounds, bound) is not None:
                        yield here, node, _with(node, slice=_with(bounds, **{bound: None}))
            case ast.Set() | ast.Tuple() | ast.List():
                least = 2 if isinstance(node, ast.Set) else 3  # two are a pair, which has to be one
                for index in range(len(node.elts)) if len(node.elts) >= least else ():
                    yield here, node, _with(node, elts=_without(node.elts, index))
            case ast.Attribute():
                yield from self._of_attribute(node, here)
                return
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.comprehension):
                yield from self._of_expression(child.iter, here)
                for condition in child.ifs:
                    yield from self._of_test(condition, here)
            elif isinstance(child, (ast.expr, ast.keyword, ast.Slice)):
                yield from self._of_expression(child, here)

    def _of_attribute(self, node: ast.Attribute, here: str) -> Iterator[_Change]:
        members = self.enums.get(ast.unparse(node.value), [])
        if node.attr in members:
            following = members[(members.index(node.attr) + 1) % len(members)]
            yield here, node, _with(node, attr=following)
        if isinstance(node.value, ast.Call):
            for other in {"fullmatch": ("match", "search"), "match": ("search",)}.get(
                node.attr, ()
            ):
                yield here, node, _with(node, attr=other)
            yield from self._of_expression(node.value, here)

    def _of_call(self, node: ast.Call, here: str) -> Iterator[_Change]:
        function = node.func
        name = ast.unparse(function)
        arguments: list[ast.expr] = [*node.args, *(keyword.value for keyword in node.keywords)]
        if name in _PATTERN_FUNCTIONS:
            for label, pattern in _other_patterns(node.args[0]):
                yield here, node.args[0], pattern, label
            return
        if name in _SWAPPED:
            yield here, node, _with(node, func=ast.Name(_SWAPPED[name], ast.Load()))
        if name in _CHOOSING:
            for argument in node.args:
                yield here, node, copy.deepcopy(argument)
        for index, keyword in enumerate(node.keywords):
            if not _is_bool(keyword.value):  # which is changed itself
                yield here, node, _with(node, keywords=_without(node.keywords, index))
        if name in _RAISING:
            arguments = [a for a in node.args[:1] if isinstance(a, (ast.Constant, ast.IfExp))]
        elif name in _NAMING:
            arguments = node.args[1:]
        elif isinstance(function, ast.Attribute):
            text = function.value
            if function.attr == "split" and isinstance(text, ast.Constant) and not node.args:
                tokens = str(text.value).split()
                for index in range(len(tokens)):
                    yield here, text, ast.Constant(" ".join(_without(tokens, index)))
                return
            if function.attr in _TEXT_METHODS:
                yield here, node, copy.deepcopy(text)
            if function.attr.endswith("strip"):
                for argument in arguments:
                    for fewer in _fewer(argument):
                        yield here, argument, fewer
                arguments = []
            yield from self._of_expression(text, here)
        for argument in arguments:
            yield from self._of_expression(argument, here)


def _is_type(name: str, value: ast.expr) -> bool:
    """A type's alias, which is read by type checkers alone: Pair = tuple[...]."""
    return (
        isinstance(value, (ast.Subscript, ast.BinOp))
        and name.lstrip("_")[:1].isupper()
        and not name.isupper()
    )


def _is_bool(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, bool)


def _defaults(arguments: ast.arguments) -> Iterator[tuple[ast.arg, ast.expr]]:
    positional = [*arguments.posonlyargs, *arguments.args]
    yield from zip(
        positional[len(positional) - len(arguments.defaults) :], arguments.defaults, strict=True
    )
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if default is not None:
            yield argument, default


def _other_constants(value: object) -> Iterator[str | bytes | int]:
    match value:
        case bool():
            yield not value
        case int():
            yield value + 1
            yield value - 1
        case str():
            yield f"{value}?"
        case bytes():
            yield value + b"?"


def _other_specs(spec: str) -> Iterator[str]:
    """The format `04d` with another width, without its zero, and in the other case."""
    for index, character in enumerate(spec):
        if character.isdigit():
            numbers = {(int(character) + step) % 10 for step in (-1, 1)} if character != "0" else ()
            for other in ("", *map(str, numbers)):
                yield spec[:index] + other + spec[index + 1 :]
    if spec.swapcase() != spec and spec[-1] in "xX":
        yield spec.swapcase()


def _fewer(node: ast.expr) -> Iterator[ast.Constant]:
    """The characters of a constant less one. Less the only one, the method does nothing."""
    value = node.value if isinstance(node, ast.Constant) else ""
    if isinstance(value, (str, bytes)) and len(value) > 1:
        for index in range(len(value)):
            yield ast.Constant(value[:index] + value[index + 1 :])  # type: ignore[operator]


def _other_patterns(node: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    match node:
        case ast.Constant(value=str() as pattern):
            for label, other in variants(pattern):
                yield label, ast.Constant(other)
        case ast.Constant(value=bytes() as pattern):
            for label, other in variants(pattern.decode("latin-1")):
                yield label, ast.Constant(other.encode("latin-1"))
        case ast.JoinedStr():
            # What is put in is one character of a private area meanwhile.
            parts = dict(enumerate(node.values, 0xE000))
            text = "".join(
                str(part.value) if isinstance(part, ast.Constant) else chr(mark)
                for mark, part in parts.items()
            )
            marks = [mark for mark in parts if chr(mark) in text]
            for label, other in variants(text):
                if [ord(c) for c in other if ord(c) in parts] == marks:
                    yield label, _joined(other, parts)


def _joined(text: str, parts: dict[int, ast.expr]) -> ast.JoinedStr:
    return ast.JoinedStr([parts.get(ord(c)) or ast.Constant(c) for c in text])


def _without(items: list, index: int) -> list:  # type: ignore[type-arg]
    return [*items[:index], *items[index + 1 :]]


def _with(node: ast.AST, **fields: object) -> ast.AST:
    changed = copy.deepcopy(node)
    for name, value in fields.items():
        setattr(changed, name, copy.deepcopy(value))
    return changed
