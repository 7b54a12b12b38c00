# Included by the Makefiles: ARCH=arm64|riscv64 builds for that architecture in build/ARCH, by Debian's cross compiler with
# the folder of libraries and headers that scripts/sysroot.sh makes. CC and CXX are set here.
# SPDX-License-Identifier: BSD-2-Clause

TOP     := $(patsubst %/,%,$(dir $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))))
MACHINE := $(patsubst aarch64,arm64,$(shell uname -m))
ARCH    := $(MACHINE)
ifneq ($(ARCH),$(MACHINE))
TRIPLET := $(or $(patsubst %,%-linux-gnu,$(patsubst arm64,aarch64,$(filter arm64 riscv64,$(ARCH)))),$(error ARCH=$(ARCH): not one of arm64 riscv64))
SYSROOT := $(shell $(TOP)/scripts/sysroot.sh $(ARCH))
$(if $(SYSROOT),,$(error ARCH=$(ARCH) needs the folder that scripts/sysroot.sh $(ARCH) makes))
# These compilers look into folders of their own first, whose libc may be older than the one that the libraries need.
CROSS   := --sysroot=$(SYSROOT) -B$(SYSROOT)/usr/lib/$(TRIPLET)/
CROSS_INCLUDE := -isystem $(SYSROOT)/usr/include/$(TRIPLET) -isystem $(SYSROOT)/usr/include
CC      := $(TRIPLET)-gcc $(CROSS) $(CROSS_INCLUDE)
# Its own headers ask for the libc's behind them.
CXX     := $(TRIPLET)-g++ $(CROSS)
endif
