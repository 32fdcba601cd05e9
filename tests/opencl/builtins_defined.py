#!/usr/bin/env python3
"""Every function of OpenCL C 1.2 without images is there: a program that calls each overload that
the compiler's own header declares links, for every target.

    builtins_defined.py CLANG FOLDER-OF-OUR-LIBRARY FOLDER-OF-LIBCLC SCRATCH
"""
import os
import re
import subprocess
import sys

TARGETS = {
    'ptx': (['nvptx64--nvidiacl', '-Xclang', '-target-cpu', '-Xclang', 'sm_60',
             '-Xclang', '-target-feature', '-Xclang', '+ptx60'], 'nvptx64--nvidiacl.bc'),
    'ptx32': (['nvptx--nvidiacl', '-Xclang', '-target-cpu', '-Xclang', 'sm_60',
               '-Xclang', '-target-feature', '-Xclang', '+ptx60'], 'nvptx--nvidiacl.bc'),
    'si': (['amdgcn-amd-amdhsa', '-mcpu=tahiti'], 'amdgcn--amdhsa.bc'),
}
EXTENSIONS = '-cl-ext=-all,' + ','.join('+cl_khr_' + name for name in [
    'byte_addressable_store', 'fp64', 'global_int32_base_atomics',
    'global_int32_extended_atomics', 'local_int32_base_atomics', 'local_int32_extended_atomics',
    'int64_base_atomics', 'int64_extended_atomics'])
# Words of a parameter that are no name of it.
TYPE = re.compile(r'^(const|volatile|_*(global|local|private|constant)|\*|'
                  r'(u?(char|short|int|long)|float|double|half)\d*|size_t|event_t|unsigned|'
                  r'cl_mem_fence_flags)$')


def run(words, **more):
    return subprocess.run(words, check=True, **more)


def declarations(clang):
    """(result, name, [types]) of each function of opencl-c.h."""
    folder = run([clang, '-print-resource-dir'], capture_output=True, text=True).stdout.strip()
    header = os.path.join(folder, 'include', 'opencl-c.h')
    text = run([clang, '-x', 'cl', '-cl-std=CL1.2', '-target', 'nvptx64--nvidiacl', '-Xclang',
                EXTENSIONS, '-E', '-P', '-include', 'opencl-c-base.h', header],
               capture_output=True, text=True).stdout
    text = re.sub(r'__attribute__\(\((?:[^()]|\([^()]*\))*\)\)', '', text)
    form = r'(?:^|;|\})\s*([A-Za-z_][\w ]*?[\s*]+)(\w+)\s*\(([^;{}]*)\)\s*(?=;)'
    for match in re.finditer(form, text):
        result, name, args = (part.strip() for part in match.groups())
        if result.startswith('typedef') or name == 'printf' or re.search('image|sampler', args):
            continue
        types = []
        for arg in [] if args in ('', 'void') else args.split(','):
            words = re.findall(r'\w+|\*', arg)
            if len(words) > 1 and not TYPE.match(words[-1]):
                words.pop()
            types.append(' '.join(words))
        yield result, name, types


def program(functions):
    for i, (result, name, types) in enumerate(functions):
        args = ', '.join(f'{kind} a{k}' for k, kind in enumerate(types))
        call = f'{name}({", ".join(f"a{k}" for k in range(len(types)))})'
        yield f'{result} t{i}({args}) {{ {"" if result == "void" else "return "}{call}; }}\n'


def main():
    clang, ours, libclc, scratch = sys.argv[1:]
    functions = list(declarations(clang))
    # As many as clang-14's header has; far fewer means that it is written in another way.
    assert len(functions) > 9000, f'only {len(functions)} functions found'
    source = os.path.join(scratch, 'every_builtin.cl')
    with open(source, 'w', encoding='ascii') as file:
        file.writelines(program(functions))
    missing = False
    for name, (target, library) in TARGETS.items():
        text = run([clang, '-x', 'cl', '-cl-std=CL1.2', '-target', *target, '-Xclang', EXTENSIONS,
                    '-Xclang', '-finclude-default-header', '-nogpulib', '-O1', '-Xclang',
                    '-disable-llvm-passes', '-Wno-linker-warnings', '-include',
                    f'{ours}/builtins.h', '-Xclang', '-mlink-builtin-bitcode', '-Xclang',
                    f'{ours}/builtins-{name}.bc', '-Xclang', '-mlink-builtin-bitcode', '-Xclang',
                    f'{libclc}/{library}', source, '-S', '-emit-llvm', '-o', '-'],
                   capture_output=True, text=True).stdout
        undefined = [line for line in re.findall(r'^declare [^@]*@"?([^("]*)', text, re.M)
                     if not line.startswith('llvm.')]
        print(f'{name}: {len(functions)} functions, {len(undefined)} not defined', *undefined)
        missing |= bool(undefined)
    sys.exit(missing)


if __name__ == '__main__':
    main()
