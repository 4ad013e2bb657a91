# SPDX-License-Identifier: MIT
# The Python package: built as a wheel without a network, installed into a folder, and compared with the command.
. "$(dirname "$0")/../cli/lib.sh"
HERE=$(cd "$(dirname "$0")" && pwd)
SOURCE=$(cd "$HERE/../.." && pwd)
[ -d "$CORPUS" ] || skip "no corpus in $CORPUS"
P=/usr/bin/python3 # Debian's
$P -c 'import importlib.util as u, sysconfig, os
assert all(u.find_spec(m) for m in ("pip", "setuptools", "wheel"))
assert os.path.exists(os.path.join(sysconfig.get_paths()["include"], "Python.h"))' 2>"$T/err" ||
	skip "python3-dev, python3-pip, python3-setuptools or python3-wheel is not installed"
if ldd "$OPENETW_BUILD/libopenetw.so" | grep -qE 'asan|tsan|ubsan'; then
	skip "Python itself has no sanitizer"
fi
cp -r "$SOURCE/python" "$T/package" # building leaves files behind
OPENETW_SOURCE=$SOURCE $P -m pip wheel --no-index --no-build-isolation --no-deps -w "$T/wheels" "$T/package" \
	>"$T/out" 2>&1 </dev/null || fail "the wheel: $(tail -20 "$T/out")"
ls "$T"/wheels/openetw-*-cp39-abi3-*.whl >/dev/null 2>&1 || fail "what was built: $(ls "$T/wheels")"
$P -m pip install --no-index --no-deps --target "$T/site" "$T"/wheels/*.whl >"$T/out" 2>&1 </dev/null ||
	fail "pip install: $(tail -20 "$T/out")"
[ -f "$T/site/openetw/py.typed" ] && [ -f "$T/site/openetw/__init__.pyi" ] || fail "the types are not in the wheel"
export PYTHONPATH="$T/site" OPENETW_CORPUS="$CORPUS" OPENETW_COMMAND="$OPENETW_BUILD/tools/openetw" OPENETW_TEST_FOLDER="$T" \
	OPENETW_HELLO="$SAMPLES/hello-tracelogging"
# Every name that the package has is in its types.
$P - <<'EOF' || fail "__init__.pyi"
import ast, openetw, pathlib
said = {n.name for n in ast.parse(pathlib.Path(openetw.__file__).with_suffix(".pyi").read_text()).body if hasattr(n, "name")}
missing = [n for n in openetw.__all__ if n not in said and n != "__version__"]
assert not missing, missing
for c in ("Event", "Reader", "Trace", "Session", "Columns"):
    tree = next(n for n in ast.parse(pathlib.Path(openetw.__file__).with_suffix(".pyi").read_text()).body if getattr(n, "name", "") == c)
    stub = {n.name for n in tree.body if hasattr(n, "name")} | {n.target.id for n in tree.body if isinstance(n, ast.AnnAssign)}
    missing = [n for n in vars(getattr(openetw, c)) if not n.startswith("_") and n not in stub]
    assert not missing, (c, missing)
EOF
$P "$HERE/test_openetw.py" >"$T/out" 2>&1 </dev/null || fail "$(tail -60 "$T/out")"
tail -3 "$T/out"
