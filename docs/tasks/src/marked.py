import ctypes
import time

marker = ctypes.CDLL("./marker.so")
marker.mark.argtypes = ctypes.c_char_p, ctypes.c_long
marker.start()
time.sleep(1.5)  # until the probes are in place
for n in 10, 100:
    marker.mark(b"rows", n)
    page = ""
    for i in range(n):
        page += str(i)
marker.mark(b"done", 0)
marker.stop()
