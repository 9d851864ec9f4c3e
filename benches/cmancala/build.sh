#!/usr/bin/env bash
# Compiles CMancala's solver (https://github.com/LifesLight/CMancala, MIT licence) with driver.c, natively and as
# WebAssembly, by the flags of its own build: build.sh SOURCE FOLDER
#
# Needs gcc and emscripten; Debian's emscripten also needs node-acorn.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source=$1 to=$2
mkdir -p "$to"
files=("$here/driver.c" "$source"/src/logic/{utility,board}.c "$source"/src/logic/solver/{algo,cache,opening_book}.c
    "$source"/src/logic/solver/egdb/{core,memory/direct}.c)
flags=(-O3 -flto -I "$source/include" '-DMANCALA_VERSION="12.2"' '-DEGDB_BACKEND_NAME="RAM"')
gcc -std=gnu2x -march=native -fno-stack-protector "${flags[@]}" "${files[@]}" -lm -o "$to/native"
NODE_PATH=/usr/share/nodejs emcc -std=gnu17 -DWEB_BUILD "${flags[@]}" -s ENVIRONMENT=node -s NODERAWFS=1 \
    -s ALLOW_MEMORY_GROWTH=1 -s INITIAL_MEMORY=268435456 -s MAXIMUM_MEMORY=2684354560 "${files[@]}" -o "$to/module.js"
