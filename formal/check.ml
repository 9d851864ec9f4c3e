(* Checks tables and certificates with the extracted program, and prints the theorem that follows. *)

open Kalah
open Data

let usage = "check --rules RULES --pits M --seeds N [--tables FOLDER]\ncheck --certificate FILE [--tables FOLDER]"

let refuse wrong =
  Printf.printf "WRONG: %s\n" wrong;
  exit 3

let rules_of name =
  match List.find_opt (fun (_, set, _) -> set = name) rule_sets with
  | Some (_, _, rules) -> rules
  | None -> refuse "no such rule set, or one with relays"

(* Checks all layers, with the theorem [tables_correct]. Returns the table. *)
let check_tables folder name m n =
  let rules = rules_of name in
  let table = score_in (copy (if folder = "" then Files.computed rules m n else Files.of_files folder name m n)) in
  let positions = ref 0 in
  for k = 0 to n do
    if not (check_layer rules m table k) then refuse (Printf.sprintf "the layer of %d seeds" k);
    if k > 0 then positions := !positions + width (2 * m) k - (2 * width m k);
    Printf.printf "%6.1f s: layer of %d seeds checked, %d positions so far\n%!" (Sys.time ()) k !positions
  done;
  Printf.printf "tables_correct: t p = score p under %s, for each position with %d pits a side and up to %d seeds\n%!"
    name m n;
  table

(* Checks all claims and the statement, with the theorem [certificate_value]. *)
let check_certificate folder file =
  let c = Files.certificate file in
  let rules = rules_of c.name and m = c.m and n = c.rests_on in
  let table = check_tables folder c.name m n in
  let slots = Array.copy (Search.expand rules table c) in
  let claims = claim_in slots m c.start and count = Array.length slots and find = find_in slots in
  if not (check_claims rules m table n claims count find count) then refuse "a claim";
  Printf.printf "%6.1f s: all claims checked\n" (Sys.time ());
  let lower, upper = Files.score_bounds c in
  let statement = { about = c.start; lower; upper } in
  if not (check_claim rules m table n claims count find statement) then refuse "the statement";
  let own, other = c.stores in
  let value score = (2 * score) - seeds c.start + own - other in
  let row pits = String.concat "," (List.map string_of_int pits) in
  Printf.printf "certificate_value: under %s, %d <= value of <%d,%d,%d,%s,%s> <= %d\n" c.name (value lower) m own other
    (row c.start.own) (row c.start.other) (value upper)

let () =
  let name = ref "empty-capture" and m = ref 6 and n = ref 0 and folder = ref "" and file = ref "" in
  Arg.parse
    [ ("--rules", Set_string name, "empty-capture, standard or single-move"); ("--pits", Set_int m, "pits a side");
      ("--seeds", Set_int n, "seeds of the largest layer");
      ("--tables", Set_string folder, "folder of tables; without it, layers are computed in memory");
      ("--certificate", Set_string file, "certificate, which names rules, pits and seeds") ]
    (fun _ -> raise (Arg.Bad "no such argument")) usage;
  if !file <> "" then check_certificate !folder !file else ignore (check_tables !folder !name !m !n : position -> int)
