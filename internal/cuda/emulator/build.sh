#!/bin/sh
# Builds the emulated driver: build.sh libcuda.so
set -e
cd "$(dirname "$0")"
exec "${CXX:-c++}" -std=c++20 -O2 -ffp-contract=off -mfma -fPIC -shared -w -x c++ emulator.cpp -o "$1"
