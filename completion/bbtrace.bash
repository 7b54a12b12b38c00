# SPDX-License-Identifier: BSD-2-Clause
# bash completion for bbtrace(8): verbs, options and their values, objects, functions, processes.

# Words into COMPREPLY; what matches is the word after its last comma when lists are allowed.
_bbtrace_words() {
	mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur")
}

_bbtrace_list_words() {
	local head=""

	[[ $cur == *,* ]] && head=${cur%,*},
	mapfile -t COMPREPLY < <(compgen -P "$head" -W "$1" -- "${cur##*,}")
	compopt -o nospace
}

_bbtrace_files() {
	mapfile -t COMPREPLY < <(compgen -f -- "$cur")
	compopt -o filenames
}

# Files where a path was begun, else commands, sonames and files.
_bbtrace_objects() {
	_bbtrace_files
	[[ $cur == */* || -z $cur ]] && return
	local names

	names=$(compgen -c -- "$cur")
	[[ $cur == lib* ]] && names+=$'\n'$(PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2>/dev/null |
		awk -v p="$cur" 'index($1, p) == 1 { print $1 }')
	mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(sort -u <<<"$names" | sed '/^$/d')
}

# Functions of object $1 that start with $2. A list that doesn't come in time is none: half of one would complete
# to a wrong common part.
_bbtrace_function_names() {
	local lines

	if [[ $1 == kernel ]]; then
		[[ ${#2} -ge 2 ]] || return
		awk -v p="$2" '$2 ~ /^[tT]$/ && index($3, p) == 1 { print $3 }' /proc/kallsyms 2>/dev/null
		return
	fi
	lines=$(timeout 2 bbtrace list -F json "$1" "$2*" </dev/null 2>/dev/null) || return
	sed -n 's/.*"symbol":"\([A-Za-z0-9_.$@~]*\)".*/\1/p' <<<"$lines" | awk -v p="$2" 'index($0, p) == 1'
}

_bbtrace_functions() {
	mapfile -t COMPREPLY < <(_bbtrace_function_names "$1" "$cur" | sort -u)
	[[ $cur == @* ]] && {
		mapfile -t COMPREPLY < <(compgen -P @ -f -- "${cur#@}")
		compopt -o filenames
	}
}

_bbtrace_pids() {
	local pids=(/proc/[0-9]*)

	_bbtrace_list_words "${pids[*]#/proc/}"
}

_bbtrace_formats() {
	case $verb in
	list) echo "text json annotate dot" ;;
	doctor | ctl | why | core) echo "text json" ;;
	*) echo "text json chrome perfetto annotate dot html summary folded folded:count svg svg:count callgrind pprof lcov cobertura drcov bolt autofdo autofdo:gcc tests tests:names paths paths:json" ;;
	esac
}

# The value of option $1. False: it takes none.
_bbtrace_value() {
	case $1 in
	-p | --pid | --tid) _bbtrace_pids ;;
	--comm) _bbtrace_words "$(cat /proc/[0-9]*/comm 2>/dev/null)" ;;
	--depth | -t | --timeout | -l | --limit | --interval | --last | --retire | --fail-under | --stack-size | --freq | --buffer | --max-overhead | --min-duration | --if | --attach | --max-size | --from | --to | \
		--head | --tail) COMPREPLY=() ;;
	--cgroup)
		mapfile -t COMPREPLY < <(compgen -d -- "${cur:-/sys/fs/cgroup/}")
		compopt -o filenames
		;;
	-e | --events) _bbtrace_list_words "entry branch return" ;;
	-r | --regs)
		_bbtrace_list_words "none args all rax rbx rcx rdx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 rip flags"
		;;
	-F | --format) _bbtrace_words "$(_bbtrace_formats)" ;;
	--returns) _bbtrace_words "ret probe none" ;;
	--engine) _bbtrace_words "probe inline auto" ;;
	--placement) _bbtrace_words "full implied witness" ;;
	-T | --time) _bbtrace_words "rel abs delta none" ;;
	--color) _bbtrace_words "auto always never" ;;
	-o | --output | --record | --profile | -b | --btf | --control-socket) _bbtrace_files ;;
	--control) _bbtrace_words app ;;
	--uid) _bbtrace_list_words "$(compgen -u)" ;;
	-s | --syscall) COMPREPLY=() ;;
	-u | --user) mapfile -t COMPREPLY < <(compgen -u -- "$cur") ;;
	--with) _bbtrace_words "$(bbtrace list --events kernel 2>/dev/null | cut -d" " -f1)" ;;
	--exclude) [[ $verb == report ]] || _bbtrace_functions "${object:-kernel}" ;;
	*) return 1 ;;
	esac
	return 0
}

# The line without the splits that readline makes at : and =. Sets words, cword, cur, prev.
_bbtrace_words_of_line() {
	if declare -F _get_comp_words_by_ref >/dev/null; then
		_get_comp_words_by_ref -n := -c cur -p prev -w words -i cword
	else
		words=("${COMP_WORDS[@]}") cword=$COMP_CWORD
		cur=${words[cword]} prev=${words[cword - 1]}
	fi
}

# Finds verb and object among the words before the cursor. False: behind --, where CMD starts at $command.
_bbtrace_look_back() {
	local i word

	for ((i = 1; i < cword; i++)); do
		word=${words[i]}
		case $word in
		--)
			command=$((i + 1))
			return 1
			;;
		-s | --syscall | -p | --pid | --tid | --comm | --uid | --cgroup | -e | --events | --exclude | --with | --watch | -r | --regs | -F | --format | \
			--depth | -o | --output | -t | --timeout | -l | --limit | -T | --time | --interval | --last | --retire | --fail-under | -u | --user | -b | \
			--btf | --attach | --color | --stack-size | --freq | --buffer | --max-overhead | --min-duration | --if | --record | --max-size | --returns | --engine | --placement | --profile | --control-socket | --from | --to | \
			--head | --tail | --tag | --control | --dump-on | --start-on | --stop-on | --delay | --for | -n | --differences | --context) i=$((i + 1)) ;;
		-*) ;;
		*) if [[ -z $verb ]]; then verb=$word; elif [[ -z $object ]]; then object=$word; fi ;;
		esac
	done
}

_bbtrace_options() {
	local own=''

	case $verb in
	user | kernel | trace | event | watch | profile)
		case $verb in
		profile) own=--timeline ;;
		user | kernel | trace) own="--why --explain --args --if" ;;
		esac
		_bbtrace_words "$own -p --pid --tid --comm --uid --cgroup -f --follow -e --events --exclude --with --freq --watch --user-only --exported -r --regs -k --stack --stack-size
			-F --format --depth -o --output -t --timeout -l --limit -T --time -c --count --interval --reset --once --retire --fail-under --last -u --user -b --btf
			-v --verbose -q --quiet --color --no-fold --no-src --debuginfod --addresses --buffer --max-overhead --min-duration --attach --returns --engine --placement --profile --record --tag --max-size
			--armor --control-socket --paused --control --dump-on --dump-on-failure --start-on
			--stop-on --delay --for -h --help"
		;;
	report)
		_bbtrace_words "-p --pid --tid --comm -e --events --exclude --if -r --regs -F --format --fail-under -o --output --from --to --head
			--tail --info --tag --by-symbol -l --limit --depth --min-duration -T --time --no-fold --no-src --addresses -c --count --last --color -v --verbose
			-q --quiet -h --help"
		;;
	why)
		_bbtrace_words "-s --syscall --again --depth -f --follow --exclude -F --format -o --output --no-src --debuginfod -u --user --buffer
			--engine --addresses -v --verbose -q --quiet -h --help"
		;;
	merge) _bbtrace_words "-o --output --tag --by-symbol --armor -v --verbose -q --quiet -h --help" ;;
	diff)
		_bbtrace_words "-n --differences --context --pass --fail --tid --comm --exclude --from --to --depth -F --format -o --output
			--color --addresses -v --verbose -q --quiet -h --help"
		;;
	list) _bbtrace_words "--events --sites --points --no-src --debuginfod --engine -p --pid --exclude --exported -F --format --addresses -v --verbose -q --quiet -h --help" ;;
	core) _bbtrace_words "--last -r --regs -T --time --no-fold --no-src --debuginfod -F --format --color -v --verbose -q --quiet -h --help" ;;
	ctl) _bbtrace_words "--wait -t --timeout -F --format -v --verbose -q --quiet -h --help" ;;
	doctor) _bbtrace_words "--calibrate -F --format -v --verbose -q --quiet -h --help" ;;
	*) _bbtrace_words "--help --version" ;;
	esac
}

# A PID or a socket, then a command.
_bbtrace_ctl() {
	local commands="status counts reset dump add remove stop start mark quit help"

	case $object in
	"") _bbtrace_words "$(timeout 2 bbtrace ctl -q 2>/dev/null | awk 'NR > 1 { print $1 }') $commands" ;;
	*[!0-9]*) [[ $object == */* ]] && _bbtrace_words "$commands" ;;
	*) _bbtrace_words "$commands" ;;
	esac
}

_bbtrace_operand() {
	case $verb in
	"") _bbtrace_words "user kernel trace event watch profile why list report merge diff core ctl doctor" ;;
	ctl) _bbtrace_ctl ;;
	report | merge | diff | core) _bbtrace_files ;;
	kernel) _bbtrace_functions kernel ;;
	event) _bbtrace_words "$(bbtrace list --events kernel 2>/dev/null | cut -d" " -f1)" ;;
	trace | why)
		# a colon ends a word for bash: what is completed is behind the last one
		if [[ $cur == kernel:* ]]; then
			cur=${cur#kernel:} _bbtrace_functions kernel
		elif [[ $cur == user:*?:* ]]; then
			local of=${cur#user:}

			cur=${of#*:} _bbtrace_functions "${of%%:*}"
		elif [[ $cur == user:* ]]; then
			cur=${cur#user:} _bbtrace_objects
		else
			compopt -o nospace 2>/dev/null
			_bbtrace_words "user: kernel:"
		fi
		;;
	user | list)
		if [[ $cur == *?:* ]]; then
			local of=${cur%%:*} cur=${cur#*:}

			_bbtrace_functions "$of"
		elif [[ -z $object || $object == *:* ]]; then
			_bbtrace_objects
			if [[ $verb == list && kernel == "$cur"* ]]; then
				COMPREPLY+=(kernel)
			fi
		else
			_bbtrace_functions "$object"
		fi
		;;
	esac
}

_bbtrace() {
	local cur prev words cword verb="" object="" command=0

	_bbtrace_words_of_line
	COMPREPLY=()
	if ! _bbtrace_look_back; then
		if declare -F _command_offset >/dev/null; then
			_command_offset "$command"
		elif ((cword == command)); then
			mapfile -t COMPREPLY < <(compgen -c -- "$cur")
		else
			_bbtrace_files
		fi
		return
	fi
	[[ $verb == kernel ]] && object=kernel
	_bbtrace_value "$prev" && return
	if [[ $cur == -* ]]; then
		_bbtrace_options
	else
		_bbtrace_operand
	fi
}

complete -F _bbtrace bbtrace
