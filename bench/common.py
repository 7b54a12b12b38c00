# SPDX-License-Identifier: BSD-2-Clause
"""What the parts of the benchmark share: its folders, and why a contender is left out."""
import os
import shutil

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.abspath(os.environ.get("B", os.path.join(ROOT, "build")))
DIR = os.path.join(BUILD, "bench")
os.environ["BBTRACE_ENGINE"] = "probe"  # the rows of copies say so
BBTRACE = os.environ.get("BBTRACE", os.path.join(BUILD, "bbtrace"))


class Skip(Exception):
    """Why a contender can't be measured here."""


def at(name):
    return os.path.join(DIR, name)


def need(tool):
    if not shutil.which(tool):
        raise Skip(f"{tool} is not installed")
