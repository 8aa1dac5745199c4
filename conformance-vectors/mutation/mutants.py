"""Every small change to the Python core: one operator, constant, boundary, branch or statement each."""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType

from patterns import variants

# What holds no rule that a vector could show: the exceptions' words, the public names, and the handshake.
# Their behaviour is in runtime/python/tests.
LEFT_OUT = {"__init__", "errors", "generated", "context"}

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
    ast.Mod: ast.FloorDiv,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
_SWAPPED = {"min": "max", "max": "min", "any": "all", "all": "any"}
# Methods that give a text like their own: left out one by one.
_TEXT_METHODS = {
    "lstrip",
    "rstrip",
    "strip",
    "ljust",
    "lower",
    "upper",
    "replace",
    "translate",
    "title",
    "casefold",
}
# Variables that hold words for people.
_WORDS = {"problem", "shown", "_PROBLEMS"}


@dataclass(frozen=True)
class Mutant:
    """One change to one module. The name says where and what, and does not move with line numbers."""

    name: str
    module: str
    tree: ast.Module
    node: ast.AST
    replacement: ast.AST | None

    def code(self) -> CodeType:
        """The changed module, compiled."""
        changed = _Replace(self.node, self.replacement).visit(copy.deepcopy(self.tree))
        return compile(ast.fix_missing_locations(changed), f"{self.module}.py", "exec")


def mutants_of(module: str, source: str) -> Iterator[Mutant]:
    """The mutants of a module, in the order of its source."""
    tree = ast.parse(source)
    _number(tree)
    names: Counter[str] = Counter()
    for place, node, replacement in _changes(tree):
        after = ast.unparse(replacement) if replacement is not None else "(left out)"
        name = f"{module}.{place}: {_short(ast.unparse(node))} -> {_short(after)}"
        names[name] += 1
        if names[name] > 1:
            name += f" #{names[name]}"
        yield Mutant(name, module, tree, node, replacement)


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 72 else text[:69] + "..."


def _number(tree: ast.Module) -> None:
    for number, node in enumerate(ast.walk(tree)):
        if isinstance(node, (ast.expr, ast.stmt)):  # operators are shared by all trees
            node.number = number  # type: ignore[attr-defined]


class _Replace(ast.NodeTransformer):
    def __init__(self, node: ast.AST, replacement: ast.AST | None) -> None:
        self.number, self.replacement = node.number, replacement  # type: ignore[attr-defined]

    def visit(self, node: ast.AST) -> ast.AST | None:
        if getattr(node, "number", None) == self.number:
            if self.replacement is None:
                return ast.Pass()
            return self.replacement
        return self.generic_visit(node)


_Change = tuple[str, ast.AST, ast.AST | None]


def _changes(tree: ast.Module) -> Iterator[_Change]:
    for statement in tree.body:
        yield from _of_statement(statement, "")


def _of_statement(node: ast.stmt, place: str) -> Iterator[_Change]:
    here = place or "module"
    match node:
        case ast.FunctionDef():
            inner = f"{place}.{node.name}" if place else node.name
            for argument, default in _defaults(node.args):
                if argument.arg != "field":
                    yield from _of_expression(default, inner)
            for child in node.body:
                yield from _of_statement(child, inner)
        case ast.ClassDef():
            for child in node.body:
                yield from _of_statement(child, f"{place}.{node.name}" if place else node.name)
        case ast.Assign() | ast.AnnAssign():
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            name = ast.unparse(targets[0])
            if name in _WORDS or node.value is None or _is_type(name, node.value):
                return
            yield from _of_expression(node.value, here if place else name)
        case ast.AugAssign():
            yield here, node, None
            if type(node.op) in _COMPUTED:
                yield here, node, _with(node, op=_COMPUTED[type(node.op)]())
            yield from _of_expression(node.value, here)
        case ast.Expr():
            if not isinstance(node.value, ast.Constant):
                yield here, node, None
                yield from _of_expression(node.value, here)
        case ast.Raise():
            yield here, node, None
            if node.exc is not None:
                yield from _of_expression(node.exc, here)
        case ast.Return():
            if node.value is not None:
                yield from _of_expression(node.value, here)
        case ast.If():
            yield from _of_test(node.test, here)
            for child in (*node.body, *node.orelse):
                yield from _of_statement(child, here)
        case ast.While():
            yield here, node.test, ast.Constant(False)
            yield from _of_expression(node.test, here)
            for child in node.body:
                yield from _of_statement(child, here)
        case ast.For():
            yield from _of_expression(node.iter, here)
            for child in node.body:
                yield from _of_statement(child, here)
        case ast.With():
            for child in node.body:
                yield from _of_statement(child, here)
        case ast.Try():
            bodies = [node.body, node.orelse, node.finalbody, *(h.body for h in node.handlers)]
            for child in (child for body in bodies for child in body):
                yield from _of_statement(child, here)


def _is_type(name: str, value: ast.expr) -> bool:
    """A type's alias, which is read by type checkers alone: Pair = tuple[...]."""
    return (
        isinstance(value, (ast.Subscript, ast.BinOp))
        and name.lstrip("_")[:1].isupper()
        and not name.isupper()
    )


def _defaults(arguments: ast.arguments) -> Iterator[tuple[ast.arg, ast.expr]]:
    positional = [*arguments.posonlyargs, *arguments.args]
    yield from zip(
        positional[len(positional) - len(arguments.defaults) :], arguments.defaults, strict=True
    )
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if default is not None:
            yield argument, default


def _of_test(node: ast.expr, here: str) -> Iterator[_Change]:
    if not isinstance(node, ast.Compare) or len(node.ops) > 1:
        yield here, node, ast.UnaryOp(ast.Not(), copy.deepcopy(node))
    yield from _of_expression(node, here)


def _of_expression(node: ast.AST, here: str) -> Iterator[_Change]:
    if isinstance(node, ast.Call):
        yield from _of_call(node, here)
        return
    match node:
        case ast.Compare():
            for index, op in enumerate(node.ops):
                for other in _COMPARED[type(op)]:
                    ops = [*node.ops[:index], other(), *node.ops[index + 1 :]]
                    yield here, node, _with(node, ops=ops)
        case ast.BoolOp():
            other_op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
            yield here, node, _with(node, op=other_op)
            for index in range(len(node.values)):
                values = [*node.values[:index], *node.values[index + 1 :]]
                yield (
                    here,
                    node,
                    copy.deepcopy(values[0]) if len(values) == 1 else _with(node, values=values),
                )
        case ast.BinOp():
            if type(node.op) in _COMPUTED:
                yield here, node, _with(node, op=_COMPUTED[type(node.op)]())
        case ast.UnaryOp():
            yield here, node, copy.deepcopy(node.operand)
        case ast.IfExp():
            yield from _of_test(node.test, here)
            yield from _of_expression(node.body, here)
            yield from _of_expression(node.orelse, here)
            return
        case ast.Constant():
            for other in _other_constants(node.value):
                yield here, node, ast.Constant(other)
        case ast.Subscript(slice=ast.Slice() as bounds):
            for bound in ("lower", "upper"):
                if getattr(bounds, bound) is not None:
                    yield here, node, _with(node, slice=_with(bounds, **{bound: None}))
        case ast.Set() | ast.Tuple() | ast.List():
            for index in range(len(node.elts)) if len(node.elts) > 2 else ():
                yield here, node, _with(node, elts=[*node.elts[:index], *node.elts[index + 1 :]])
        case ast.Attribute():
            return  # a name: what it stands for is changed where it is defined
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.comprehension):
            yield from _of_expression(child.iter, here)
            for condition in child.ifs:
                yield from _of_test(condition, here)
        elif isinstance(child, (ast.expr, ast.keyword, ast.Slice)):
            yield from _of_expression(child, here)


def _of_call(node: ast.Call, here: str) -> Iterator[_Change]:
    function = node.func
    arguments = [*node.args, *node.keywords]
    if isinstance(function, ast.Name):
        if function.id in _SWAPPED:
            yield here, node, _with(node, func=ast.Name(_SWAPPED[function.id], ast.Load()))
        if function.id in {"IdemError", "_fault", "_ill_formed"}:
            arguments = [a for a in node.args[:1] if isinstance(a, (ast.Constant, ast.IfExp))]
        if function.id in {"check_range", "cast"}:
            arguments = node.args[1:]  # the first is a name for people, or a type
    elif isinstance(function, ast.Attribute):
        if ast.unparse(function) == "re.compile":
            pattern = node.args[0]
            if isinstance(pattern, ast.Constant):
                for other in _other_patterns(pattern.value):
                    yield here, pattern, ast.Constant(other)
                return
        if function.attr in _TEXT_METHODS:
            yield here, node, copy.deepcopy(function.value)
        words = function.value
        if function.attr == "split" and isinstance(words, ast.Constant) and not node.args:
            tokens = str(words.value).split()
            for index in range(len(tokens)):
                yield here, words, ast.Constant(" ".join([*tokens[:index], *tokens[index + 1 :]]))
            return
        yield from _of_expression(function.value, here)
    for argument in arguments:
        yield from _of_expression(
            argument.value if isinstance(argument, ast.keyword) else argument, here
        )


def _other_patterns(pattern: str | bytes) -> Iterator[str | bytes]:
    if isinstance(pattern, bytes):
        yield from (other.encode("latin-1") for other in variants(pattern.decode("latin-1")))
    else:
        yield from variants(pattern)


def _other_constants(value: object) -> Iterator[object]:
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


def _with(node: ast.AST, **fields: object) -> ast.AST:
    changed = copy.deepcopy(node)
    vars(changed).pop("number", None)
    for name, value in fields.items():
        setattr(changed, name, copy.deepcopy(value))
    return changed
