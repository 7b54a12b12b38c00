#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# After `sudo make …`: gives the build folder to the user who called sudo, so that a plain `make` works in it.
[[ -n ${SUDO_UID:-} && $SUDO_UID != 0 && -d ${1:?} ]] || exit 0
find "$1" -xdev -path "$1/bare" -prune -o -uid 0 -exec chown -h "$SUDO_UID:${SUDO_GID:-$SUDO_UID}" {} +
