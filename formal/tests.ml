(* Tests of the checker. Without arguments: tables and claims with one wrong number, or one changed byte, are refused.
   With RULES SEEDS COUNT: prints random positions with up to SEEDS seeds in play, and their checked scores. With FOLDER:
   writes certificates that [check] must accept or refuse, and some of what is no position, to folders in it. With PITS SEEDS
   VALUE: prints claims for Coq. *)

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

(* True if [check] returns true, and not an exception. *)
let accepts check = match check () with accepted -> accepted | exception _ -> false

(* True if all parts of all layers up to [n] are checked. *)
let accepts_parts rules rank look n parts =
  let layers = List.init (n + 1) Fun.id in
  let rows_in_block = 1 + Random.int 300 in
  let accepted part = List.for_all (check_part rules m rank look rows_in_block parts part) layers in
  accepts (fun () -> List.for_all accepted (List.init parts Fun.id))

let refuses_wrong_tables name rules =
  let table = computed rules m 7 in
  let score = score_in table and rank = rank_in table and look = look_in table in
  let tries = 200 in
  for _ = 1 to tries do
    let n = 2 + Random.int 6 in
    let wrong = random_position n in
    let rows = (sum wrong.own, sum wrong.other, rank wrong.own, rank wrong.other) in
    let another = another n (score wrong) in
    let mutated k l a b = if (k, l, a, b) = rows then another else look k l a b in
    if check_layer rules m (numbered rank mutated) n then failwith ("a wrong score passes: " ^ text wrong);
    let parts = 1 + Random.int 4 in
    if accepts_parts rules rank mutated 7 parts || not (accepts_parts rules rank look 7 parts) then
      failwith ("the parts differ from the layer: " ^ text wrong)
  done;
  Printf.printf "%s: %d tables with one wrong score are refused\n%!" name tries

(* [bytes] with one changed byte. *)
let with_one_changed bytes =
  let changed = Bytes.of_string bytes in
  let at = Random.int (Bytes.length changed) in
  Bytes.set_uint8 changed at (another 255 (Bytes.get_uint8 changed at));
  Bytes.to_string changed

(* [strings] with one changed byte in one of them. *)
let with_one_changed_in strings =
  let changed = Array.copy strings in
  let i = Random.int (Array.length strings) in
  changed.(i) <- with_one_changed changed.(i);
  changed

let positions n =
  List.concat_map (fun k ->
      List.concat_map (fun own -> List.map (fun other -> { own; other }) (all_rows m (n - k))) (all_rows m k))
    (List.init (n - 1) succ)

(* Tables with one changed byte are refused, or have the same scores. So are those of groups with exceptions only. *)
let refuses_damaged_tables name rules =
  let n = 5 in
  let all = List.concat_map positions [ 2; 3; 4; 5 ] in
  let truth = score_in (computed rules m n) in
  let only_exceptions residuals = 1 + List.fold_left max (-64) residuals in
  let refused = ref 0 in
  let test base_of tries =
    let ranks, layers = Files.computed_layers ~base_of rules m n in
    let right layers =
      accepts (fun () -> let t = table ranks layers in accepts_parts rules (rank_in t) (look_in t) n 2)
    in
    let same layers = accepts (fun () -> let t = score_in (table ranks layers) in List.for_all (fun p -> t p = truth p) all) in
    assert (right layers && same layers);
    for _ = 1 to tries do
      let changed = with_one_changed_in layers in
      let accepted = right changed in
      if accepted <> same changed then failwith "a damaged table passes, or one with the same scores does not";
      if not accepted then incr refused
    done
  in
  test best_base 400;
  test only_exceptions 200;
  Printf.printf "%s: %d tables with a changed byte are refused, others have the same scores\n%!" name !refused

let claims_of all = Array.init (count_of all) (claim_in all)

let pages_of claims =
  let at = ref (-1) in
  packed_pages (Array.length claims) (fun () ->
      incr at;
      let { about; lower; upper } = claims.(!at) in
      (key about, lower, upper))

(* Certificates of random positions with 12 seeds in play rest on tables up to 7 seeds. [others] has the scores under the
   other rules. *)
let refuses_wrong_claims name rules truth others =
  let rests_on = 7 in
  let claims_seen = ref 0 and refused = ref 0 and damaged = ref 0 and foreign = ref 0 in
  for _ = 1 to 20 do
    let start = random_position 12 in
    let score = truth start in
    let game = { own_store = Random.int 9; other_store = Random.int 9; rows = start } in
    let pits = random_opening rules game (1 + Random.int 4) in
    let after, same = Option.get (after_moves rules game true pits) in
    let value g score = (2 * score) - seeds g.rows + g.own_store - g.other_store in
    let value = value game score and value_after = (if same then 1 else -1) * value after (look_up truth after.rows) in
    let empty = { name; m; rests_on; game; statements = [ (pits, (value_after, value_after)); ([], (value, value)) ];
                  effort = 1; count = 0; claims = claims m 0 [||] } in
    let packed = Search.expand ~quiet:true rules truth empty in
    let all = claim_in packed and count = count_of packed and find = find_in packed in
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
    Array.iter (fun claim ->
        let true_score = truth claim.about in
        assert (claim.lower <= true_score && true_score <= claim.upper);
        incr claims_seen) (claims_of packed);
    let edges = List.filter (fun i -> i < count) [ 0; in_block - 1; in_block; count - 1 ] in
    List.iter (fun at ->
      let claim = all at in
      let n = seeds claim.about in
      let true_score = truth claim.about in
      let wrong =
        if Random.bool () then { claim with lower = true_score + 1; upper = n }
        else { claim with upper = true_score - 1 }
      in
      if wrong.lower <= n && wrong.upper >= 0 then begin
        let claims i = if i = at then wrong else all i in
        let parts = 1 + Random.int 4 in
        let accepted part = check_claims_part rules m truth rests_on claims count find parts part count in
        if check claims (statement score score) || List.for_all accepted (List.init parts Fun.id) then
          failwith ("a false claim passes: " ^ text claim.about);
        incr refused
      end) (edges @ List.init 20 (fun _ -> Random.int count));
    (* Other bytes are refused, or make other true claims. *)
    let rec true_score p = if seeds p <= 12 then look_up truth p else best rules m (seeds p) (look_up true_score) p in
    let pages = pages_of (claims_of packed) in
    let check_pages rules truth pages =
      let packed = claims m count pages in
      let all = claim_in packed and find = find_in packed in
      accepts (fun () ->
          check_claims rules m truth rests_on all count find count
          && check_statement rules m truth rests_on all count find (statement score score))
    in
    assert (check_pages rules truth pages);
    for _ = 1 to 40 do
      let changed = with_one_changed_in pages in
      if check_pages rules truth changed then
        Array.iter (fun { about; lower; upper } ->
            let score = true_score about in
            if score < lower || upper < score then failwith ("a false claim passes: " ^ text about))
          (claims_of (claims m count changed))
      else incr damaged
    done;
    (* Under other rules. *)
    List.iter (fun (rules, truth) ->
        if truth start <> score then begin
          if check_pages rules truth pages then failwith ("claims pass under other rules: " ^ text start);
          incr foreign
        end) others
  done;
  Printf.printf "%s: %d claims and 20 openings are true; refused: %d certificates with one false claim, %d with a changed \
                 byte, %d of other rules\n%!" name !claims_seen !refused !damaged !foreign

(* Claims of all positions with 8 seeds in play, in several pages. *)
let refuses_wrong_claims_at_edges name rules truth =
  let exact p = { about = p; lower = truth p; upper = truth p } in
  let sorted = List.sort (fun p q -> compare (key p) (key q)) (positions 8) in
  let claims_8 = Array.of_list (List.map exact sorted) in
  let count = Array.length claims_8 in
  let packed = claims m count (pages_of claims_8) in
  let find = find_in packed in
  let check claims = check_claims rules m truth 7 claims count find count in
  Array.iteri (fun i claim -> assert (claim_in packed i = claim && find claim.about = i)) claims_8;
  (* Positions without a claim. *)
  List.iter (fun p -> assert (find p >= count || (claim_in packed (find p)).about <> p)) (positions 7 @ positions 9);
  assert (check (claim_in packed));
  let wrong at i =
    let claim = claim_in packed i in
    if i <> at then claim
    else if claim.lower < 8 then { claim with lower = claim.lower + 1; upper = 8 }
    else { claim with lower = 0; upper = 7 }
  in
  let edges = [ 0; in_block - 1; in_block; in_page - 1; in_page; (2 * in_page) - 1; count - 1 ] in
  List.iter (fun at -> if check (wrong at) then failwith "a false claim at an edge passes") edges;
  Printf.printf "%s: false claims at the edges of blocks and pages are refused\n%!" name

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

(* What zstd makes of these bytes. *)
let packed bytes =
  let from = Filename.temp_file "claims" "" in
  let out = open_out_bin from in
  List.iter (output_char out) bytes;
  close_out out;
  assert (Sys.command (Filename.quote_command "zstd" [ "-q"; "--rm"; from ]) = 0);
  let frame = read (from ^ ".zst") in
  Sys.remove (from ^ ".zst");
  frame

(* Writes a certificate of effort 1, or of effort 0 if it has no [searches]. Its claims are packed by zstd. *)
let write folder name ?(rule_set = 0) ?(searches = false) ?(count = 0) ?(claims = "") { own_store; other_store; rows } statements =
  let prefix = Buffer.create 200 in
  let long number = Buffer.add_int32_le prefix (Int32.of_int number) in
  let values (least, most) = Buffer.add_int64_le prefix least; Buffer.add_int64_le prefix most in
  let opening (pits, bounds) =
    values bounds;
    Buffer.add_uint16_le prefix (List.length pits);
    List.iter (fun pit -> Buffer.add_uint8 prefix (pit + 1)) pits
  in
  List.iter long (own_store :: other_store :: (rows.own @ rows.other));
  values (List.assoc [] statements);
  let openings = List.remove_assoc [] statements in
  List.iter opening openings;
  let head = Bytes.make 128 '\000' in
  Bytes.set_uint8 head 12 rule_set;
  Bytes.set_uint8 head 13 (List.length rows.own);
  Bytes.set_uint8 head 14 (Bool.to_int searches);
  Bytes.set_int64_le head 16 (Int64.of_int count);
  Bytes.set_int32_le head 28 (Int32.of_int (List.length openings));
  Bytes.set_int64_le head 32 (Int64.of_int (Buffer.length prefix));
  let out = open_out_bin (Filename.concat folder name) in
  List.iter (output_string out) [ Bytes.to_string head; Buffer.contents prefix; claims; String.make 32 '\000' ];
  close_out out

let exactly value = (Int64.of_int value, Int64.of_int value)
let any_value = (-1000L, 1000L)

(* Statements about small boards: true ones are accepted, and false ones refused. *)
let write_random_statements accepted refused =
  for i = 1 to 300 do
    let m = 1 + Random.int 3 in
    let row () = List.init m (fun _ -> Random.int (1 + (4 / m))) in
    let g = { own_store = Random.int 4; other_store = Random.int 4; rows = { own = row (); other = row () } } in
    if seeds g.rows <= 6 then begin
      let pits = random_opening empty_capture g (Random.int 4) in
      let after, same = Option.get (after_moves empty_capture g true pits) in
      let score = look_up (score_in (computed empty_capture m 6)) after.rows in
      let value = (2 * score) - seeds after.rows + after.own_store - after.other_store in
      let value = if same then value else -value in
      let least = value - 3 + Random.int 5 and most = value + 3 - Random.int 5 in
      if least <= most then begin
        let is_true = least <= value && value <= most in
        let statements = [ (pits, (Int64.of_int least, Int64.of_int most)); ([], any_value) ] in
        let statements = if pits = [] then [ List.hd statements ] else statements in
        write (if is_true then accepted else refused) (Printf.sprintf "random-%d" i) g statements
      end
    end
  done

let write_certificates accepted refused impossible =
  write_random_statements accepted refused;
  let game own_store other_store own other = { own_store; other_store; rows = { own; other } } in
  let small = game 0 0 [ 1 ] [ 2 ] in
  (* Its value is 1 - 2. Bounds of the score after the opening would be -1/2. *)
  write refused "rounded-toward-zero" small [ ([ 0 ], exactly (-2)); ([], any_value) ];
  write refused "beyond-native-integers" small [ ([], (Int64.max_int, Int64.max_int)) ];
  write accepted "large-bounds" small [ ([], (Int64.min_int, Int64.max_int)) ];
  (* A position whose value depends on the rules. *)
  let score rules = score_in (computed rules m 5) in
  let first = score empty_capture and second = score standard in
  let rows = List.find (fun p -> first p <> second p) (positions 5) in
  let differs = game 0 0 rows.own rows.other in
  let value rules = (2 * score rules differs.rows) - 5 in
  List.iteri (fun rule_set rules ->
      write accepted (Printf.sprintf "rules-%d" rule_set) ~rule_set differs [ ([], exactly (value rules)) ];
      write refused (Printf.sprintf "other-rules-%d" rule_set) ~rule_set:(1 - rule_set) differs
        [ ([], exactly (value rules)) ]) [ empty_capture; standard ];
  write accepted "a-finished-start" (game 2 3 [ 0; 0 ] [ 1; 9 ]) [ ([], exactly (-11)) ];
  (* More seeds than the tables have, so that claims are needed: none, or one. *)
  let nine row = row @ [ 0; 0; 0; 0; 0; 1 ] in
  let start = game 0 0 (nine [ 0; 2; 1 ]) (nine [ 1; 1; 1 ]) in
  let score = score_in (computed empty_capture 9 8) start.rows in
  let statements = [ ([], exactly ((2 * score) - 8)) ] in
  write accepted "no-claims" ~searches:true start statements;
  let rec leb n = if n < 128 then [ n ] else ((n land 127) lor 128) :: leb (n lsr 7) in
  let claim = [ 1; 8; 1 ] @ leb (key start.rows land ((1 lsl 44) - 1)) @ [ score; 8 - score ] in
  write accepted "a-claim" ~searches:true ~count:1 ~claims:(packed (List.map Char.chr claim)) start statements;
  (* One pit a side, so one move. *)
  let many = game 3 0 [ 35 ] [ 36 ] in
  let rec score p = if over p then look_up score p else best empty_capture 1 (seeds p) score p in
  let value = 3 + (2 * score many.rows) - seeds many.rows in
  write accepted "many-seeds" ~searches:true many [ ([], exactly value) ];
  write refused "too-much-of-many-seeds" many [ ([], (Int64.of_int (value + 2), 1000L)) ];
  let refuse name g = write impossible name g [ ([], any_value) ] in
  refuse "negative-pit" (game 0 0 [ -3 ] [ 5 ]);
  refuse "negative-store" (game (-1) 0 [ 1 ] [ 2 ]);
  refuse "too-many-seeds" (game ((1 lsl 31) - 1) 1 [ 1 ] [ 1 ]);
  refuse "too-many-seeds-in-play" (game 0 0 [ 80 ] [ 47 ]);
  refuse "no-pits" (game 0 0 [] []);
  let row = List.init 17 (fun _ -> 0) in
  refuse "too-many-pits" (game 0 0 row row);
  refuse "too-many-positions" (game 0 0 (nine [ 5; 5; 5 ]) (nine [ 10; 10; 10 ]))

(* Prints claims that prove the value of a start, without tables, as a file for Coq. *)
let print_claims m n value =
  let row = List.init m (fun _ -> n) in
  let game = { own_store = 0; other_store = 0; rows = { own = row; other = row } } in
  let c = { name = "empty-capture"; m; rests_on = 0; game; statements = [ ([], (value, value)) ]; effort = 1; count = 0;
            claims = claims m 0 [||] } in
  print_endline "From Coq Require Import List. From Kalah Require Import Definitions Certificates. Import ListNotations.";
  print_endline "Definition claims : list claim := [";
  let row r = "[" ^ String.concat ";" (List.map string_of_int r) ^ "]" in
  let print { about; lower; upper } =
    Printf.sprintf "Claim (Position %s %s) %d %d" (row about.own) (row about.other) lower upper
  in
  let claims = claims_of (Search.expand ~quiet:true empty_capture (fun _ -> 0) c) in
  print_string (String.concat ";\n" (List.map print (Array.to_list claims)));
  print_endline "]."

let () =
  match Sys.argv with
  | [| _; m; n; value |] when int_of_string_opt m <> None ->
      print_claims (int_of_string m) (int_of_string n) (int_of_string value)
  | [| _; folder |] ->
      let inner = Filename.concat folder in
      write_certificates (inner "accepted") (inner "refused") (inner "impossible")
  | [| _; name; n; count |] ->
      let n = int_of_string n in
      let table = checked (let _, _, rules = List.find (fun (_, set, _) -> set = name) rule_sets in rules) n in
      for _ = 1 to int_of_string count do
        let p = random_position (2 + Random.int (n - 1)) in
        Printf.printf "%s %d\n" (text p) (table p)
      done
  | _ ->
      refuses_illegal_openings ();
      let truths = List.map (fun (_, name, rules) -> (name, (rules, checked rules 12))) rule_sets in
      List.iter (fun (name, (rules, truth)) ->
          refuses_wrong_tables name rules;
          refuses_damaged_tables name rules;
          refuses_wrong_claims name rules truth (List.map snd (List.remove_assoc name truths));
          refuses_wrong_claims_at_edges name rules truth) truths
