#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""
The prototypes that src/types has for functions without debug information: of libc, from its headers by clang's syntax
tree, and of Linux' system calls, from include/linux/syscalls.h of the kernel's headers (Debian: linux-headers-*-common).

    scripts/prototypes.py libc > src/types/libc.inc
    scripts/prototypes.py syscalls FILE > src/types/syscalls.inc

The first line of the output tells the headers' version. A row: a name, the result, the parameters. A type is a letter and
its size: s signed, u unsigned, b bool, c char, f float, p pointer, t text (char *), x another one; v: void. x0: of a size
that isn't known.
"""
import json
import re
import subprocess
import sys

HEADERS = """aio arpa/inet ctype dirent dlfcn err error fcntl fmtmsg fnmatch ftw getopt glob grp iconv ifaddrs inttypes
langinfo libgen libintl locale malloc mntent monetary mqueue net/if netdb nl_types obstack poll printf pthread pty pwd
regex resolv sched search semaphore setjmp shadow signal spawn stdio stdlib string strings sys/epoll sys/eventfd
sys/fanotify sys/file sys/inotify sys/ioctl sys/ipc sys/mman sys/mount sys/msg sys/personality sys/prctl sys/ptrace
sys/random sys/resource sys/select sys/sem sys/sendfile sys/shm sys/signalfd sys/socket sys/stat sys/statfs sys/statvfs
sys/swap sys/syscall sys/sysinfo sys/time sys/timerfd sys/times sys/timex sys/uio sys/utsname sys/vfs sys/wait sys/xattr
syslog termios threads time uchar ucontext ulimit unistd utime utmp utmpx wchar wctype wordexp""".split()

BASE = {
    "_Bool": "b1", "bool": "b1", "char": "c1", "signed char": "s1", "unsigned char": "u1", "short": "s2",
    "unsigned short": "u2", "int": "s4", "unsigned int": "u4", "long": "s8", "unsigned long": "u8", "long long": "s8",
    "unsigned long long": "u8", "float": "f4", "double": "f8", "long double": "f16", "void": "v",
}


def code(text):
    """The code of a type, as clang writes it without typedefs."""
    text = re.sub(r"\b(const|volatile|restrict|__restrict|_Noreturn|extern)\b", "", text).strip()
    if re.search(r"[*\[]\s*(restrict)?\]?\s*$", text) or "(*" in text or text.endswith("]"):
        target = re.sub(r"\s*(\*|\[\d*\])\s*$", "", text).strip()
        return "t8" if target == "char" else "p8"
    if "SOCKADDR_ARG" in text:  # a transparent union of pointers
        return "p8"
    if text.startswith("enum "):
        return "u4"
    if text in BASE:
        return BASE[text]
    return "x0"


def put(rows):
    for name in sorted(rows):
        result, params = rows[name]
        print('{"%s", "%s", "%s"},' % (name, result, ",".join(params)))


TYPEDEFS = {}  # what they stand for


def include_lines():
    return "".join("#if __has_include(<%s.h>)\n#include <%s.h>\n#endif\n" % (h, h) for h in HEADERS)


def libc():
    version = subprocess.run(["getconf", "GNU_LIBC_VERSION"], text=True, capture_output=True, check=True).stdout.strip()
    tree = subprocess.run(["clang", "-fsyntax-only", "-D_GNU_SOURCE", "-target", "x86_64-linux-gnu", "-x", "c", "-Xclang",
                           "-ast-dump=json", "-"], input=include_lines(), text=True, capture_output=True, check=True)
    rows = {}
    for d in json.loads(tree.stdout)["inner"]:
        if d["kind"] == "TypedefDecl":
            TYPEDEFS[d["name"]] = d["type"].get("desugaredQualType", d["type"]["qualType"])
        if d["kind"] != "FunctionDecl" or d["name"].startswith("_") or d.get("storageClass") == "static" or "mangledName" not in d:
            continue
        # what the name is in the library: __REDIRECT gives another one
        symbol = d["mangledName"]
        if not symbol.isidentifier():
            continue
        params = []
        for p in d.get("inner", []):
            if p["kind"] != "ParmVarDecl":
                continue
            t = p["type"].get("desugaredQualType", p["type"]["qualType"])
            params.append((code(t) + " " + p.get("name", "").lstrip("_")).strip())
        result = code(result_of(d))
        rows[symbol] = (result, params)
    print("/* Made by scripts/prototypes.py libc from the headers of %s. */" % version)
    put(rows)


def result_of(d):
    """A function's type is its result, then its parameters in parentheses; clang tells the result's typedef, not what
    that stands for."""
    text = re.sub(r"\s*__attribute__\(\(.*?\)\)", "", d["type"]["qualType"])
    depth = 0
    for i in range(len(text) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(text[i], 0)
        if depth == 0 and text[i] == "(":
            text = text[:i].strip()
            break
    if "(*" in text:
        return "void *"
    return TYPEDEFS.get(text, text)


KERNEL = {
    "size_t": "u8", "ssize_t": "s8", "loff_t": "s8", "off_t": "s8", "pid_t": "s4", "umode_t": "u2", "uid_t": "u4",
    "gid_t": "u4", "old_uid_t": "u2", "old_gid_t": "u2", "u32": "u4", "u64": "u8", "__u32": "u4", "__u64": "u8",
    "__s32": "s4", "u8": "u1", "clockid_t": "s4", "timer_t": "s4", "key_t": "s4", "mqd_t": "s4", "qid_t": "s4",
    "aio_context_t": "u8", "key_serial_t": "s4", "unsigned": "u4", "old_sigset_t": "u8", "rwf_t": "s4", "fd_t": "s4",
    "cap_user_header_t": "p8", "cap_user_data_t": "p8", "__sighandler_t": "p8", "unsigned char": "u1",
}


def kernel_code(text):
    text = re.sub(r"\b(const|volatile|__user|struct|union|enum)\b", "", text)
    text = " ".join(text.replace("*", " * ").split())
    if text.endswith("*"):
        return "t8" if text == "char *" else "p8"
    return BASE.get(text) or KERNEL.get(text)


def syscalls(path):
    text = open(path).read()
    version = re.search(r"linux-headers-([^/]*)", path)
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    rows, two = {}, set()
    for name, params in re.findall(r"asmlinkage\s+long\s+sys_(\w+)\s*\(([^;]*)\)\s*;", text):
        codes = []
        for p in [] if params.strip() in ("void", "") else params.split(","):
            m = re.match(r"^(.*?[\s*])(\w+)$", " ".join(p.split()))
            named = m and (kernel_code(m.group(1)), m.group(2))
            if not named or not named[0]:
                named = (kernel_code(" ".join(p.split())), "")
            codes.append(named[0] and (named[0] + " " + named[1]).strip())
        if name in rows and rows[name][1] != codes:
            two.add(name)
        if all(codes):
            rows[name] = ("s8", codes)
    for name in two:
        rows.pop(name, None)
    print("/* Made by scripts/prototypes.py syscalls from %s. */" % (version.group(1) if version else "a kernel's headers"))
    put(rows)


if sys.argv[1:] == ["libc"]:
    libc()
elif sys.argv[1:2] == ["syscalls"] and len(sys.argv) == 3:
    syscalls(sys.argv[2])
else:
    sys.exit(__doc__)
