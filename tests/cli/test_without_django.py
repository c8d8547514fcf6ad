"""Every module of `engine` and `torres` can be imported where there is no server."""

import subprocess
import sys

PROGRAM = '''
import importlib, pkgutil, sys

class NoServer:
    """Refuses the packages that only a server has."""

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"django", "rest_framework", "celery", "ladder",
                                      "psycopg", "redis", "kombu"}:
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, NoServer())
count = 0
for package in ("engine", "torres"):
    found = importlib.import_module(package)
    for module in pkgutil.walk_packages(found.__path__, f"{package}."):
        if not module.name.endswith(".__main__"):
            importlib.import_module(module.name)
            count += 1
print(count)
'''


def test_every_module_is_imported_without_django() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 200
