exception E of int
let rec f n = if n < 2 then n else f (n-1) + f (n-2)
let () = Printf.printf "%d\n" (f 20);
  let h = Hashtbl.create 10 in
  for i = 1 to 5000 do Hashtbl.replace h (i mod 97) (string_of_int i) done;
  Printf.printf "%d\n" (Hashtbl.length h);
  (try raise (E 5) with E n -> Printf.printf "E %d\n" n);
  (try ignore (Array.get [|1|] 5) with Invalid_argument s -> print_endline s);
  let rec deep n = if n = 0 then 0 else 1 + deep (n-1) in
  (try print_int (deep 100000000) with Stack_overflow -> print_endline "overflow");
  let l = ref [] in for i = 1 to 20000 do l := (Array.make 10 i) :: (if i mod 100 = 0 then [] else !l) done;
  Printf.printf "%d\n" (List.length !l)
