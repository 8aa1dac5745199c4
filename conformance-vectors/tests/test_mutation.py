"""The mutation proof itself: which mutants there are, and what passes and fails a run."""

import ast
import json

import judge
import mutants
import patterns
import proof
import pytest
import wrong_ports

PLANTED = '''
"""Words."""
LIMIT = 3
Alias = dict[str, int]
_grammar = re.compile(r"[a-c]x{2}").fullmatch


class Colour(Enum):
    RED = "RED"
    BLUE = "BLUE"


def paint(n: int, field: str = "", deep: bool = False) -> str:
    """Words."""
    if n > LIMIT:
        problem = f"is {n}"
        raise IdemError("PAINT_RANGE", problem, field, n)
    table["n"] = f"{n:02d}"
    return min(n, 7) if deep else Colour.RED
'''

EXPECTED = r"""
LIMIT: 3 -> 4
LIMIT: 3 -> 2
_grammar: re.compile('[a-c]x{2}').fullmatch -> re.compile('[a-c]x{2}').match
_grammar: re.compile('[a-c]x{2}').fullmatch -> re.compile('[a-c]x{2}').search
_grammar: token 1, [a-c] -> [a-c]?
_grammar: token 1, [a-c] -> [b-c]
_grammar: token 1, [a-c] -> [`-c]
_grammar: token 1, [a-c] -> [a-d]
_grammar: token 1, [a-c] -> [a-b]
_grammar: token 2, x -> (left out)
_grammar: token 3, {2} -> {1}
_grammar: token 3, {2} -> {3}
Colour: 'RED' -> 'RED?'
Colour: 'BLUE' -> 'BLUE?'
paint: False -> True
paint: n > LIMIT -> True
paint: n > LIMIT -> n >= LIMIT
paint: n > LIMIT -> n <= LIMIT
paint: raise IdemError('PAINT_RANGE', problem, field, n) -> (left out)
paint: 'PAINT_RANGE' -> 'PAINT_RANGE?'
paint: table['n'] = f'{n:02d}' -> (left out)
paint: '02d' -> '2d'
paint: '02d' -> '0d'
paint: '02d' -> '01d'
paint: '02d' -> '03d'
paint: deep -> True
paint: deep -> False
paint: min(n, 7) -> max(n, 7)
paint: min(n, 7) -> n
paint: min(n, 7) -> 7
paint: 7 -> 8
paint: 7 -> 6
paint: Colour.RED -> Colour.BLUE
"""


def planted(source=PLANTED):
    return list(mutants.mutants_of("planted", source, mutants.enums_of(source)))


def test_every_small_change_and_no_other():
    names = [mutant.name.removeprefix("planted.") for mutant in planted()]
    assert names == EXPECTED.strip().splitlines()


def test_names_do_not_move_with_lines_and_are_one_mutant_each():
    names = [mutant.name for mutant in planted()]
    moved = planted("\n\n# A comment.\n" + PLANTED)
    assert [mutant.name for mutant in moved] == names
    everything = [mutant.name for mutant in proof.all_mutants()]
    assert len(set(everything)) == len(everything) > 2000


def test_a_mutant_is_its_module_with_one_change():
    (mutant,) = [m for m in planted("def half(n):\n    return n // 2\n") if "-> n * 2" in m.name]
    names = {}
    exec(mutant.code(), names)
    assert names["half"](3) == 6


def test_a_statement_that_the_tool_does_not_know_is_not_passed_over():
    with pytest.raises(NotImplementedError, match="AsyncFor"):
        planted(
            "def f():\n    pass\nasync def g():\n    pass\n".replace(
                "async def g():", "async for x in y:"
            )
        )


@pytest.mark.parametrize(
    ("pattern", "some"),
    [
        ("a+", ["a", "a*"]),
        ("(?:a|b)?", ["(?:a|b)", "(?:a|b)*", "(?:a?|b)?", "(?:|b)?"]),
        (r"\.[0-9]{1,9}", [r".[0-9]{1,9}", r"\.?[0-9]{1,9}", r"\.[0-9]{0,9}", r"\.[0-9]{1,10}"]),
        ("(?=x)[^ -~]", ["[^ -~]", "(?=x)[^!-~]", "(?=x)[^ -\x7f]"]),
    ],
)
def test_changes_of_a_pattern(pattern, some):
    found = [changed for _, changed in patterns.variants(pattern)]
    assert set(some) <= set(found)
    assert pattern not in found
    assert len(set(found)) == len(found)


OPERATORS = (ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.Compare, ast.AugAssign, ast.Constant)


def test_every_operator_and_constant_of_the_core_has_a_mutant():
    """But for what the docstring of mutants.py says."""
    for module, found in by_module(proof.all_mutants()).items():
        changed = {mutant.node for mutant in found}
        tree = found[0].tree
        left_out = {id(inner) for outer in unseen(tree) for inner in ast.walk(outer)}
        for node in ast.walk(tree):
            none = isinstance(node, ast.Constant) and node.value is None
            if isinstance(node, OPERATORS) and not none and id(node) not in left_out:
                assert node in changed, f"{module}: {ast.unparse(node)} in line {node.lineno}"
            if isinstance(node, ast.Call) and id(node) not in left_out:
                if ast.unparse(node.func) not in mutants._PATTERN_FUNCTIONS:
                    continue
                # In _matches itself the pattern is an argument.
                assert node.args[0] in changed or isinstance(node.args[0], ast.Name)


def unseen(tree):
    """The nodes of a module that the tool passes over, as its docstring says."""
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant()):
                yield node
            case ast.FunctionDef():
                yield from node.decorator_list
                yield from (
                    a.annotation
                    for a in ast.walk(node.args)
                    if isinstance(a, ast.arg) and a.annotation
                )
                yield from (
                    default for default in node.args.defaults if ast.unparse(default) == "''"
                )
                if node.returns:
                    yield node.returns
            case ast.ClassDef():
                yield from (*node.decorator_list, *(keyword.value for keyword in node.keywords))
            case ast.AnnAssign():
                yield node.annotation
                if ast.unparse(node.target) in mutants._WORDS and node.value:
                    yield node.value
            case ast.Assign():
                name = ast.unparse(node.targets[0])
                if name in mutants._WORDS or mutants._is_type(name, node.value):
                    yield node.value
                yield from node.targets
            case ast.Call():
                name = ast.unparse(node.func)
                if name in mutants._RAISING:
                    yield from node.args[1:]
                if name in mutants._NAMING:
                    yield node.args[0]
                if isinstance(node.func, ast.Attribute) and node.func.attr.endswith("strip"):
                    yield from (
                        a for a in node.args if isinstance(a, ast.Constant) and len(a.value) == 1
                    )
                if name in mutants._PATTERN_FUNCTIONS:
                    yield node.args[0]


def by_module(found):
    modules = {}
    for mutant in found:
        modules.setdefault(mutant.module, []).append(mutant)
    return modules


# Runs, with the vectors of dates alone and mutants that are planted


@pytest.fixture
def run(monkeypatch, tmp_path, capsys):
    """Runs the proof over some mutants of the core: its exit code, and what it said."""
    dates = [vector for vector in judge.vectors() if vector.group == "date"]
    monkeypatch.setattr(judge, "vectors", lambda: dates)
    monkeypatch.setattr(proof, "Judge", lambda jobs, every: judge.Judge(jobs, every, dates))
    monkeypatch.setattr(proof, "REASONS", tmp_path / "survivors.json")
    monkeypatch.setattr(proof, "WRONG_PORTS", ())
    everything = {mutant.name: mutant for mutant in proof.all_mutants()}

    def run(names, reasons=None, ports=(), arguments=()):
        monkeypatch.setattr(proof, "all_mutants", lambda: [everything[name] for name in names])
        monkeypatch.setattr(proof, "WRONG_PORTS", ports)
        entries = [{"mutants": [name], "reason": why} for name, why in (reasons or {}).items()]
        proof.REASONS.write_text(json.dumps(entries))
        code = proof.main([*arguments])
        return code, capsys.readouterr().out

    return run


DIES = "dates.date: '02d' -> '2d'"
LIVES = "digests.digest: 32 -> 33"  # of which no vector of dates is
WRONG = wrong_ports.WrongPort("bad day", "dates", "day:02d", "day:03d")


def test_a_mutant_that_fails_a_vector_passes(run):
    code, said = run([DIES])
    assert code == 0
    assert "1 mutants" in said
    assert "1 fail a vector, 0 survive for a reason, 0 without one" in said


def test_a_survivor_without_a_reason_fails(run):
    code, said = run([DIES, LIVES])
    assert code == 1
    assert f"SURVIVES {LIVES}" in said


@pytest.mark.parametrize("pattern", [LIVES, "digests.digest: 32 -> *"])
def test_a_survivor_with_a_reason_passes(run, pattern):
    code, said = run([DIES, LIVES], {pattern: "no digest is asked for"})
    assert code == 0
    assert "1 survive for a reason" in said


def test_a_reason_whose_mutant_is_gone_fails(run):
    code, said = run([DIES], {"dates.date: 31 -> 32": "x"})
    assert code == 1
    assert "STALE    dates.date: 31 -> 32" in said


def test_a_reason_whose_mutant_fails_a_vector_fails(run):
    code, said = run([DIES, LIVES], {LIVES: "x", "dates.date: '02d' *": "y"})
    assert code == 1
    assert f"DIES     {DIES}: date-" in said


def test_a_wrong_port_that_passes_fails(run):
    assert run([DIES], ports=[WRONG])[0] == 0
    unnoticed = wrong_ports.WrongPort("bad digest", "digests", "[:32]", "[:31]")
    code, said = run([DIES], ports=[WRONG, unnoticed])
    assert code == 1
    assert "PASSES bad digest" in said
    assert "2 known-wrong ports, 1 of them pass every vector" in said


def test_a_wrong_port_without_its_passage_is_an_error(run):
    with pytest.raises(ValueError, match="has not one 'year:05d'"):
        run([DIES], ports=[wrong_ports.WrongPort("late", "dates", "year:05d", "year:06d")])


def test_every_wrong_port_compiles_and_has_a_name_of_its_own():
    for port in wrong_ports.WRONG_PORTS:
        assert port.code()
    assert len({port.name for port in wrong_ports.WRONG_PORTS}) == len(wrong_ports.WRONG_PORTS)


def test_what_cannot_be_told_from_the_core_is_an_error_where_the_core_fails(run, monkeypatch):
    wrong = judge.Vector(
        "date-wrong", "date", b'{"type": "case", "seq": 1, "op": "date", "input": 1}', {"output": 1}
    )
    monkeypatch.setattr(proof, "Judge", lambda jobs, every: judge.Judge(jobs, every, [wrong]))
    assert run([DIES])[0] == 1


def test_a_mutant_that_does_not_end_or_takes_all_memory_fails():
    def code():
        source = (judge.CORE / "dates.py").read_text()
        return compile(
            source.replace("leap = ", "'x' * (1 << 40)\n    leap = "), "dates.py", "exec"
        )

    change = judge.Change("hungry", "dates", code)
    dates = [vector for vector in judge.vectors() if vector.group == "date"]
    ((_, failed),) = judge.Judge(1, vectors=dates).run([change])
    assert failed == [judge.ENDLESS]


def test_the_core_passes_every_vector():
    same = judge.Judge(1)
    change = judge.Change("the core", "keys", lambda: same.code["idemspec.keys"])
    assert list(same.run([change])) == [(change, [])]


def test_the_redundant_kill_nothing_that_others_do_not(run):
    """One of two dates with a day of one digit would do, and none of the faulty ones is needed."""
    code, said = run([DIES], arguments=["--redundant"])
    lines = said.splitlines()
    assert code == 0
    assert any(line.startswith("    0 date-input-") for line in lines)
    assert sum(line.startswith("    1 date-") for line in lines) > 1
    assert sum(" as date-" in line for line in lines) > 1


def test_reasons_say_why_and_name_tests_that_there_are():
    entries = json.loads((judge.VECTORS / "mutation" / "survivors.json").read_text())
    names = [name for entry in entries for name in entry["mutants"]]
    assert len(set(names)) == len(names)
    for entry in entries:
        assert {"mutants", "reason"} <= set(entry) <= {"mutants", "reason", "test"}
        assert len(entry["reason"]) > 15
        if "test" in entry:
            file, _, test = entry["test"].partition("::")
            assert f"def {test}(" in (judge.ROOT / "runtime/python/tests" / file).read_text()
