(* Tests of the checker. Without arguments: tables and claims with one wrong number are refused. With RULES SEEDS COUNT:
   prints random positions with up to SEEDS seeds in play, and their checked scores. *)

open Kalah
open Data
open Files

let m = 6

(* A random position with [n] seeds in play and seeds in both rows. *)
let rec random_position n =
  let pits = Array.make (2 * m) 0 in
  for _ = 1 to n do
    let pit = Random.int (2 * m) in
    pits.(pit) <- pits.(pit) + 1
  done;
  let own, other = split m (Array.to_list pits) in
  let p = { own; other } in
  if over p then random_position n else p

(* Pits of up to [moves] random moves from [g]. *)
let rec random_opening rules g moves =
  if moves = 0 || over g.rows then []
  else
    let pits = legal g.rows in
    let pit = List.nth pits (Random.int (List.length pits)) in
    pit :: random_opening rules (continue g (play rules g.rows pit)) (moves - 1)

let checked rules n =
  let table = score_in (computed rules m n) in
  for k = 0 to n do
    assert (check_layer rules m table k)
  done;
  table

let text p =
  let row r = String.concat "," (List.map string_of_int r) in
  row p.own ^ "/" ^ row p.other

(* Another number from 0 to [n] than [s]. *)
let another n s = (s + 1 + Random.int n) mod (n + 1)

let refuses_wrong_tables name rules =
  let table = checked rules 7 in
  let tries = 200 in
  for _ = 1 to tries do
    let n = 2 + Random.int 6 in
    let wrong = random_position n in
    let score = another n (table wrong) in
    let mutated p = if p = wrong then score else table p in
    if check_layer rules m mutated n then failwith ("a wrong score passes: " ^ text wrong)
  done;
  Printf.printf "%s: %d tables with one wrong score are refused\n%!" name tries

(* Certificates of random positions with 12 seeds in play rest on tables up to 7 seeds. *)
let refuses_wrong_claims name rules =
  let truth = checked rules 12 in
  let rests_on = 7 in
  let claims_seen = ref 0 and refused = ref 0 in
  for _ = 1 to 20 do
    let start = random_position 12 in
    let score = truth start in
    let game = { own_store = Random.int 9; other_store = Random.int 9; rows = start } in
    let pits = random_opening rules game (1 + Random.int 4) in
    let after, same = Option.get (after_moves rules game true pits) in
    let value g score = (2 * score) - seeds g.rows + g.own_store - g.other_store in
    let value = value game score and value_after = (if same then 1 else -1) * value after (look_up truth after.rows) in
    let empty = { name; m; rests_on; game; statements = [ (pits, (value_after, value_after)); ([], (value, value)) ];
                  effort = 1; count = 0; claim = (fun _ -> assert false) } in
    let slots = Search.expand ~quiet:true rules truth empty in
    let all = claim_in slots m start and count = count slots and find = find_in slots in
    let check claims statement =
      check_claims rules m truth rests_on claims count find count
      && check_statement rules m truth rests_on claims count find statement
    in
    let opening values =
      let lower, upper = Files.score_bounds after same values in
      lower <= upper && check all { about = after.rows; lower; upper }
    in
    if not (opening (value_after, value_after)) then failwith ("a true opening is refused: " ^ text start);
    if opening (value_after + 2, 99) || opening (-99, value_after - 2) then
      failwith ("a false opening passes: " ^ text start);
    let statement lower upper = { about = start; lower; upper } in
    if not (check all (statement score score)) then failwith ("a true certificate is refused: " ^ text start);
    if score > 0 && check all (statement 0 (score - 1)) then failwith ("a false statement passes: " ^ text start);
    if score < 12 && check all (statement (score + 1) 12) then
      failwith ("a false statement passes: " ^ text start);
    for i = 0 to count - 1 do
      let claim = all i in
      let n = seeds claim.about in
      let true_score = truth claim.about in
      assert (claim.lower <= true_score && true_score <= claim.upper);
      if claim.lower > 0 || claim.upper < n then incr claims_seen
    done;
    for _ = 1 to 20 do
      let at = Random.int count in
      let claim = all at in
      let n = seeds claim.about in
      let true_score = truth claim.about in
      let wrong =
        if Random.bool () then { claim with lower = true_score + 1; upper = n }
        else { claim with upper = true_score - 1 }
      in
      if wrong.lower <= n && wrong.upper >= 0 then begin
        if check (fun i -> if i = at then wrong else all i) (statement score score) then
          failwith ("a false claim passes: " ^ text claim.about);
        incr refused
      end
    done
  done;
  Printf.printf "%s: %d claims and 20 openings are true; %d certificates with one false claim are refused\n%!" name
    !claims_seen !refused

(* Moves that no player can make are no opening. *)
let refuses_illegal_openings () =
  let game own other = { own_store = 0; other_store = 0; rows = { own; other } } in
  let refused pits g = assert (after_moves standard g true pits = None) in
  refused [ 6 ] (game [ 1; 1; 1; 1; 1; 1 ] [ 1; 1; 1; 1; 1; 1 ]);
  refused [ 0 ] (game [ 0; 1; 1; 1; 1; 1 ] [ 1; 1; 1; 1; 1; 1 ]);
  refused [ 5 ] (game [ 0; 0; 0; 0; 0; 1 ] [ 0; 0; 0; 0; 0; 0 ]);
  (* The other player is to move after pit 0, and the same player after pit 5. *)
  let g = game [ 1; 1; 1; 1; 1; 1 ] [ 0; 1; 1; 1; 1; 1 ] in
  refused [ 0; 0 ] g;
  (match (after_moves standard g true [ 0; 1 ], after_moves standard g true [ 5 ]) with
   | Some (_, true), Some ({ own_store = 1; rows = { own = [ 1; 1; 1; 1; 1; 0 ]; _ }; _ }, true) -> ()
   | _ -> assert false);
  print_endline "openings with illegal moves are refused"

let () =
  match Sys.argv with
  | [| _; name; n; count |] ->
      let n = int_of_string n in
      let table = checked (let _, _, rules = List.find (fun (_, set, _) -> set = name) rule_sets in rules) n in
      for _ = 1 to int_of_string count do
        let p = random_position (2 + Random.int (n - 1)) in
        Printf.printf "%s %d\n" (text p) (table p)
      done
  | _ ->
      refuses_illegal_openings ();
      List.iter (fun (_, name, rules) -> refuses_wrong_tables name rules; refuses_wrong_claims name rules) rule_sets
