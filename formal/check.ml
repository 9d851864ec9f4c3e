(* Checks tables and certificates with the extracted program, and prints the theorem that follows. *)

open Kalah
open Data
open Files

let usage = "check --rules RULES --pits M --seeds N [--tables FOLDER]\ncheck --certificate FILE [--tables FOLDER]"

let refuse wrong =
  Printf.printf "WRONG: %s\n" wrong;
  exit 3

(* Checks all layers. Afterwards [tables_correct] holds of [table]. *)
let check_tables name rules m n table =
  let positions = ref 0 in
  for k = 0 to n do
    if not (check_layer rules m table k) then refuse (Printf.sprintf "the layer of %d seeds" k);
    if k > 0 then positions := !positions + width (2 * m) k - (2 * width m k);
    Printf.printf "%6.1f s: layer of %d seeds checked, %d positions so far\n%!" (Sys.time ()) k !positions
  done;
  Printf.printf "tables_correct: t p = score p under %s, for each position with %d pits a side and up to %d seeds\n%!"
    name m n

(* Checks all claims and the statement. Afterwards [certificate_value] holds of the statement. *)
let check_certificate table n (c : certificate) =
  let count = c.count and m = c.m in
  if not (check_claims c.rules m table n c.claims count c.find count) then refuse "a claim";
  Printf.printf "%6.1f s: all claims checked\n" (Sys.time ());
  let lower, upper = score_bounds c in
  let statement = { about = c.start; lower; upper } in
  if not (check_claim c.rules m table n c.claims count c.find statement) then refuse "the statement";
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
  let tables name rules m n =
    let table = score_in (if !folder = "" then computed rules m n else of_files !folder name m n) in
    check_tables name rules m n table;
    table
  in
  if !file <> "" then
    let c = certificate !file in
    let table = tables c.name c.rules c.m c.seeds in
    check_certificate table c.seeds (Search.expand table c)
  else
    match List.find_opt (fun (_, set, _) -> set = !name) rule_sets with
    | Some (_, name, rules) -> let (_ : position -> int) = tables name rules !m !n in ()
    | None -> prerr_endline "no such rule set, or one with relays, which are not covered"; exit 2
