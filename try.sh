# try.sh COND PY FUNCS -- options
B=/work/wt/cond/build/bbtrace; F="leaf look descend second third first thrower catcher handler interrupted forks"
c=$1; py=$2; fs=$3; shift 3
timeout 100 $B user judged $F -F json --if "$c" -o some.json "$@" -- ./judged f || exit
python3 /work/wt/cond/tests/check/conditions.py all.json some.json "$py" $fs
