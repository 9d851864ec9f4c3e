(* Checks tables and certificates with the extracted program, and prints the theorem that follows. *)

open Kalah
open Data

let usage = "check --rules RULES --pits M --seeds N [--tables FOLDER]\ncheck --certificate FILE [--seeds N] [--tables FOLDER]"

let refuse wrong =
  Printf.printf "WRONG: %s\n" wrong;
  exit 3

let rules_of name =
  match List.find_opt (fun (_, set, _) -> set = name) rule_sets with
  | Some (_, _, rules) -> rules
  | None -> refuse "no such rule set, or one with relays"

(* Refuses a board whose numbers do not fit. *)
let require_limits m seeds = if not (within_limits m seeds) then refuse ("beyond the checker: " ^ limits)

(* Refuses what the theorems do not speak about. No number of seeds is below 0, and their total is below 2^31. *)
let require_position m { own_store; other_store; rows } =
  let numbers = own_store :: other_store :: (rows.own @ rows.other) in
  let possible number = 0 <= number && number < 1 lsl 31 in
  if List.length rows.own <> m || List.length rows.other <> m || not (List.for_all possible numbers)
     || List.fold_left ( + ) 0 numbers >= 1 lsl 31
  then refuse "the start is not a position";
  require_limits m (seeds rows)

(* Checks all layers, with the theorem [tables_correct]. Returns the table. *)
let check_tables folder name m n =
  let rules = rules_of name in
  require_limits m n;
  let table = score_in (copy (if folder = "" then Files.computed rules m n else Files.of_files folder name m n)) in
  let positions = ref 0 in
  for k = 0 to n do
    if not (check_layer rules m table k) then refuse (Printf.sprintf "the layer of %d seeds" k);
    if k > 0 then positions := !positions + width (2 * m) k - (2 * width m k);
    Printf.printf "%6.1f s: layer of %d seeds checked, %d positions so far\n%!" (Sys.time ()) k !positions
  done;
  Printf.printf "tables_correct: look_up t p = score p under %s, for each position with %d pits a side and up to %d seeds\n%!"
    name m n;
  table

(* Checks all claims and the statements, with the theorems [certificate_value] and [opening_value]. Tables to more seeds
   than the certificate rests on need fewer claims. *)
let check_certificate folder file most =
  let c = Files.certificate file in
  let rules = rules_of c.name and m = c.m and n = max most c.rests_on in
  require_position m c.game;
  let table = check_tables folder c.name m n in
  let slots = taken (Search.expand rules table { c with rests_on = n }) in
  let claims = claim_in slots m and count = count slots and find = find_in slots in
  if not (check_claims rules m table n claims count find count) then refuse "a claim";
  Printf.printf "%6.1f s: all claims checked\n" (Sys.time ());
  let list separator numbers = String.concat separator (List.map string_of_int numbers) in
  let check (pits, values) =
    if List.exists (fun pit -> pit < 0) pits then refuse "an illegal opening";
    match after_moves rules c.game true pits with
    | None -> refuse "an illegal opening"
    | Some (g, same) ->
        let lower, upper = Files.score_bounds g same values in
        let statement = { about = g.rows; lower; upper } in
        if lower < 0 || upper < 0 || not (check_statement rules m table n claims count find statement) then
          refuse "the statement";
        let bound score = (2 * score) - seeds g.rows + g.own_store - g.other_store in
        let least, most = if same then (bound lower, bound upper) else (-bound upper, -bound lower) in
        (* What is proved must be all that the certificate states. *)
        if least < fst values || most > snd values then refuse "the statement";
        let { own_store; other_store; rows } = c.game in
        let theorem, after =
          if pits = [] then ("certificate_value", "") else ("opening_value", " after " ^ list " " (List.map succ pits))
        in
        Printf.printf "%s: under %s, %d <= value of <%d,%d,%d,%s>%s <= %d\n" theorem c.name least m own_store other_store
          (list "," (rows.own @ rows.other)) after most
  in
  List.iter check c.statements

let () =
  let name = ref "empty-capture" and m = ref 6 and n = ref 0 and folder = ref "" and file = ref "" in
  Arg.parse
    [ ("--rules", Set_string name, "empty-capture, standard or single-move"); ("--pits", Set_int m, "pits a side");
      ("--seeds", Set_int n, "seeds of the largest layer");
      ("--tables", Set_string folder, "folder of tables; without it, layers are computed in memory");
      ("--certificate", Set_string file, "certificate, which names rules, pits and seeds") ]
    (fun _ -> raise (Arg.Bad "no such argument")) usage;
  if !file <> "" then check_certificate !folder !file !n else ignore (check_tables !folder !name !m !n : position -> int)
