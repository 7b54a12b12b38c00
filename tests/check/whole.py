#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
#
# whole.py BUILD FOLDER OBJECT -- CMD [ARG...]: runs CMD once single-stepped and once traced with each placement, with all
# functions of OBJECT ('*'): do all show the same, and is CMD's output the same? TAP. Files are written to FOLDER.
# Functions and their extents are from `bbtrace list`, cold parts from .eh_frame; the path is from stepref alone.
import bisect
import json
import os
import re
import subprocess
import sys

build, folder, target = sys.argv[1:4]
command = sys.argv[5:]
here = os.path.dirname(os.path.abspath(__file__))
bbtrace = os.environ.get('BBTRACE', build + '/bbtrace')
tests = 0
failed = 0


def check(good, name, why=''):
    global tests, failed
    tests += 1
    failed += not good
    print(f"{'ok' if good else 'not ok'} {tests} - {name}")
    if why:
        print(re.sub('^', '# ', why.strip(), flags=re.M))
    sys.stdout.flush()


def listed(*arguments):
    out = subprocess.run([bbtrace, 'list', '-q', '-F', 'json', *arguments], stdout=subprocess.PIPE, check=True).stdout
    rows = map(json.loads, out.splitlines())
    return [row for row in rows if 'vaddr' in row]  # not what belongs to no function


# Where each function lies: NAME 0xSTART 0xSIZE OWN-NAME. Several static functions may have one name: NAME has the address.
def write_ranges(path):
    own = {int(f['vaddr'], 16): (f['symbol'], f['size']) for f in listed(target, '*')}
    whose, led = {}, {}
    for site in listed('--sites', target, '*'):
        whose[int(site['vaddr'], 16)] = site['symbol']
        led.setdefault(int((site.get('to') or {}).get('vaddr', '0'), 16), []).append(int(site['vaddr'], 16))
    starts, sites, ways = sorted(own), sorted(whose), sorted(led)
    rows = {start: (name, start, size, name) for start, (name, size) in own.items()}
    frames = subprocess.run(['readelf', '--debug-dump=frames', target], stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, text=True).stdout

    def function_at(address):
        below = bisect.bisect_right(starts, address) - 1
        return starts[below] if below >= 0 and address < starts[below] + own[starts[below]][1] else None

    def whole_of(start, end, name):  # of a cold part: the function of that name with a branch that leads there
        for way in ways[bisect.bisect_left(ways, start):bisect.bisect_left(ways, end)]:
            for function in map(function_at, led[way]):
                if function is not None and own[function][0] == name:
                    return function
        return next((function for function in starts if own[function][0] == name), start)

    for start, end in sorted({(int(a, 16), int(b, 16)) for a, b in re.findall(r'FDE .*pc=(\w+)\.\.(\w+)', frames)}):
        first = bisect.bisect_left(sites, start)
        if function_at(start) is None and first < len(sites) and sites[first] < end:
            part = whose[sites[first]]
            name = re.sub(r'\.cold(\.\d+)?$', '', part)
            rows[start] = (name, whole_of(start, end, name), end - start, part)
    with open(path, 'w') as out:
        for start, (name, function, size, part) in rows.items():  # a function before its parts
            out.write('%s@%x 0x%x 0x%x %s\n' % (name.replace(' ', '_'), function, start, size, part.replace(' ', '_')))
    return len(rows)


# Its status; stdout in FOLDER/NAME.out. Both get the same descriptors and no address space of their own.
def run(name, *arguments):
    with open(f'{folder}/{name}.out', 'wb') as out:
        return subprocess.run(['setarch', '-R', *arguments, '--', *command], stdin=subprocess.DEVNULL, stdout=out,
                              stderr=subprocess.PIPE, text=True)


# The same by stepref, as tests/step/again.sh has it: once more where the machine lost a step. A shell between would
# change the environment, which the program reads.
def run_stepped(lines):
    for left in reversed(range(5)):
        step = run('ref', build + '/stepref', '--object', target, '--ranges', f'{folder}/ranges', '--out', lines)
        last = read(lines).splitlines()[-1:] if os.path.exists(lines) else []
        if step.returncode != 124 or not last or not last[0].startswith(b'# lost a step: '):
            break
        print(f'# {step.stderr.strip()}; {left} runs left')
    return step, bool(last) and re.fullmatch(rb'# \d+ steps, status \d+', last[0])


def read(path):
    with open(path, 'rb') as f:
        return f.read()


os.makedirs(folder, exist_ok=True)
count = write_ranges(f'{folder}/ranges')
step, ended = run_stepped(f'{folder}/stepped')
check(ended, f'{count} pieces of {target}, stepped', step.stderr)
# Returned values may be descriptors, times and process ids: what is compared is the path.
with open(f'{folder}/stepped') as stepped, open(f'{folder}/ref', 'w') as reference:
    for line in stepped:
        reference.write(re.sub(r' rax=\w+', '', line))
for placement in os.environ.get('PLACEMENTS', 'full implied witness').split():
    traced = run(placement, bbtrace, 'user', target, '*', '--placement', placement, '--buffer', '256M', '-F', 'json',
                 '-o', f'{folder}/{placement}.json')
    same = traced.returncode == step.returncode and read(f'{folder}/ref.out') == read(f'{folder}/{placement}.out')
    check(same, f'{placement}: output and status as ever', traced.stderr)
    compared = subprocess.run([here + '/compare.pl', '--unknown', f'{folder}/ref', f'{folder}/{placement}.json'],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    check(compared.returncode == 0, f'{placement}: what was traced is what was stepped', compared.stdout)
    figures = re.search(r'(\d+) of (\d+) events', compared.stdout)
    check(figures and int(figures[1]) > 0 and int(figures[1]) * 100 >= int(figures[2]) * 99,
          f'{placement}: no more than a hundredth of it is unknown')
print(f'1..{tests}')
sys.exit(failed > 0)
