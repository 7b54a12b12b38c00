# SPDX-License-Identifier: BSD-2-Clause
import json, re, hashlib, zlib, decimal, threading, ctypes, sqlite3, subprocess
d = {str(i): [j * j for j in range(i)] for i in range(60)}
print(hashlib.sha256(json.dumps(d).encode()).hexdigest(), len(json.loads(json.dumps(d))))
print(len(re.findall(r'(a|b)+c', 'aabcabc' * 50)), zlib.crc32(b'x' * 1000), decimal.Decimal(2).sqrt())
r = []
ts = [threading.Thread(target=lambda k=k: r.append(sum(range(k * 1000)))) for k in range(8)]
[t.start() for t in ts]; [t.join() for t in ts]; print(sorted(r))
cmp = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))(lambda a, b: a[0] - b[0])
a = (ctypes.c_int * 50)(*[i * 37 % 50 for i in range(50)]); ctypes.CDLL(None).qsort(a, 50, 4, cmp); print(list(a)[:5])
c = sqlite3.connect(':memory:'); c.execute('create table t(a)'); c.executemany('insert into t values(?)', [(i,) for i in range(500)]); print(c.execute('select sum(a) from t').fetchone())
print(subprocess.run(['echo', 'child'], capture_output=True).stdout)
def deep(n): return deep(n + 1)
try: deep(0)
except RecursionError: print('recursion')
