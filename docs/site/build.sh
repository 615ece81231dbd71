#!/usr/bin/env bash
# Builds the documentation site: Doxygen writes the C++ reference to build/docs/cpp-api, MkDocs writes
# the site to build/site. Warnings are errors. MkDocs is installed into build/docs/venv unless
# LULL_NO_INSTALL=1.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

readonly venv=build/docs/venv requirements=docs/site/requirements.txt

fail() {
  printf 'docs/site/build.sh: %s\n' "$*" >&2
  exit 69
}

install_mkdocs() {
  cmp -s $requirements $venv/done.txt && return
  [[ ${LULL_NO_INSTALL:-0} != 1 ]] || fail "no MkDocs in $venv (LULL_NO_INSTALL=1)"
  [[ -x $venv/bin/pip ]] || python3 -m venv $venv || fail "no virtual environment (python3 -m venv)"
  $venv/bin/pip install -q --disable-pip-version-check --retries 1 --timeout 20 -r $requirements ||
    fail "pip cannot install $requirements (above)"
  cp $requirements $venv/done.txt
}

# The Doxyfile and the list of headers.
doxygen_configuration() {
  cat docs/site/Doxyfile
  printf 'INPUT ='
  python3 docs/site/public_headers.py | sed 's/.*/ "&"/' | tr -d '\n'
  echo
}

python3 docs/site/check.py
install_mkdocs
rm -rf build/docs/cpp-api build/site
mkdir -p build/docs
doxygen_configuration | doxygen -
# (The variable hides an advertisement of the theme. With --quiet MkDocs would ignore warnings.)
NO_MKDOCS_2_WARNING=1 $venv/bin/mkdocs build --strict
