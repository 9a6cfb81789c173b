"""Builds the extension module realm._realm, puts librealm.so beside it, and the program realm among the scripts.

    REALM_LIBRARY_DIR   directory with a built librealm.so; without it, Swift builds one, and the program.
    REALM_PROGRAM       a built program realm; without it, bin/realm beside that directory, if there is one.
    REALM_INCLUDE_DIR   directory with realm.h; without it, include/ of the source distribution or the repository.
    REALM_STRICT        when set, warnings of the C compiler are errors.

The result is one wheel for CPython 3.11 and later (abi3) that needs no Swift where it runs.
"""

import functools
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext
from setuptools.command.install_scripts import install_scripts
from setuptools.command.sdist import sdist

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
LIBRARY = "librealm.so"
# What imports files of realm-core; the library looks for it beside itself.
IMPORT_LIBRARY = "librealm-import.so"
# The tool, and what SwiftPM calls it.
PROGRAM = "realm"
PROGRAM_PRODUCT = "realm-cli"


@functools.cache
def swift_products() -> Path:
    """The directory with the libraries and the program built by SwiftPM, in release."""
    if not (REPOSITORY / "Package.swift").exists():
        sys.exit("setup.py: set REALM_LIBRARY_DIR to the directory of librealm.so, or build inside the repository")
    if shutil.which("swift") is None:
        sys.exit("setup.py: building the library needs Swift; or set REALM_LIBRARY_DIR")
    # As `make lib` builds: what is built already is taken.
    command = [REPOSITORY / ".ci" / "swift-build"]
    for product in ("realm", "realm-import", PROGRAM_PRODUCT):
        subprocess.run([*command, "--product", product], cwd=REPOSITORY, check=True)
    shown = subprocess.run(
        [*command, "--show-bin-path"], cwd=REPOSITORY, check=True, capture_output=True, text=True
    )
    return Path(shown.stdout.strip())


def given_directory() -> Path | None:
    directory = os.environ.get("REALM_LIBRARY_DIR")
    return Path(directory).resolve() if directory else None


def find_library() -> Path:
    library = (given_directory() or swift_products()) / LIBRARY
    if not library.exists():
        sys.exit(f"setup.py: there is no {library}")
    return library


def find_program() -> Path | None:
    """The program; None where only a library was given."""
    named = os.environ.get("REALM_PROGRAM")
    if named and not Path(named).exists():
        sys.exit(f"setup.py: there is no {named}")
    if named:
        return Path(named).resolve()
    directory = given_directory()
    if directory is None:
        return swift_products() / PROGRAM_PRODUCT
    program = directory.parent / "bin" / PROGRAM
    return program if program.exists() else None


def find_include() -> Path:
    # A source distribution has the header with it.
    own = HERE / "include"
    default = own if (own / "realm.h").exists() else REPOSITORY / "include"
    include = Path(os.environ.get("REALM_INCLUDE_DIR") or default).resolve()
    if not (include / "realm.h").exists():
        sys.exit(f"setup.py: there is no realm.h in {include}")
    return include


def strip(library: Path) -> None:
    """Drops the symbols that only debuggers want: 10 MB of 17."""
    if shutil.which("strip"):
        subprocess.run(["strip", "--strip-unneeded", library], check=True)


class BuildWithLibrary(build_ext):
    """Finds or builds librealm.so, links against it and ships it inside the package."""

    def build_extension(self, extension: Extension) -> None:
        library = find_library()
        package = Path(self.get_ext_fullpath(extension.name)).parent
        package.mkdir(parents=True, exist_ok=True)
        shutil.copy2(library, package / LIBRARY)
        importing = library.with_name(IMPORT_LIBRARY)
        if importing.exists():
            shutil.copy2(importing, package / IMPORT_LIBRARY)
        # A library that was given stays as it is: others compare the package's copy with it.
        if not os.environ.get("REALM_LIBRARY_DIR"):
            strip(package / LIBRARY)
            if importing.exists():
                strip(package / IMPORT_LIBRARY)
        extension.include_dirs.append(str(find_include()))
        extension.library_dirs.append(str(package))
        super().build_extension(extension)


class ProgramAmongScripts(install_scripts):
    """Puts the program where scripts go, as it is: pip installs it as the command `realm`."""

    def run(self) -> None:
        super().run()
        program = find_program()
        if program is None:
            self.warn("no program realm: python -m realm does without it, or takes the one in the PATH")
            return
        target = Path(self.install_dir, PROGRAM)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(program, target)
        # A program that was given stays as it is.
        if not os.environ.get("REALM_LIBRARY_DIR") and not os.environ.get("REALM_PROGRAM"):
            strip(target)
        target.chmod(0o755)
        self.outfiles.append(str(target))


def glibc_needed(wheel_root: Path) -> int:
    """Least minor version of glibc 2 that the binaries of the wheel run with."""
    found = {34}
    for binary in (*wheel_root.rglob("*.so"), *wheel_root.rglob(f"scripts/{PROGRAM}")):
        content = binary.read_bytes()
        found.update(int(m) for m in re.findall(rb"GLIBC_2\.(\d+)", content))
        # Packed relocations: loaders before 2.36 refuse them.
        if b"GLIBC_ABI_DT_RELR" in content:
            found.add(36)
    return max(found)


class SourcesWithHeader(sdist):
    """Puts realm.h into the source distribution, so that it builds around any librealm.so of its version."""

    def make_release_tree(self, base_dir: str, files: list[str]) -> None:
        super().make_release_tree(base_dir, files)
        target = Path(base_dir, "include")
        target.mkdir(exist_ok=True)
        shutil.copy2(find_include() / "realm.h", target)


class PlatformWheel(bdist_wheel):
    """Tags the wheel with the glibc that it really needs, so that installers can tell."""

    def get_tag(self) -> tuple[str, str, str]:
        python, abi, tag = super().get_tag()
        if tag.startswith("linux_") and platform.libc_ver()[0] == "glibc":
            root = Path(self.bdist_dir or self.get_finalized_command("build").build_lib)
            tag = f"manylinux_2_{glibc_needed(root)}_{tag.removeprefix('linux_')}"
        return python, abi, tag


setup(
    ext_modules=[
        Extension(
            "realm._realm",
            sources=sorted(str(p.relative_to(HERE)) for p in HERE.glob("src/**/*.c")),
            depends=sorted(str(p.relative_to(HERE)) for p in HERE.glob("src/**/*.h")),
            include_dirs=["src"],
            libraries=["realm"],
            define_macros=[("Py_LIMITED_API", "0x030B0000")],
            py_limited_api=True,
            extra_compile_args=[
                "-std=c11", "-O2", "-g0", "-fvisibility=hidden", "-Wall", "-Wextra", "-Wshadow",
                *(["-Werror"] if os.environ.get("REALM_STRICT") else []),
            ],
            extra_link_args=["-Wl,-rpath,$ORIGIN", "-Wl,--no-as-needed", "-lc"],
        )
    ],
    cmdclass={
        "build_ext": BuildWithLibrary, "bdist_wheel": PlatformWheel, "sdist": SourcesWithHeader,
        "install_scripts": ProgramAmongScripts,
    },
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
