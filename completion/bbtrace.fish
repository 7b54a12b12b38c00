# SPDX-License-Identifier: BSD-2-Clause
# fish completion for bbtrace(8): verbs, options and their values, objects, functions, processes.

# The operands before the cursor: verb, object, functions.
function __bbtrace_operands
    set -l skip 0
    set -l words (commandline -opc)
    for word in $words[2..-1]
        if test $skip = 1
            set skip 0
        else if string match -qr -- '^(-[perFotlTubs]|--(syscall|pid|tid|comm|uid|cgroup|events|exclude|with|watch|regs|format|depth|output|timeout|limit|time|interval|last|retire|fail-under|user|btf|attach|color|stack-size|freq|buffer|max-overhead|min-duration|if|record|max-size|returns|engine|placement|profile|control-socket|from|to|head|tail|control|dump-on|start-on|stop-on|delay|for))$' $word
            set skip 1
        else if not string match -q -- '-*' $word
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
    test (count $operands) -eq 1; or string match -q -- '?*:*' $operands[2]
end

function __bbtrace_objects
    set -l word (commandline -ct)
    if string match -q -- '?*:*' $word
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
    set -l lines (timeout 2 bbtrace list -F json $object "$prefix*" </dev/null 2>/dev/null); or return
    printf '%s\n' $lines | sed -n 's/.*"symbol":"\([A-Za-z0-9_.$@~]*\)".*/\1/p' | awk -v p="$prefix" 'index($0, p) == 1'
end

function __bbtrace_functions
    set -l word (commandline -ct)
    set -l operands (__bbtrace_operands)
    if string match -q -- '@*' $word
        __fish_complete_path (string sub -s 2 -- $word) | string replace -r '^' @
    else if test "$operands[1]" = kernel
        __bbtrace_functions_of kernel $word
    else if test (count $operands) -ge 2
        __bbtrace_functions_of $operands[2] $word
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

set -l trace '__bbtrace_verb user kernel trace event watch profile'
set -l report '__bbtrace_verb report'
set -l shows '__bbtrace_verb user kernel trace event watch profile report'
set -l writes '__bbtrace_verb user kernel trace event watch profile report merge'
set -l picks '__bbtrace_verb user kernel trace event watch profile list report'
set -l any '__bbtrace_verb user kernel trace event watch profile why list report merge diff core ctl doctor'
set -l filters '__bbtrace_verb user kernel trace event watch profile report diff'
complete -c bbtrace -f
complete -c bbtrace -n __bbtrace_no_verb -a user -d 'Functions of a program or shared library'
complete -c bbtrace -n __bbtrace_no_verb -a kernel -d 'Functions of the kernel and its modules'
complete -c bbtrace -n __bbtrace_no_verb -a trace -d 'Functions of programs and the kernel together'
complete -c bbtrace -n __bbtrace_no_verb -a event -d 'Events of the kernel and of programs by name'
complete -c bbtrace -n __bbtrace_no_verb -a watch -d 'Accesses of variables and addresses'
complete -c bbtrace -n __bbtrace_no_verb -a profile -d 'Where threads are, sampled by a timer'
complete -c bbtrace -n '__bbtrace_verb user kernel trace' -l why -d 'Also the values that conditionals test'
complete -c bbtrace -n '__bbtrace_verb profile' -l timeline -d 'Each sample is an event'
complete -c bbtrace -n __bbtrace_no_verb -a why -d 'The branch by which a command failed'
complete -c bbtrace -n '__bbtrace_verb user kernel trace' -l explain -d 'The branches by which calls failed'
complete -c bbtrace -n '__bbtrace_verb why' -s s -l syscall -x -d 'Failures of these system calls'
complete -c bbtrace -n '__bbtrace_verb why' -l again -d 'Run the command again to trace more'
complete -c bbtrace -n '__bbtrace_verb why' -l depth -x -d 'How deep functions of the kernel are added'
complete -c bbtrace -n '__bbtrace_verb why' -s f -l follow -d 'Also children'
complete -c bbtrace -n '__bbtrace_verb why' -l exclude -x -a '(__bbtrace_functions)' -d 'Leave this function out'
complete -c bbtrace -n '__bbtrace_verb why' -s F -l format -x -a 'text json' -d 'Output format'
complete -c bbtrace -n '__bbtrace_verb why' -s o -l output -r -F -d 'Write there'
complete -c bbtrace -n '__bbtrace_verb why' -l no-src -d 'No source lines'
complete -c bbtrace -n '__bbtrace_verb why' -s u -l user -x -a '(__fish_complete_users)' -d 'Run the command as that user'
complete -c bbtrace -n '__bbtrace_verb why' -l buffer -x -d 'Ring buffer size'
complete -c bbtrace -n '__bbtrace_verb why' -l engine -x -a 'probe inline auto' -d 'What makes the events of programs'
complete -c bbtrace -n '__bbtrace_verb why' -l addresses -d 'Show kernel addresses'
complete -c bbtrace -n __bbtrace_no_verb -a list -d 'List functions or branch sites'
complete -c bbtrace -n __bbtrace_no_verb -a report -d 'Render a trace file'
complete -c bbtrace -n __bbtrace_no_verb -a merge -d 'Add up what trace files have counted'
complete -c bbtrace -n __bbtrace_no_verb -a diff -d 'Where two traces part'
complete -c bbtrace -n __bbtrace_no_verb -a core -d 'A core dump beside its trace'
complete -c bbtrace -n __bbtrace_no_verb -a ctl -d 'Control a running trace'
complete -c bbtrace -n __bbtrace_no_verb -a doctor -d 'What this kernel and machine support'
complete -c bbtrace -n __bbtrace_no_verb -l version -d 'Show the version'
complete -c bbtrace -n 'not __bbtrace_command' -s h -l help -d 'Show help'
complete -c bbtrace -n __bbtrace_wants_object -a '(__bbtrace_objects)'
complete -c bbtrace -n '__bbtrace_verb list; and __bbtrace_wants_object' -a kernel -d 'The running kernel'
complete -c bbtrace -n '__bbtrace_verb user kernel list; and not __bbtrace_wants_object' -a '(__bbtrace_functions)'
complete -c bbtrace -n '__bbtrace_verb trace; and not __bbtrace_command' -a 'user: kernel:'
complete -c bbtrace -n $report -F
complete -c bbtrace -n '__bbtrace_verb merge diff core' -F
complete -c bbtrace -n __bbtrace_command -a '(__bbtrace_subcommand)'

complete -c bbtrace -n $picks -s p -l pid -x -a '(__fish_complete_list , __fish_complete_pids)' -d 'Only these processes'
complete -c bbtrace -n $filters -l tid -x -a '(__fish_complete_list , __fish_complete_pids)' -d 'Only these threads'
complete -c bbtrace -n $filters -l comm -x -d 'Only threads of this name'
complete -c bbtrace -n $trace -l uid -x -a '(__fish_complete_list , __fish_complete_users)' -d 'Only processes of this user'
complete -c bbtrace -n $trace -l cgroup -x -a '(__fish_complete_directories)' -d 'Only processes in this cgroup'
complete -c bbtrace -n $trace -s f -l follow -d 'Also the children of these processes'
complete -c bbtrace -n $shows -s e -l events -x -a '(__fish_append , entry branch return)' -d Events
complete -c bbtrace -n $trace -l freq -x -d 'Also samples, so many a second on each CPU'
complete -c bbtrace -n $trace -l with -x -a '(bbtrace list --events kernel 2>/dev/null | string replace -r " .*" "")' -d 'Also events of this name'
complete -c bbtrace -n '__bbtrace_verb list' -l events -d 'Tracepoints, or static probes of a program'
complete -c bbtrace -n '__bbtrace_verb user kernel trace event watch profile list report diff' -l exclude -x -a '(__bbtrace_functions)' -d 'Leave this function out'
complete -c bbtrace -n $shows -s r -l regs -x -a '(__fish_append , none args all rax rbx rcx rdx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 rip flags)' -d 'Registers shown on entry'
complete -c bbtrace -n $trace -l watch -x -d 'Also accesses of this variable or address'
complete -c bbtrace -n $trace -l user-only -d 'Watchpoints: not what the kernel does'
complete -c bbtrace -n '__bbtrace_verb user kernel trace' -l args -d 'Arguments and results by type'
complete -c bbtrace -n '__bbtrace_verb user kernel trace report' -l if -x -d 'Only invocations with such arguments or results'
complete -c bbtrace -n $trace -s k -l stack -d 'Record the call stack on entry'
complete -c bbtrace -n $shows -s F -l format -x -a 'text json chrome perfetto annotate dot html summary folded folded:count svg svg:count callgrind pprof lcov cobertura drcov bolt autofdo autofdo:gcc tests tests:names paths paths:json' -d 'Output format'
complete -c bbtrace -n '__bbtrace_verb list' -s F -l format -x -a 'text json annotate dot' -d 'Output format'
complete -c bbtrace -n '__bbtrace_verb ctl' -a '(timeout 2 bbtrace ctl -q 2>/dev/null | awk "NR > 1 { print \$1 }")' -d Trace
complete -c bbtrace -n '__bbtrace_verb ctl' -a 'status counts reset dump add remove stop start mark quit help' -d Command
complete -c bbtrace -n '__bbtrace_verb ctl' -s F -l format -x -a 'text json' -d 'Output format'
complete -c bbtrace -n '__bbtrace_verb ctl' -l wait -d 'After quit, return when all is written'
complete -c bbtrace -n '__bbtrace_verb ctl' -s t -l timeout -x -d 'Wait this long for an answer'
complete -c bbtrace -n $trace -l paused -d 'Record nothing until ctl says start'
complete -c bbtrace -n $trace -l control -x -a app -d 'Record from BBTRACE_START() to BBTRACE_STOP()'
complete -c bbtrace -n $trace -l dump-on -x -d '--last: also when this is entered, or returns VALUE'
complete -c bbtrace -n $trace -l dump-on-failure -d '--last: also at an exit status other than 0'
complete -c bbtrace -n $trace -l start-on -x -d 'Record from where this is executed on'
complete -c bbtrace -n $trace -l stop-on -x -d 'Record no longer where this is executed'
complete -c bbtrace -n $trace -l delay -x -d 'Start to record this much later'
complete -c bbtrace -n $trace -l for -x -d 'Stop this long after each start'
complete -c bbtrace -n $trace -l control-socket -r -F -d 'Where ctl reaches this trace'
complete -c bbtrace -n '__bbtrace_verb user kernel trace event watch profile why list core' -l debuginfod -d 'Fetch debug information'
complete -c bbtrace -n '__bbtrace_verb core' -l last -x -d 'The last N branches of each thread'
complete -c bbtrace -n '__bbtrace_verb core' -s r -l regs -x -d 'Registers shown on entry'
complete -c bbtrace -n '__bbtrace_verb core' -s T -l time -x -a 'rel abs delta none' -d 'Time column'
complete -c bbtrace -n '__bbtrace_verb core' -s F -l format -x -a 'text json' -d 'Output format'
complete -c bbtrace -n '__bbtrace_verb core' -l color -x -a 'auto always never' -d Colors
complete -c bbtrace -n '__bbtrace_verb core' -l no-fold -d 'Show every iteration of loops'
complete -c bbtrace -n '__bbtrace_verb core' -l no-src -d 'No source lines'
complete -c bbtrace -n '__bbtrace_verb doctor' -s F -l format -x -a 'text json' -d 'Output format'
complete -c bbtrace -n '__bbtrace_verb doctor' -l calibrate -d 'Measure the cost of probe hits'
complete -c bbtrace -n $filters -l depth -x -d 'No deeper than N calls'
complete -c bbtrace -n '__bbtrace_verb user kernel trace event watch profile report merge diff' -s o -l output -r -F -d 'Write a trace file, or a format by -F or its name'
complete -c bbtrace -n $writes -l tag -x -d 'What the trace is of'
complete -c bbtrace -n '__bbtrace_verb report merge' -l by-symbol -d 'Find functions of other builds by their symbols'
complete -c bbtrace -n $trace -s t -l timeout -x -d 'Stop after this long'
complete -c bbtrace -n $trace -l once -d 'Counts: remove the probe of what was seen'
complete -c bbtrace -n $shows -l fail-under -x -d 'Exit with 3 if less of the code ran'
complete -c bbtrace -n $trace -l retire -x -d 'Counts: remove each probe after N hits'
complete -c bbtrace -n $trace -l max-overhead -x -d 'Stop when tracing takes more of the CPU time'
complete -c bbtrace -n $shows -s l -l limit -x -d 'Stop after N printed events'
complete -c bbtrace -n $shows -s T -l time -x -a 'rel abs delta none' -d 'Time column'
complete -c bbtrace -n $shows -s c -l count -d 'Count edges instead of listing events'
complete -c bbtrace -n $trace -l interval -x -d 'Print the counts so far every SEC'
complete -c bbtrace -n $trace -l reset -d 'Begin with 0 after counts are printed'
complete -c bbtrace -n $shows -l last -x -d 'Keep the last N branches of each thread'
complete -c bbtrace -n $trace -s u -l user -x -a '(__fish_complete_users)' -d 'Run CMD as that user'
complete -c bbtrace -n $trace -s b -l btf -r -F -d 'Read kernel types from this file'
complete -c bbtrace -n $any -s v -l verbose -d 'Print decisions and their reasons'
complete -c bbtrace -n $any -s q -l quiet -d 'No notes on stderr'
complete -c bbtrace -n $filters -l color -x -a 'auto always never' -d Colors
complete -c bbtrace -n '__bbtrace_verb user kernel trace event watch profile list' -l exported -d 'Of the functions that are named, only exported ones'
complete -c bbtrace -n '__bbtrace_verb user kernel trace event watch profile list report diff' -l addresses -d 'Show kernel addresses'
complete -c bbtrace -n $shows -l no-fold -d 'Show every iteration of loops'
complete -c bbtrace -n $picks -l no-src -d 'No source lines'
complete -c bbtrace -n $trace -l stack-size -x -d 'Copy so much of the stack'
complete -c bbtrace -n $trace -l buffer -x -d 'Ring buffer size'
complete -c bbtrace -n $shows -l min-duration -x -d 'Only calls that took at least this long'
complete -c bbtrace -n $trace -l attach -x -d 'Attach by this mechanism only'
complete -c bbtrace -n '__bbtrace_verb list' -l sites -d 'List each branch site'
complete -c bbtrace -n '__bbtrace_verb list' -l engine -x -a 'probe inline auto' -d 'Which functions can be copied'
complete -c bbtrace -n '__bbtrace_verb list' -l points -d 'Write a points file'
complete -c bbtrace -n $trace -l record -r -F -d 'Also write a trace file while the trace is shown'
complete -c bbtrace -n $trace -l max-size -x -d 'Start a new trace file at this size'
complete -c bbtrace -n '__bbtrace_verb user kernel trace event watch profile merge' -l armor -a redundant -d 'Write the trace file as lines of text'
complete -c bbtrace -n $trace -l returns -x -a 'ret probe none' -d 'How returns are recorded'
complete -c bbtrace -n $trace -l engine -x -a 'probe inline auto' -d 'How the events of programs are made'
complete -c bbtrace -n $trace -l placement -x -a 'full implied witness' -d 'Which branches carry a probe'
complete -c bbtrace -n $trace -l profile -r -F -d 'Branch weights of an earlier run'
complete -c bbtrace -n '__bbtrace_verb report diff' -l from -x -d 'Start this long after the beginning'
complete -c bbtrace -n '__bbtrace_verb report diff' -l to -x -d 'Stop this long after the beginning'
complete -c bbtrace -n $report -l head -x -d 'Only the first N events'
complete -c bbtrace -n $report -l tail -x -d 'Only the last N events'
complete -c bbtrace -n $report -l info -d 'Show the metadata of the file'
complete -c bbtrace -n '__bbtrace_verb diff' -s n -l differences -x -d 'Show the first N differences'
complete -c bbtrace -n '__bbtrace_verb diff' -l context -x -d 'Steps around each difference'
complete -c bbtrace -n '__bbtrace_verb diff' -l pass -d 'The files that follow are of runs that passed'
complete -c bbtrace -n '__bbtrace_verb diff' -l fail -d 'The files that follow are of runs that failed'
complete -c bbtrace -n '__bbtrace_verb diff' -s F -l format -x -a 'text json html' -d 'Output format'
