(* Checks tables and certificates with the extracted program, and prints the theorem that follows. *)

open Kalah
open Data

let usage =
  "check --rules RULES --pits M --seeds N [--tables FOLDER] [--parts P]\n\
   check --certificate FILE [--seeds N] [--tables FOLDER] [--parts P]"

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

(* Processes that check. They end with this one. *)
let running = ref []
let () = at_exit (fun () -> List.iter (fun process -> Unix.kill process Sys.sigkill) !running)

(* Begins to compute [check part] for the parts 0 to [parts] - 1, each in a process of its own, which has a copy of all
   memory. The function that is returned waits for them, and returns true if all have ended and each has returned true. *)
let in_processes parts check =
  flush_all ();
  let child part =
    match Unix.fork () with
    | 0 -> Unix._exit (match check part with true -> 0 | false | (exception _) -> 3)
    | process -> process
  in
  let processes = List.init parts child in
  running := processes;
  let returned_true process =
    let _, status = Unix.waitpid [] process in
    running := List.filter (( <> ) process) !running;
    status = Unix.WEXITED 0
  in
  fun () -> List.for_all Fun.id (List.map returned_true processes)

(* Rows that are checked together, so that what is read again is still near. The theorems hold for any number. *)
let rows_in_block = 256

(* Begins to check all layers. Returns the table, and a function that waits for the end and prints the theorem
   [tables_correct]. *)
let check_tables parts folder name m n =
  let rules = rules_of name in
  if not (within_tables m n) then refuse ("beyond the checker: " ^ limits);
  let load () = if folder = "" then Files.computed rules m n else Files.of_files folder name m n in
  let table = try load () with Invalid_argument _ -> refuse "a table" in
  let rank = rank_in table and look = look_in table in
  (* By default, garbage may take 80% of the memory of the tables again. Here, the limit is 256 MiB a process, or 1%. *)
  let heap = (Gc.quick_stat ()).heap_words * 8 in
  Gc.set { (Gc.get ()) with space_overhead = max 1 (min 80 (100 * (1 lsl 28) / heap)) };
  Printf.printf "%6.1f s: tables are in memory\n%!" (Files.seconds ());
  let check_layer part k =
    let right = check_part rules m rank look rows_in_block parts part k in
    Printf.printf "%6.1f s: part %d of %d of the layer of %d seeds is %s\n%!" (Files.seconds ()) (part + 1) parts k
      (if right then "checked" else "WRONG");
    right
  in
  let check part = List.for_all (check_layer part) (List.init (n + 1) Fun.id) in
  let all_checked = in_processes parts check in
  let finish () =
    if not (all_checked ()) then refuse "a layer";
    let positions k = if k = 0 then 0 else width (2 * m) k - (2 * width m k) in
    let total = List.fold_left (fun sum k -> sum + positions k) 0 (List.init (n + 1) Fun.id) in
    Printf.printf "%6.1f s: all %d positions checked\n" (Files.seconds ()) total;
    Printf.printf "tables_correct: look_up t p = score p under %s, for each position with %d pits a side and up to %d seeds\n%!"
      name m n
  in
  (table, finish)

(* Checks all claims and the statements, with the theorems [certificate_value] and [opening_value]. Claims to rest on tables
   to [most] seeds are found while the tables are checked: the more seeds, the fewer claims. *)
let check_certificate parts folder file most =
  let c = Files.certificate file in
  let rules = rules_of c.name and m = c.m and n = if most = 0 then c.rests_on else most in
  require_position m c.game;
  let table, finish = check_tables parts folder c.name m n in
  let all = Search.expand rules (score_in table) { c with rests_on = n } in
  finish ();
  let table = numbered (rank_in table) (look_in table) in
  let claims = claim_in all and count = count_of all and find = find_in all in
  let check part = check_claims_part rules m table n claims count find parts part count in
  if not (in_processes parts check ()) then refuse "a claim";
  Printf.printf "%6.1f s: all %d claims checked\n" (Files.seconds ()) count;
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

(* Elapsed time, and processor time of all processes. *)
let cost () =
  let { Unix.tms_utime; tms_stime; tms_cutime; tms_cstime } = Unix.times () in
  Printf.printf "%6.1f s: the end, after %.1f s of processor time\n" (Files.seconds ()) (tms_utime +. tms_stime +. tms_cutime +. tms_cstime)

let () =
  let name = ref "empty-capture" and m = ref 6 and n = ref 0 and folder = ref "" and file = ref "" and parts = ref 2 in
  Arg.parse
    [ ("--rules", Set_string name, "empty-capture, standard or single-move"); ("--pits", Set_int m, "pits a side");
      ("--seeds", Set_int n, "seeds of the largest layer");
      ("--tables", Set_string folder, "folder of tables; without it, layers are computed in memory");
      ("--certificate", Set_string file, "certificate, which names rules, pits and seeds");
      ("--parts", Set_int parts, "processes that check (default: 2)") ]
    (fun _ -> raise (Arg.Bad "no such argument")) usage;
  if !parts < 1 then refuse "no part";
  if !file <> "" then check_certificate !parts !folder !file !n else snd (check_tables !parts !folder !name !m !n) ();
  cost ()
