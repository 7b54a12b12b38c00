# SPDX-License-Identifier: BSD-2-Clause
#
# hung_file.py FOLDER GO: a file system in FOLDER with a file of zeros, "file", that answers no read before the file GO is
# there. linux/fuse.h.

import ctypes, os, select, struct, sys

SIZE = 1 << 20
LOOKUP, GETATTR, OPEN, READ, RELEASE, FLUSH, INIT = 1, 3, 14, 15, 18, 25, 26
ENOENT, ENOSYS = 2, 38
KEPT = 3600  # seconds that what it answers holds


def mount(folder):
    fd = os.open("/dev/fuse", os.O_RDWR)
    libc = ctypes.CDLL(None, use_errno=True)
    options = "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other" % fd
    if libc.mount(b"hung", folder.encode(), b"fuse.hung", 0, options.encode()):
        sys.exit(os.strerror(ctypes.get_errno()))
    return fd


def attributes(node):
    mode = 0o40755 if node == 1 else 0o100644
    return struct.pack("6Q10I", node, 0 if node == 1 else SIZE, 0, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)


def answer_to(kind, node, body):
    """What the kernel is told, or a number of an error."""
    if kind == INIT:
        return struct.pack("4I2H2I2H8I", 7, 31, 65536, 0, 16, 16, 65536, 1, 1, 0, *[0] * 8)
    if kind == LOOKUP:
        return struct.pack("4Q2I", 2, 0, KEPT, KEPT, 0, 0) + attributes(2) if body.startswith(b"file\0") else ENOENT
    if kind == GETATTR:
        return struct.pack("Q2I", KEPT, 0, 0) + attributes(node)
    if kind == OPEN:
        return struct.pack("Q2I", 1, 0, 0)
    if kind == READ:
        return bytes(struct.unpack_from("16xI", body)[0])
    return b"" if kind in (RELEASE, FLUSH) else ENOSYS


def main(folder, go):
    fd = mount(folder)
    late = []

    def reply(unique, answer):
        error, data = (-answer, b"") if isinstance(answer, int) else (0, answer)
        os.write(fd, struct.pack("IiQ", 16 + len(data), error, unique) + data)

    while True:
        if os.path.exists(go):
            while late:
                reply(*late.pop())
        if not select.select([fd], [], [], 0.05)[0]:
            continue
        try:
            message = os.read(fd, 1 << 18)
        except OSError:  # unmounted
            return
        _, kind, unique, node = struct.unpack_from("2I2Q", message)
        if kind not in (2, 36, 42):  # FORGET, INTERRUPT, BATCH_FORGET: no answer
            answer = answer_to(kind, node, message[40:])
            late.append((unique, answer)) if kind == READ else reply(unique, answer)


main(*sys.argv[1:])
