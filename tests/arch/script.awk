{ sum[$1 % 10] += $1; if ($1 ~ /7.*7/) sevens++ }
END { for (i = 0; i < 10; i++) printf "%d %d\n", i, sum[i]; print sevens, length(sum) }
