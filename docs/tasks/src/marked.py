import ctypes
import time

marker = ctypes.CDLL("./marker.so")
marker.mark.argtypes = ctypes.c_char_p, ctypes.c_long
time.sleep(0.5)  # bbtrace finds the markers of a library once that is loaded
marker.start()
time.sleep(0.5)
for n in 10, 100:
    marker.mark(b"rows", n)
    page = ""
    for i in range(n):
        page += str(i)
marker.mark(b"done", 0)
marker.stop()
