# bbtrace: `make` builds, `make try` runs an example, `make check` runs every test. `make help` lists the rest.
# SPDX-License-Identifier: BSD-2-Clause

PREFIX  ?= /usr/local
DESTDIR ?=
CLANG   ?= clang
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool /usr/local/sbin/bpftool) bpftool)
PROTOC_C ?= protoc-c
CFLAGS  ?= -O2 -g
V       ?= 0
Q       := $(if $(filter 0,$(V)),@)
# The only place where it stands.
VERSION := $(shell sed -n '1s/.*(\(.*\)).*/\1/p' debian/changelog)

include scripts/cross.mk
B        := build$(if $(SYSROOT),/$(ARCH))
# The architecture's name in vmlinux/ and bpf/arch.
BPF_ARCH := $(patsubst x86_64,x86,$(patsubst riscv%,riscv,$(ARCH)))
# A step has 500 bytes: the C library sets and copies these faster than "rep stos", which gcc would choose.
TUNE     := $(shell $(CC) -mstringop-strategy=libcall -E -x c /dev/null >/dev/null 2>&1 && echo -mstringop-strategy=libcall)
WARN     := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wno-unused-parameter -Wno-missing-field-initializers $(WERROR)
CPPFLAGS += -D_GNU_SOURCE -DBBTRACE_VERSION='"$(VERSION)"' -Isrc -I$(B) -MMD -MP
ALL_CFLAGS = -std=gnu11 $(WARN) $(TUNE) $(CFLAGS)
LIBBPF   ?= -lbpf
LIBS     := $(LIBBPF) -ldw -lelf -lz -lZydis -liberty -ljson-c -lprotobuf-c -lsodium -lzstd -lm -lpthread

# What core dumps are decompressed by, each if it is installed.
HAVE     = $(if $(wildcard $(SYSROOT)/usr/include/$(1)),$(2))
UNPACK  := $(call HAVE,zstd.h,zstd) $(call HAVE,lzma.h,lzma) $(call HAVE,lz4frame.h,lz4)
LIBS    += $(UNPACK:%=-l%)
CPPFLAGS += $(if $(filter zstd,$(UNPACK)),-DHAVE_ZSTD) $(if $(filter lzma,$(UNPACK)),-DHAVE_LZMA) $(if $(filter lz4,$(UNPACK)),-DHAVE_LZ4)

# So is ncurses, by its header; the library is loaded when it is needed (src/tui/terminal.c).
CPPFLAGS += $(if $(call HAVE,ncurses.h,yes),-DHAVE_NCURSES)

# Capstone is used if it is installed. It is loaded when it is needed: its data takes 1 ms to relocate. CAPSTONE= builds
# without it.
LIBDIR   := $(if $(SYSROOT),$(SYSROOT)/usr/lib/$(TRIPLET),$(shell pkg-config --variable=libdir capstone 2>/dev/null))
CAPSTONE := $(if $(LIBDIR),$(shell readelf -d $(LIBDIR)/libcapstone.so 2>/dev/null | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p'))
CPPFLAGS += $(if $(CAPSTONE),-DCAPSTONE='"$(CAPSTONE)"')

SRC  := $(wildcard src/*/*.c src/*/*/*.c src/*/*/*/*.c)
PROTO := $(patsubst src/%.proto,%,$(wildcard src/output/*/*.proto))
LIB  := $(patsubst src/%.c,$(B)/%.o,$(SRC)) $(PROTO:%=$(B)/%.pb-c.o)
# Objects that need neither BPF nor a command line: unit tests and fuzzers link these only.
PURE := $(filter-out $(foreach d,cache cli pipeline select session control verbs source/probes,$(B)/$(d)/%),$(LIB))

# They link all pure code, the command line's options, the reader of branch weights and what joins files.
FUZZ_CMD := $(B)/cli/options.o $(B)/cli/other_words.o $(B)/cli/suggestion.o $(B)/cli/command.o $(B)/cli/request.o $(B)/cli/option_values.o $(patsubst src/%.c,$(B)/%.o,$(wildcard src/cli/options_*.c)) $(B)/control/line.o $(B)/cli/formats.o $(B)/pipeline/read/edge_line.o $(B)/select/costs_text.o $(B)/pipeline/read/merged_plan.o $(B)/pipeline/counts/target_sums.o

# The objects of a folder are one, whole.o, in less than half of the time (scripts/jumbo.pl). JUMBO=san: for the sanitizers;
# all: for the product, too, as for tests/arch/t_short.sh; empty: nowhere. ALONE: what some programs link without its folder.
JUMBO  ?= san
ALONE   = $(FUZZ_CMD) $(patsubst %,$(B)/%.o,source/probes/stream/drain source/probes/named/tracepoint_format \
	source/probes/mechanisms/kprobe_profile session/process/process_ends control/server session/overhead_limit \
	pipeline/write/packer pipeline/write/sink pipeline/write/sink_file)
folder  = $(patsubst %/,%,$(dir $(1)))
made    = %.pb-c.o $(B)/main.o
whole   = $(patsubst $(B)/%,$(2)/%,$(addsuffix /whole.o,$(sort $(call folder,$(filter-out $(made),$(1))))) $(filter $(made),$(1)))
PRODUCT = $(if $(filter all,$(JUMBO)),$(call whole,$(LIB),$(B)),$(LIB))

# The manual's pages of the verbs are made by the program, of which they list the options.
MANUAL := $(patsubst man/verbs/%.mdoc,$(B)/man/bbtrace-%.8,$(wildcard man/verbs/*.mdoc))

all: $(B)/bbtrace $(if $(SYSROOT),,$(MANUAL))

man: $(MANUAL)

# One for another machine lists the same.
NATIVE := $(if $(SYSROOT),build,$(B))/bbtrace
$(MANUAL): $(B)/man/bbtrace-%.8: man/verbs/%.mdoc man/options.mdoc man/bbtrace.8 scripts/manual.sh $(NATIVE)
	@mkdir -p $(@D)
	$(Q)scripts/manual.sh $(NATIVE) $* >$@.tmp
	@mv $@.tmp $@
ifneq ($(SYSROOT),)
$(NATIVE): FORCE
	+@$(MAKE) --no-print-directory ARCH=$(MACHINE) B=build JUMBO=san build/bbtrace
FORCE:
endif

# A test that runs meanwhile finds the old or the new program, never half of one.
$(B)/bbtrace: $(B)/main.o $(PRODUCT)
	@echo "  LD    $@"
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@.new $^ $(LIBS) && mv -f $@.new $@

$(B)/%.o: src/%.c Makefile
	@mkdir -p $(@D)
	@echo "  CC    $<"
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -c -o $@ $<

$(B)/%/whole.o: Makefile scripts/jumbo.pl
	@mkdir -p $(@D)
	@echo "  CC    src/$*"
	$(Q)scripts/jumbo.pl $@ $(sort $(wildcard src/$*/*.c)) -- $(CC) $(CPPFLAGS) -std=gnu11 $(CFLAGS)

# Rebuilt when Capstone, or what decompresses core dumps, was installed or removed.
$(B)/arch/capstone.o $(B)/san/arch/capstone.o $(B)/fuzz/arch/capstone.o $(B)/arch/whole.o $(B)/san/arch/whole.o: $(B)/capstone.libs
$(B)/capstone.libs: USED := $(CAPSTONE)
$(foreach b,$(B) $(B)/san $(B)/fuzz,$(b)/object/core/core_stream.o $(b)/object/core/whole.o): $(B)/unpack.libs
$(B)/unpack.libs: USED := $(UNPACK)
$(foreach b,$(B) $(B)/san $(B)/fuzz,$(b)/tui/terminal.o $(b)/tui/whole.o): $(B)/ncurses.libs
$(B)/ncurses.libs: USED := $(call HAVE,ncurses.h,ncurses)
$(B)/%.libs: FORCE
	@mkdir -p $(@D)
	@echo '$(USED)' | cmp -s - $@ || echo '$(USED)' >$@
FORCE:

# Pages, style sheets and scripts as numbers for src/output/pages/pages.c, without the first line, the licence.
PAGES := $(patsubst src/%,$(B)/%.inc,$(wildcard src/output/pages/html/*))

$(B)/output/pages/html/%.inc: src/output/pages/html/% Makefile
	@mkdir -p $(@D)
	@echo "  EMBED $<"
	$(Q){ tail -n +2 $< | od -An -v -tx1 | sed 's/ \([0-9a-f][0-9a-f]\)/0x\1,/g' && echo 0; } > $@.tmp && mv $@.tmp $@

$(B)/output/pages/pages.o $(B)/san/output/pages/pages.o $(B)/fuzz/output/pages/pages.o: | $(PAGES)

# The numbers of system calls, by the headers of the machine that bbtrace is built for.
$(B)/pipeline/syscall_numbers.inc: Makefile
	@mkdir -p $(@D)
	@echo "  NAMES $@"
	$(Q)echo '#include <asm/unistd.h>' | $(CC) $(CFLAGS) -E -dM - | sed -n 's/^#define __NR_\([a-z_0-9]*\) .*/{__NR_\1, "\1"},/p' | sort >$@.tmp && test -s $@.tmp && mv $@.tmp $@

$(B)/pipeline/syscall_names.o: | $(B)/pipeline/syscall_numbers.inc

# Messages of protobuf: C of each src/output/*/NAME.proto.
$(PROTO:%=$(B)/%.pb-c.h): $(B)/%.pb-c.h: src/%.proto Makefile
	@mkdir -p $(@D)
	@echo "  PROTO $<"
	$(Q)$(PROTOC_C) -Isrc --c_out=$(B) $<

$(PROTO:%=$(B)/%.pb-c.c): %.pb-c.c: %.pb-c.h
$(PROTO:%=$(B)/%.pb-c.o): %.o: %.c
	@echo "  CC    $<"
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -c -o $@ $<
$(PROTO:%=$(B)/san/%.pb-c.o): $(B)/san/%.o: $(B)/%.c
	@mkdir -p $(@D)
	@echo "  CC    $< (sanitized)"
	$(Q)$(CC) $(CPPFLAGS) -std=gnu11 $(WARN) $(SAN) -fPIC -c -o $@ $<
$(PROTO:%=$(B)/fuzz/%.pb-c.o): $(B)/fuzz/%.o: $(B)/%.c
	@mkdir -p $(@D)
	@echo "  CLANG $< (fuzzed)"
	$(Q)$(CLANG) $(CPPFLAGS) -std=gnu11 $(WARN) $(FUZZ_SAN) -fsanitize=fuzzer-no-link -c -o $@ $<

$(foreach b,$(B) $(B)/san $(B)/fuzz,$(addprefix $(b)/output/,timeline/packets.o timeline/perfetto.o profile/pprof.o)) $(B)/unit/test_output_perfetto.o $(B)/corpus/fuzz_trace_file $(B)/fuzz/fuzz_trace_file: | $(PROTO:%=$(B)/%.pb-c.h)

# The BPF programs: each object and its skeleton. gs is a register of x86, text has numbers of its system calls.
BPF_SKEL := $(patsubst %.bpf.c,$(B)/%.skel.h,$(filter-out $(if $(filter x86,$(BPF_ARCH)),,gs.bpf.c text.bpf.c),$(notdir $(wildcard bpf/*.bpf.c bpf/alone/*.bpf.c))))
vpath %.bpf.c bpf bpf/alone

$(B)/%.bpf.o: %.bpf.c $(wildcard bpf/*.h bpf/*/*.h vmlinux/*.h vmlinux/*/*.h) Makefile
	@mkdir -p $(@D)
	@echo "  BPF   $@"
	$(Q)$(CLANG) -g -O2 -Wall -Werror -target bpf -D__TARGET_ARCH_$(BPF_ARCH) -Ivmlinux -Ivmlinux/$(BPF_ARCH) -Ibpf $(BPF_CFLAGS) -c -o $@.tmp $<
	$(Q)$(BPFTOOL) gen object $@ $@.tmp && rm $@.tmp

$(B)/%.skel.h: $(B)/%.bpf.o
	@echo "  SKEL  $@"
	$(Q)$(BPFTOOL) gen skeleton $< name $*_bpf > $@.tmp && mv $@.tmp $@

$(patsubst src/%.c,$(B)/%.o,$(wildcard src/source/probes/*.c src/source/probes/*/*.c) src/source/inline/text/gs.c src/source/inline/target/text_calls.c) $(foreach b,san fuzz,$(B)/$(b)/source/inline/text/gs.o $(B)/$(b)/source/inline/target/text_calls.o): | $(BPF_SKEL)

# Of each folder's object what it is made of, and all that has to be made before.
whole_of = $(eval $(1)/whole.o: $(wildcard src/$(2)/*.c) | $(BPF_SKEL) $(PAGES) $(PROTO:%=$(B)/%.pb-c.h) $(B)/pipeline/syscall_numbers.inc)
$(foreach f,$(sort $(call folder,$(patsubst src/%,%,$(SRC)))),$(if $(JUMBO),$(call whole_of,$(B)/san/$(f),$(f)))$(if $(filter all,$(JUMBO)),$(call whole_of,$(B)/$(f),$(f))))

# ---- unit tests: no root, under AddressSanitizer and UBSan ----

UNIT := $(patsubst tests/unit/%.c,$(B)/unit/%,$(wildcard tests/unit/test_*.c))
SAN  := -O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer

$(B)/san/%.o: src/%.c Makefile
	@mkdir -p $(@D)
	@echo "  CC    $< (sanitized)"
	$(Q)$(CC) $(CPPFLAGS) -std=gnu11 $(WARN) $(SAN) -fPIC -c -o $@ $<

$(B)/san/%/whole.o: Makefile scripts/jumbo.pl
	@mkdir -p $(@D)
	@echo "  CC    src/$* (sanitized)"
	$(Q)scripts/jumbo.pl $@ $(filter-out $(patsubst $(B)/%.o,src/%.c,$(ALONE)),$(sort $(wildcard src/$*/*.c))) -- \
		$(CC) $(CPPFLAGS) -std=gnu11 $(SAN) -fPIC

# One for all of them: each with a copy of its own took 5 GB.
SAN_LIB := $(B)/san/libbbtrace.so
$(SAN_LIB): $(if $(JUMBO),$(call whole,$(PURE),$(B)/san),$(patsubst $(B)/%,$(B)/san/%,$(PURE)))
	@echo "  LD    $@"
	$(Q)$(CC) $(SAN) -shared -Wl,-soname,$(@F) -o $@ $^ $(LIBS)

$(B)/unit/%.o: tests/unit/%.c Makefile
	@mkdir -p $(@D)
	@echo "  CC    $<"
	$(Q)$(CC) $(CPPFLAGS) -Itests/unit -std=gnu11 $(WARN) $(SAN) -c -o $@ $<

$(B)/unit/%: $(B)/unit/%.o $(SAN_LIB)
	@echo "  LD    $@"
	$(Q)$(CC) $(SAN) -Wl,-rpath,'$$ORIGIN/../san' -o $@ $(filter %.o %.so,$^) $(LIBS)

# It brings its own ring buffer in place of libbpf's.
$(B)/unit/test_drain: $(B)/san/source/probes/stream/drain.o
$(B)/unit/test_tracepoint: $(B)/san/source/probes/named/tracepoint_format.o
$(B)/unit/test_kprobe_profile: $(B)/san/source/probes/mechanisms/kprobe_profile.o
$(B)/unit/test_ends: $(B)/san/session/process/process_ends.o
$(B)/unit/test_control: $(B)/san/control/line.o $(B)/san/control/server.o
$(B)/unit/test_brake: $(B)/san/session/overhead_limit.o
$(B)/unit/test_packer: $(B)/san/pipeline/write/packer.o $(B)/san/pipeline/write/sink.o $(B)/san/pipeline/write/sink_file.o
$(B)/unit/test_path_glob: $(B)/san/select/covered/path_glob.o
$(B)/unit/test_costs: $(B)/san/select/costs_text.o

# The whole program: tests/e2e/t_pairs.sh.
OTHER	 := $(filter-out $(PURE),$(LIB))
SAN_PROG := $(B)/san/main.o $(if $(JUMBO),$(call whole,$(filter-out $(ALONE),$(OTHER)),$(B)/san)) $(patsubst $(B)/%,$(B)/san/%,$(if $(JUMBO),$(filter $(ALONE),$(OTHER)),$(OTHER)))
$(patsubst $(B)/%,$(B)/san/%,$(filter $(B)/source/probes/%,$(LIB))): | $(BPF_SKEL)
$(B)/san/pipeline/syscall_names.o: | $(B)/pipeline/syscall_numbers.inc
$(B)/san/bbtrace: $(SAN_PROG) $(SAN_LIB)
	@echo "  LD    $@"
	$(Q)$(CC) $(SAN) -Wl,-rpath,'$$ORIGIN' -o $@.new $^ $(LIBS) && mv -f $@.new $@

units: $(UNIT)

# ---- fuzz: each tests/fuzz/fuzz_NAME.c, under AddressSanitizer and UBSan; see FUZZ_CMD ----

FUZZ	 := $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_OBJ := $(filter-out %/object/debug/sandbox.o,$(patsubst $(B)/%,$(B)/fuzz/%,$(PURE) $(FUZZ_CMD)))
FUZZ_TIME ?= 60
FUZZ_SAN := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer

# With libFuzzer, which needs clang.
$(B)/fuzz/%.o: src/%.c Makefile
	@mkdir -p $(@D)
	@echo "  CLANG $< (fuzzed)"
	$(Q)$(CLANG) $(CPPFLAGS) -std=gnu11 $(WARN) $(FUZZ_SAN) -fsanitize=fuzzer-no-link -c -o $@ $<

$(addprefix $(B)/fuzz/,$(FUZZ)): $(B)/fuzz/%: tests/fuzz/%.c tests/fuzz/sandbox.c $(FUZZ_OBJ)
	@echo "  CLANG $@"
	$(Q)$(CLANG) $(CPPFLAGS) -Itests/fuzz -Itests/unit -std=gnu11 $(WARN) $(FUZZ_SAN) -fsanitize=fuzzer -o $@ $(filter %.c %.o,$^) $(LIBS)

# FUZZ_TIME: seconds for each; TARGETS="elf plan": only these.
fuzz:
	@scripts/deps.sh fuzz
	$(BUILD_ALL) $(addprefix $(B)/fuzz/,$(if $(TARGETS),$(TARGETS:%=fuzz_%),$(FUZZ)))
	@B=$(B) FUZZ_TIME=$(FUZZ_TIME) tests/fuzz/run.sh $(TARGETS)

# With a main that runs the files of the corpus: part of make check, and needs no clang.
CORPUS := $(addprefix $(B)/corpus/,$(FUZZ))
$(B)/corpus/main.o: tests/fuzz/main.c Makefile
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) -std=gnu11 $(WARN) $(SAN) -c -o $@ $<

$(CORPUS): $(B)/corpus/%: tests/fuzz/%.c $(B)/corpus/main.o $(SAN_LIB) $(patsubst $(B)/%,$(B)/san/%,$(FUZZ_CMD))
	@mkdir -p $(@D)
	@echo "  CC    $@"
	$(Q)$(CC) $(CPPFLAGS) -Itests/fuzz -Itests/unit -std=gnu11 $(WARN) $(SAN) -Wl,-rpath,'$$ORIGIN/../san' -o $@ $< $(filter %.o %.so,$^) $(LIBS)

corpus: $(CORPUS)

.PHONY: fuzz corpus

# ---- the guest ----

vm-shell: all
	@tests/vm/shell.sh $(if $(KERNEL),-k $(KERNEL))

# A test of src/kernel with the guest's own kernel.
$(B)/vm/kernel_open: tests/vm/kernel_open.c tests/unit/tap.h $(PURE)
	@mkdir -p $(@D)
	@echo "  CC    $@"
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $< $(PURE) $(LIBS)

# Where probes would go, for tests/check/starts.py; plans by batches, for tests/check/t_batches.sh.
$(B)/lengths $(B)/sites $(B)/batches $(B)/counting $(B)/copies $(B)/supervised: $(B)/%: tests/check/%.c $(PURE)
	@echo "  CC    $@"
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $< $(PURE) $(LIBS)

# Prints how the BPF programs are relocated, for tests/e2e/t_startup.sh.
$(B)/relocated: tests/check/relocated.c $(PURE) | $(BPF_SKEL)
	@echo "  CC    $@"
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $< $(PURE) $(LIBS)

# Attaches and detaches probes while a program runs, for tests/e2e/t_growing.sh.
$(B)/growing: tests/check/growing.c $(LIB)
	@echo "  CC    $@"
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $< $(LIB) $(LIBS)

clean:
	rm -rf $(B)

.PHONY: all man units vm-shell clean FORCE
.SECONDARY:
-include $(shell find $(B) \( -path '*/bare' -o -path '*/vm' -o -path '$(B)/arm64' -o -path '$(B)/riscv64' -o -path '$(B)/sysroot' -o -path '$(B)/quick' \) -prune -o -type f -name '*.d' -print 2>/dev/null)

# ---- deps, try, check ----

AT = $(word $(2),$(subst :, ,$(1)))

JOBS = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))
BUILD_ALL = +@$(MAKE) --no-print-directory $(JOBS)

# A second make builds: this one looked for the tools before they were installed.
try:
	@scripts/deps.sh build
	$(BUILD_ALL) all
	@B=$(B) scripts/try.sh

# For tests/arch/t_short.sh: each other architecture whose compiler is there, not optimised, which takes a third of the
# time.
QUICK := $(foreach a,arm64:aarch64 riscv64:riscv64,$(if $(shell command -v $(call AT,$(a),2)-linux-gnu-gcc),$(call AT,$(a),1)))
quick: $(filter quick-$(or $(QUICK_ARCH),%),$(QUICK:%=quick-%))
quick-%:
	+@$(MAKE) --no-print-directory ARCH=$* B=$(B)/quick/$* CFLAGS=-O0 JUMBO=all all
	+@$(MAKE) --no-print-directory -C tests/progs ARCH=$* B=$(abspath $(B))/quick/$* $(patsubst %,$(abspath $(B))/quick/$*/progs/%,fib switch except-O2)

# The unit tests, built and run.
unit:
	$(BUILD_ALL) units
	@B=$(B) TESTS="$(UNIT)" scripts/check.sh

# T=pattern: the tests whose path has it, and what these need. Without T: nothing to do.
MATCHED = $(if $(T),$(shell B=$(B) scripts/tests.sh match '$(T)'))
test:
	$(if $(MATCHED),,$(error make test T=PATTERN, part of a path: no test matches "$(T)"; scripts/tests.sh all lists them))
	$(BUILD_ALL) $(shell B=$(B) scripts/tests.sh targets $(MATCHED))
	$(if $(shell scripts/tests.sh programs $(MATCHED)),$(BUILD_ALL) -C tests/progs B=$(abspath $(B)))
	@B=$(B) TESTS="$(MATCHED)" scripts/check.sh

# For each commit: no guest, no other architecture.
check-quick:
	@scripts/deps.sh test
	$(BUILD_ALL) all units corpus
	$(BUILD_ALL) -C tests/progs B=$(abspath $(B))
	@B=$(B) TESTS="$$(B=$(B) scripts/tests.sh quick | xargs)" scripts/check.sh

# What tests call besides bbtrace.
CHECKERS := $(addprefix $(B)/,lengths sites batches counting copies supervised growing relocated san/bbtrace)

# TESTS="tests/e2e/t_x.sh …": only these.
check:
	@scripts/deps.sh test
	$(BUILD_ALL) all units corpus $(CHECKERS)
	$(if $(wildcard tests/progs/Makefile),$(BUILD_ALL) -C tests/progs B=$(abspath $(B)))
	$(BUILD_ALL) quick QUICK_ARCH=arm64
	@B=$(B) TESTS="$(TESTS)" scripts/check.sh

# The other architectures whole, in guests: half an hour and more.
check-arch:
	@scripts/deps.sh test
	@scripts/deps.sh arch
	$(BUILD_ALL) all quick
	$(BUILD_ALL) -C tests/progs B=$(abspath $(B))
	$(BUILD_ALL) foreign
	@B=$(B) MATRIX=whole TESTS="$(or $(TESTS),$(wildcard tests/arch/t_*.sh))" scripts/check.sh
foreign: $(QUICK:%=foreign-%)
foreign-%:
	+@$(MAKE) --no-print-directory ARCH=$* B=$(B)/$* all
	+@$(MAKE) --no-print-directory -C tests/progs ARCH=$* B=$(abspath $(B))/$*

# Tests that take an hour or more: SOAK_SECONDS=3600, KILLS=1000.
check-long:
	@scripts/deps.sh test
	@scripts/deps.sh long
	$(BUILD_ALL) all units corpus $(CHECKERS)
	$(BUILD_ALL) -C tests/progs B=$(abspath $(B))
	@B=$(B) TESTS="$(or $(TESTS),$(wildcard tests/long/t_*.sh))" scripts/check.sh

# Every format with the tools that read it, including browsers and databases.
check-formats:
	@scripts/deps.sh formats
	$(BUILD_ALL) all
	@B=$(B) TESTS="$(wildcard tests/formats/*_*.sh)" scripts/check.sh

lint:
	@B=$(B) prove -v scripts/lint.sh

deps:
	@scripts/deps.sh test

# docs/howto-* and docs/internals are for those who change bbtrace.
EXAMPLES      := $(sort $(filter-out docs/howto-%,$(wildcard docs/*.md)) $(wildcard docs/roles/*.md docs/tasks/*.md docs/tasks/src/*))
LICENSE_FILE  ?= LICENSE
ZSH_FUNCTIONS ?= share/zsh/site-functions
# Installed files: FROM:TO:MODE, under DESTDIR and PREFIX.
INSTALLED = \
	$(B)/bbtrace:bin/bbtrace:755 \
	include/bbtrace.h:include/bbtrace.h:644 \
	$(foreach p,$(wildcard man/*.[0-9]) $(MANUAL),$(p):share/man/man$(subst .,,$(suffix $(p)))/$(notdir $(p)):644) \
	completion/bbtrace.bash:share/bash-completion/completions/bbtrace:644 \
	completion/_bbtrace:$(ZSH_FUNCTIONS)/_bbtrace:644 \
	completion/bbtrace.fish:share/fish/vendor_completions.d/bbtrace.fish:644 \
	$(foreach f,$(LICENSE_FILE) README.md CONTRACT.md SECURITY.md CHANGELOG.md $(EXAMPLES),$(f):share/doc/bbtrace/$(f):644)
define INSTALL_ONE
install -D -m $(call AT,$(1),3) "$(call AT,$(1),1)" "$(DESTDIR)$(PREFIX)/$(call AT,$(1),2)"

endef
define UNINSTALL_ONE
rm -f "$(DESTDIR)$(PREFIX)/$(call AT,$(1),2)"

endef

# The documents and the manual as pages for a browser.
site: all $(MANUAL)
	@command -v cmark-gfm mandoc >/dev/null || { echo "make site needs cmark-gfm and mandoc" >&2; exit 1; }
	$(Q)scripts/site/site.pl $(B)/site $(B)/man

install: all $(MANUAL)
	$(foreach i,$(INSTALLED),$(call INSTALL_ONE,$(i)))

uninstall:
	$(foreach i,$(INSTALLED),$(call UNINSTALL_ONE,$(i)))
	@cd "$(DESTDIR)$(PREFIX)/share/doc" && { rmdir bbtrace/docs/roles; rmdir -p bbtrace/docs/tasks/src; } 2>/dev/null || true

mutants:
	@B=$(B) prove -v tests/mutants.sh

help:
	@echo 'make             build/bbtrace               make try       see it at work (root)'
	@echo 'make check       every test (root)           make lint      format, licences, who includes whom'
	@echo 'make check-quick a choice of them in a minute or two, without guests: for each commit'
	@echo 'make test T=e2e/t_count   builds what the tests with that in their path need, and runs them'
	@echo 'make check-formats  each output format by its own consumer, browsers and databases too (root)'
	@echo 'make check-long  the soak and a thousand kills: an hour and more (root)'
	@echo 'make ARCH=arm64  build/arm64/bbtrace, or ARCH=riscv64: by Debian'\''s cross compilers'
	@echo 'make check-arch  the other architectures, in guests (root): half an hour and more'
	@echo 'make unit        builds and runs the unit tests; units: builds them'
	@echo 'make deps        install what all of these need'
	@echo 'make bench       side by side with peers     make bench-quick'
	@echo 'make mutants     breaks the core in each known way: does a unit test notice?'
	@echo 'make fuzz        libFuzzer on all that reads foreign bytes, FUZZ_TIME=60 seconds each'
	@echo 'make site        build/site: the documents for a browser, with a search'
	@echo 'make install     DESTDIR=, PREFIX=           make uninstall make clean'

.PHONY: try unit test check check-quick check-arch check-long quick foreign check-formats mutants lint deps site install uninstall help

# ---- bench: compares bbtrace, its traps alone and its peers (root) ----

BENCH := $(patsubst bench/%.c,$(B)/bench/%,$(wildcard bench/*.c)) $(B)/bench/work.pg

$(B)/bench/%: bench/%.c Makefile
	@mkdir -p $(@D)
	@echo "  CC    $@"
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $< -lbpf -lpthread

# uftrace needs -pg.
$(B)/bench/work.pg: bench/work.c Makefile
	@mkdir -p $(@D)
	@echo "  CC    $@"
	$(Q)$(CC) -D_GNU_SOURCE -std=gnu11 $(WARN) -O2 -g -pg -o $@ $< -lpthread

bench-programs: $(BENCH)

bench bench-quick:
	@scripts/deps.sh bench
	$(BUILD_ALL) all bench-programs
	@B=$(B) bench/bench.py $(if $(filter bench-quick,$@),--quick)

.PHONY: bench bench-quick bench-programs

# ---- end ----
