#!/usr/bin/env bash
# The recorded notebooks as other processors run them: NumPy, OpenBLAS, Numba and the C library are each told to use the
# instructions of an older one. `tools/processors.sh nehalem` tries one of them; without a name all are tried in turn.
set -euo pipefail
cd "$(dirname "$0")/.."

no_512="X86_V4 AVX512_ICL AVX512_SPR"
declare -A numpy_without=([skylake]="AVX512_ICL AVX512_SPR" [haswell]="$no_512" [sandybridge]="X86_V3 $no_512" [nehalem]="X86_V3 $no_512")
declare -A openblas=([skylake]=SkylakeX [haswell]=Haswell [sandybridge]=Sandybridge [nehalem]=Nehalem)
declare -A numba=([skylake]=skylake-avx512 [haswell]=haswell [sandybridge]=sandybridge [nehalem]=nehalem)
declare -A libc_without=([skylake]="" [haswell]="-AVX512F" [sandybridge]="-AVX512F,-AVX2,-FMA" [nehalem]="-AVX512F,-AVX2,-FMA,-AVX")

for processor in "${@:-skylake haswell sandybridge nehalem}"; do
    for name in $processor; do
        echo "== $name"
        NPY_DISABLE_CPU_FEATURES=${numpy_without[$name]} OPENBLAS_CORETYPE=${openblas[$name]} \
            NUMBA_CPU_NAME=${numba[$name]} GLIBC_TUNABLES="glibc.cpu.hwcaps=${libc_without[$name]}" \
            .venv/bin/python -m pytest -q --nbval --nbval-current-env book/_records/notebooks
    done
done
