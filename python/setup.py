# SPDX-License-Identifier: MIT
"""The extension. Headers and libraries are those that pkg-config knows as "openetw", or with OPENETW_BUILD those of a build
directory of the source tree."""
import os
import pathlib
import subprocess

from setuptools import Extension, setup

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # before setuptools 70
    from wheel.bdist_wheel import bdist_wheel


def flags():
    build = os.environ.get("OPENETW_BUILD")
    if build:
        source = os.environ.get("OPENETW_SOURCE") or str(pathlib.Path(__file__).resolve().parent.parent)
        return [f"-I{source}/include"], [f"-L{build}", f"-Wl,-rpath,{build}", "-lopenetw", "-letw"]
    try:
        ask = lambda *words: subprocess.run(["pkg-config", *words, "openetw"], check=True, capture_output=True,
                                            text=True).stdout.split()
        folder = ask("--variable=libdir")
        return ask("--cflags"), ask("--libs") + [f"-Wl,-rpath,{d}" for d in folder]
    except (OSError, subprocess.CalledProcessError):
        raise SystemExit("openetw is not installed for pkg-config; install it, or set OPENETW_BUILD to a build directory")


class OneForAll(bdist_wheel):
    def get_tag(self):
        _, _, platform = super().get_tag()
        return "cp39", "abi3", platform


compile_args, link_args = flags()
setup(ext_modules=[Extension("openetw._openetw", sorted(map(str, pathlib.Path("openetw").glob("*.c"))), py_limited_api=True,
                             depends=["openetw/py.h"],
                             extra_compile_args=["-fvisibility=hidden", "-Wno-missing-field-initializers", *compile_args],
                             extra_link_args=link_args)],
      cmdclass={"bdist_wheel": OneForAll})
