"""Tell PyInstaller what it cannot see: data files, kernels imported by name, and what compiled
modules import.
"""

from PyInstaller import isolated
from PyInstaller.utils.hooks import collect_data_files, collect_submodules


def brought_by_cypool() -> list[str]:
    """Return all modules that importing cypool and reading its data brings; to be called in a
    process of its own.
    """
    import sys

    before = set(sys.modules)
    import cypool

    list(cypool.spec.versions())
    return sorted(name for name in set(sys.modules) - before if getattr(sys.modules[name], "__spec__", None))


datas = collect_data_files("cypool", includes=["spec/data/*.toml"])
hiddenimports = [*isolated.call(brought_by_cypool), *collect_submodules("cypool.kernels")]
