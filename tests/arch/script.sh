i=0
while [ $i -lt 3000 ]; do
	i=$((i + 1))
	case $i in *3) continue ;; 1*) x=$x$((i % 7)) ;; esac
done
f() { [ "$1" -gt 0 ] && f $(($1 - 1)); }
f 50
echo "${#x}" "${x#1}"
test -f tests/arch/script.sh && printf '%s\n' ok
