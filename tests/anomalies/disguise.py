"""A real program, and copies of it that someone has disguised."""

import ast
import inspect
import textwrap
from random import Random

ORIGINAL = inspect.getsource(textwrap)


class _Renamer(ast.NodeTransformer):
    """Gives every name in a program another one."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}

    def new(self, name: str) -> str:
        return self.names.setdefault(name, f"thing_{len(self.names)}")

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self.new(node.id), node.ctx)

    def visit_arg(self, node: ast.arg) -> ast.arg:
        return ast.arg(self.new(node.arg), node.annotation)

    def visit_Attribute(self, node: ast.Attribute) -> ast.Attribute:
        self.generic_visit(node)
        return ast.Attribute(node.value, self.new(node.attr), node.ctx)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        self.generic_visit(node)
        node.name = self.new(node.name)
        return node


def disguised(source: str, seed: int = 1) -> str:
    """Return a program with other names, other comments and functions in another order.

    The syntax tree is written anew, so that white space, quotes and brackets differ.
    """
    rng = Random(seed)
    tree = _Renamer().visit(ast.parse(source))
    rng.shuffle(tree.body)
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            rng.shuffle(node.body)
    lines = ast.unparse(ast.fix_missing_locations(tree)).splitlines()
    return "\n".join(f"{line}  # step {k}" for k, line in enumerate(lines))
