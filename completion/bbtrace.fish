# SPDX-License-Identifier: BSD-2-Clause
# fish completion for bbtrace(8): verbs, options and their values, objects, functions, processes.

# The options of a verb, of which bbtrace has the table: letter, name, argument, values, help.
function __bbtrace_rows -a verb
    bbtrace help --options $verb 2>/dev/null
end

# Does this option of the verb take the next word?
function __bbtrace_takes_word -a verb word
    for row in (__bbtrace_rows $verb)
        set -l cell (string split \t -- $row)
        contains -- $word --$cell[2] -$cell[1]; and not contains -- $cell[3] - =; and return 0
    end
    return 1
end

# The operands before the cursor: verb, object, functions.
function __bbtrace_operands
    set -l skip 0
    set -l verb
    set -l words (commandline -opc)
    for word in $words[2..-1]
        if test $skip = 1
            set skip 0
        else if string match -q -- '-*' $word
            test -n "$verb"; and __bbtrace_takes_word $verb $word; and set skip 1
        else
            test -n "$verb"; or set verb $word
            echo $word
        end
    end
end

function __bbtrace_verb
    set -l operands (__bbtrace_operands)
    test (count $operands) -ge 1; and contains -- $operands[1] $argv; and not contains -- -- (commandline -opc)
end

function __bbtrace_no_verb
    test (count (__bbtrace_operands)) -eq 0
end

# OBJECT comes next, or another OBJECT:FUNC.
function __bbtrace_wants_object
    __bbtrace_verb user list; or return
    set -l operands (__bbtrace_operands)
    test (count $operands) -eq 1; or string match -q -- '?*:*' (string replace -a -- :: '' $operands[2])
end

# What was typed of the word at the cursor, without its quotes.
function __bbtrace_typed
    set -l word (commandline -ct)
    switch "$word"
        case '"*' "'*"
            string sub -s 2 -- $word | string replace -ra '\\\\(["\'\\\\$])' '$1'
        case '*'
            string unescape -- $word
    end
end

function __bbtrace_objects
    set -l word (__bbtrace_typed)
    if string match -q -- '?*:*' (string replace -a -- :: '' $word)
        set -l parts (string split -m 1 : -- $word)
        __bbtrace_functions_of $parts[1] $parts[2] | string replace -r '^' "$parts[1]:"
        return
    end
    __fish_complete_path $word
    string match -q -- '*/*' $word; and return
    __fish_complete_command
    if string match -q -- 'lib*' $word
        fish -c 'set PATH $PATH /sbin /usr/sbin; ldconfig -p' 2>/dev/null | string match -gr '^\s+(lib\S+)' | sort -u
    end
end

# A list that takes longer than 2 seconds is dropped.
function __bbtrace_functions_of -a object prefix
    if test "$object" = kernel
        test (string length -- "$prefix") -ge 2; or return
        awk -v p="$prefix" '$2 ~ /^[tT]$/ && index($3, p) == 1 { print $3 }' /proc/kallsyms 2>/dev/null
        return
    end
    set -l pattern (string replace -ra '[][*?\\\\<>(-]' '\\\\$0' -- "$prefix" | string replace -r 'operator$' '$0?') # operator* is a name
    set -l lines (timeout 2 bbtrace list -F json $object "$pattern*" </dev/null 2>/dev/null); or return
    printf '%s\n' $lines | sed -nE 's/.*"symbol":"(([^"\\\\]|\\\\.)*)".*/\1/; T; s/\\\\(["\\\\])/\1/g; p' | p=$prefix awk 'index($0, ENVIRON["p"]) == 1'
end

function __bbtrace_functions
    set -l word (__bbtrace_typed)
    set -l operands (__bbtrace_operands)
    if string match -q -- '@*' $word
        __fish_complete_path (string sub -s 2 -- $word) | string replace -r '^' @
    else if test "$operands[1]" = kernel
        __bbtrace_functions_of kernel $word
    else if test (count $operands) -ge 2
        __bbtrace_functions_of $operands[2] $word
    end
end

# Functions in the trace file that was given.
function __bbtrace_traced
    set -l operands (__bbtrace_operands)
    test (count $operands) -ge 2; and timeout 2 bbtrace report --functions $operands[2] </dev/null 2>/dev/null
end

# OBJECT:VARIABLE, or kernel:VARIABLE
function __bbtrace_variables
    set -l parts (string split -m 1 : -- (commandline -ct))
    test (count $parts) -eq 2; or return
    if test "$parts[1]" = kernel
        awk '$2 ~ /^[bBdDrR]$/ { print "kernel:" $3 }' /proc/kallsyms 2>/dev/null
    else
        timeout 2 nm --defined-only -- $parts[1] 2>/dev/null | awk -v o="$parts[1]" '$2 ~ /^[bBdDgGsS]$/ { print o ":" $3 }'
    end
end

# The names that --if takes for the functions that were given, after what was typed of the condition.
function __bbtrace_conditions
    set -l word (__bbtrace_typed)
    set -l operands (__bbtrace_operands)
    set -l of list --arguments $operands[2..-1]
    set -l head (string match -r -- '^(?:.*&&)?\s*\**' "$word")
    test (count $operands) -ge 2; or return
    switch $operands[1]
        case report
            set of report --arguments $operands[2..-1]
        case kernel
            set of list --arguments kernel $operands[2..-1]
        case trace
            set of list --arguments (string replace -r '^user:' '' -- $operands[2])
            string match -q 'kernel:*' -- $operands[2]; and set of list --arguments kernel (string sub -s 8 -- $operands[2])
    end
    for row in (timeout 2 bbtrace $of </dev/null 2>/dev/null)
        set -l cell (string split \t -- $row)
        printf '%s\t%s\n' "$head$cell[1]" $cell[2]
    end
end

function __bbtrace_command
    contains -- -- (commandline -opc)
end

function __bbtrace_subcommand
    set -l words (commandline -opc)
    set -l from (math (contains -i -- -- $words) + 1)
    complete -C (string join ' ' -- (string escape -- $words[$from..-1]) (commandline -ct))
end

# What completes the value of an option: :KIND or words, after a comma as a list.
function __bbtrace_values -a values
    switch $values
        case - ':mechanisms' ',:comms'
        case ',:pids'
            echo '(__fish_complete_list , __fish_complete_pids)'
        case ',:users'
            echo '(__fish_complete_list , __fish_complete_users)'
        case ',*'
            echo "(__fish_append , $(string sub -s 2 -- $values))"
        case ':users'
            echo '(__fish_complete_users)'
        case ':folders'
            echo '(__fish_complete_directories)'
        case ':functions'
            echo '(__bbtrace_functions)'
        case ':conditions'
            echo '(__bbtrace_conditions)'
        case ':events'
            echo '(bbtrace list --events kernel 2>/dev/null | string replace -r " .*" "")'
        case '*'
            echo $values
    end
end

function __bbtrace_option -a verb row
    set -l cell (string split \t -- $row)
    set -l args -c bbtrace -n "__bbtrace_verb $verb" -l $cell[2] -d $cell[5]
    test $cell[1] != -; and set -a args -s $cell[1]
    if test $cell[3] = =
        test $cell[4] != -; and set -a args -a $cell[4]
    else if test "$cell[4]" = :files
        set -a args -r -F
    else if test $cell[3] != -
        set -a args -x -a "$(__bbtrace_values $cell[4])"
    end
    complete $args
end

complete -c bbtrace -f
for row in (bbtrace help --options 2>/dev/null)
    set -l cell (string split \t -- $row)
    complete -c bbtrace -n __bbtrace_no_verb -a $cell[1] -d $cell[2]
    for option in (__bbtrace_rows $cell[1])
        __bbtrace_option $cell[1] $option
    end
end
complete -c bbtrace -n __bbtrace_no_verb -l version -d 'Show the version'
complete -c bbtrace -n __bbtrace_no_verb -s h -l help -d 'Show help'
complete -c bbtrace -n __bbtrace_wants_object -a '(__bbtrace_objects)'
complete -c bbtrace -n '__bbtrace_verb list; and __bbtrace_wants_object' -a kernel -d 'The running kernel'
complete -c bbtrace -n '__bbtrace_verb user kernel list; and not __bbtrace_wants_object' -a '(__bbtrace_functions)'
complete -c bbtrace -n '__bbtrace_verb trace why; and not __bbtrace_command' -a 'user: kernel:'
complete -c bbtrace -n '__bbtrace_verb event; and not __bbtrace_command' -a '(bbtrace list --events kernel 2>/dev/null | string replace -r " .*" "")'
complete -c bbtrace -n '__bbtrace_verb report merge diff core' -F
complete -c bbtrace -n '__bbtrace_verb report' -a '(__bbtrace_traced)'
complete -c bbtrace -n '__bbtrace_verb watch; and not __bbtrace_command' -F -a '(__bbtrace_variables)'
complete -c bbtrace -n '__bbtrace_verb slow' -a '(__bbtrace_objects)'
complete -c bbtrace -n '__bbtrace_verb cover' -a '(__bbtrace_objects)'
complete -c bbtrace -n '__bbtrace_verb stack' -a '(__fish_complete_pids)'
complete -c bbtrace -n '__bbtrace_verb ctl' -a '(timeout 2 bbtrace ctl -q 2>/dev/null | awk "NR > 1 { print \$1 }")' -d Trace
complete -c bbtrace -n '__bbtrace_verb ctl' -a 'status counts reset dump add remove stop start mark quit help' -d Command
complete -c bbtrace -n __bbtrace_command -a '(__bbtrace_subcommand)'
