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
	local lines pattern

	if [[ $1 == kernel ]]; then
		[[ ${#2} -ge 2 ]] || return
		awk -v p="$2" '$2 ~ /^[tT]$/ && index($3, p) == 1 { print $3 }' /proc/kallsyms 2>/dev/null
		return
	fi
	pattern=$(sed 's/[][*?\\<>(-]/\\&/g; s/operator$/&?/' <<<"$2") # operator* is a name
	lines=$(timeout 2 bbtrace list -F json "$1" "$pattern*" </dev/null 2>/dev/null) || return
	sed -nE 's/.*"symbol":"(([^"\\]|\\.)*)".*/\1/; T; s/\\(["\\])/\1/g; p' <<<"$lines" |
		p=$2 awk 'index($0, ENVIRON["p"]) == 1'
}

# Lines into COMPREPLY, those that begin with what was typed, for the shell. It takes a colon for the begin of a word, unless a
# quote is open.
_bbtrace_lines() {
	local typed i

	typed=$(_bbtrace_typed)
	mapfile -t COMPREPLY < <(p=$typed awk 'index($0, ENVIRON["p"]) == 1' | sort -u)
	case $cur in
	\'*)
		mapfile -t COMPREPLY < <(printf '%s\n' "${COMPREPLY[@]}" | sed "s/'/'\\\\''/g")
		return
		;;
	\"*)
		mapfile -t COMPREPLY < <(printf '%s\n' "${COMPREPLY[@]}" | sed 's/[\\"$`]/\\&/g')
		return
		;;
	esac
	[[ $COMP_WORDBREAKS == *:* && $typed == *:* ]] || typed=""
	for i in "${!COMPREPLY[@]}"; do
		printf -v "COMPREPLY[i]" %q "${COMPREPLY[i]#"${typed%"${typed##*:}"}"}"
	done
}

# A word without its quotes, of which the last one may be missing.
_bbtrace_unquoted() {
	case $1 in
	\'*) printf '%s\n' "${1:1}" | sed "s/'\\\\''/'/g; s/'\$//" ;;
	\"*) printf '%s\n' "${1:1}" | sed 's/\([^\\]\)"$/\1/; s/\\\([\\"$`]\)/\1/g' ;;
	*) printf '%s\n' "$1" | sed 's/\\\(.\)/\1/g' ;;
	esac
}
_bbtrace_typed() {
	_bbtrace_unquoted "$cur"
}

# Functions in the trace file $1.
_bbtrace_traced() {
	[[ -f $1 ]] && _bbtrace_lines < <(timeout 2 bbtrace report --functions "$1" </dev/null 2>/dev/null)
}

# Variables of $1: a program, a library, or the kernel.
_bbtrace_variables() {
	if [[ $1 == kernel ]]; then
		[[ ${#cur} -ge 2 ]] && _bbtrace_lines < <(awk '$2 ~ /^[bBdDrR]$/ { print $3 }' /proc/kallsyms 2>/dev/null)
	else
		_bbtrace_lines < <(timeout 2 nm --defined-only -- "$1" 2>/dev/null | awk '$2 ~ /^[bBdDgGsS]$/ { print $3 }')
	fi
}

_bbtrace_functions() {
	_bbtrace_lines < <(_bbtrace_function_names "$1" "$(_bbtrace_typed)")
	[[ $cur == @* ]] && {
		mapfile -t COMPREPLY < <(compgen -P @ -f -- "${cur#@}")
		compopt -o filenames
	}
}

# Whose functions a function's name is of.
_bbtrace_object() {
	[[ $verb == kernel || -z $object ]] && echo kernel || echo "$object"
}

# The names that --if takes for the functions that were given, after what was typed of the condition.
_bbtrace_conditions() {
	local typed head of=()

	typed=$(_bbtrace_typed)
	[[ $typed =~ ^((.*\&\&)?[[:space:]]*\**)[A-Za-z0-9_.]*$ ]] || return
	head=${BASH_REMATCH[1]}
	case $verb:$object in
	*:) return ;;
	report:*) of=(report --arguments "${operands[@]}") ;;
	trace:kernel:*) of=(list --arguments kernel "${object#kernel:}") ;;
	trace:*) of=(list --arguments "${object#user:}") ;;
	kernel:*) of=(list --arguments kernel "${operands[@]}") ;;
	*) of=(list --arguments "${operands[@]}") ;;
	esac
	_bbtrace_lines < <(timeout 2 bbtrace "${of[@]}" </dev/null 2>/dev/null | cut -f1 | h=$head awk '{ print ENVIRON["h"] $0 }')
	compopt -o nospace
}

_bbtrace_pids() {
	local pids=(/proc/[0-9]*)

	_bbtrace_list_words "${pids[*]#/proc/}"
}

# ---- options: bbtrace has the table ----

# The options of the verb, as `bbtrace help --options` lists them: letter, name, argument, values, help.
_bbtrace_rows() {
	[[ $_bbtrace_rows_of == "$verb" ]] && return
	_bbtrace_rows_of=$verb
	_bbtrace_table=$(bbtrace help --options "$verb" 2>/dev/null)
}

# Finds option $1: its argument and its values in arg and values. False: there is none.
_bbtrace_row() {
	local letter name

	[[ $verb ]] || return
	_bbtrace_rows
	while IFS=$'\t' read -r letter name arg values _; do
		[[ $1 == "--$name" || $1 == "-$letter" ]] && return
	done <<<"$_bbtrace_table"
	return 1
}

_bbtrace_options() {
	if [[ -z $verb ]]; then
		_bbtrace_words "--help --version"
		return
	fi
	_bbtrace_rows
	_bbtrace_words "$(awk -F'\t' '{ if ($1 != "-") print "-" $1; print "--" $2 }' <<<"$_bbtrace_table")"
}

# The value of option $1. False: it takes none.
_bbtrace_value() {
	local arg values

	_bbtrace_row "$1" && [[ $arg != [-=] ]] || return
	case $values in
	-) COMPREPLY=() ;;
	,:pids) _bbtrace_pids ;;
	,:users) _bbtrace_list_words "$(compgen -u)" ;;
	,:comms) _bbtrace_list_words "$(cat /proc/[0-9]*/comm 2>/dev/null)" ;;
	,*) _bbtrace_list_words "${values#,}" ;;
	:users) mapfile -t COMPREPLY < <(compgen -u -- "$cur") ;;
	:files) _bbtrace_files ;;
	:folders)
		mapfile -t COMPREPLY < <(compgen -d -- "${cur:-/sys/fs/cgroup/}")
		compopt -o filenames
		;;
	:functions) if [[ $verb == report ]]; then _bbtrace_traced "$object"; else _bbtrace_functions "$(_bbtrace_object)"; fi ;;
	:conditions) _bbtrace_conditions ;;
	:events) _bbtrace_words "$(bbtrace list --events kernel 2>/dev/null | cut -d" " -f1)" ;;
	:*) COMPREPLY=() ;;
	*) _bbtrace_words "$values" ;;
	esac
}

# The line without the splits that readline makes at : and =. Sets words, cword, cur, prev.
_bbtrace_words_of_line() {
	local line=${COMP_LINE:-} word i

	words=() cword=-1
	for ((i = 0; i <= COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if [[ $cword -lt 1 || -z ${COMP_LINE:-} || $line == [[:space:]]* ]]; then
			words[++cword]=$word
		else
			words[cword]+=$word
		fi
		line=${line#"${line%%[![:space:]]*}"}
		line=${line#"$word"}
	done
	cur=${words[cword]} prev=${words[cword - 1]}
}

# Does the text have a colon that is not part of a "::"?
_bbtrace_is_pair() {
	[[ ${1//::/} == *?:* ]]
}

# Finds verb and object among the words before the cursor. False: after --, where CMD starts at $command.
_bbtrace_look_back() {
	local i word arg values

	for ((i = 1; i < cword; i++)); do
		word=${words[i]}
		case $word in
		--)
			command=$((i + 1))
			object=${operands[0]:-}
			return 1
			;;
		-*) _bbtrace_row "$word" && [[ $arg != [-=] ]] && i=$((i + 1)) ;;
		*)
			if [[ -z $verb ]]; then
				verb=$word
			else
				operands+=("$(_bbtrace_unquoted "$word")")
			fi
			;;
		esac
	done
	object=${operands[0]:-}
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
	"") _bbtrace_words "$(bbtrace help --options 2>/dev/null | cut -f1)" ;;
	ctl) _bbtrace_ctl ;;
	report) if [[ $object ]]; then _bbtrace_traced "$object"; else _bbtrace_files; fi ;;
	watch)
		if [[ $cur == kernel:* ]]; then
			cur=${cur#kernel:} _bbtrace_variables kernel
		elif [[ $cur == *?:* ]]; then
			local of=${cur%%:*}

			cur=${cur#*:} _bbtrace_variables "$of"
		else
			_bbtrace_files
		fi
		;;
	merge | diff | core) _bbtrace_files ;;
	stack) _bbtrace_pids ;;
	slow) _bbtrace_files ;;
	cover) _bbtrace_files ;;
	kernel) _bbtrace_functions kernel ;;
	event) _bbtrace_words "$(bbtrace list --events kernel 2>/dev/null | cut -d" " -f1)" ;;
	trace | why)
		# a colon ends a word for bash: what is completed is after the last one
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
		if _bbtrace_is_pair "$cur" && [[ ${cur%%:*} != *[\'\"]* ]]; then
			local of=${cur%%:*} cur=${cur#*:}

			_bbtrace_functions "$of"
		elif [[ -z $object ]] || _bbtrace_is_pair "$object"; then
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
	local cur prev words cword operands=() verb="" object="" command=0 _bbtrace_rows_of="" _bbtrace_table=""

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
	_bbtrace_value "$prev" && return
	if [[ $cur == -* ]]; then
		_bbtrace_options
	else
		_bbtrace_operand
	fi
}

complete -F _bbtrace bbtrace
