(* Turns a certificate with searches into one without: searches for each claim, and keeps each bound that it proves.
   Nothing here is trusted. The verified checker checks every bound that is kept. *)

open Kalah
open Data
open Files

(* Claims are in shards by the upper bits of a hash. There, a claim is in the first slot from its place on that is free or
   has its key. A slot has the key of a position and two bounds, or it is 0. *)
let shards = 1024
let key_of slot = slot lsr 12
let lower_of slot = (slot lsr 6) land 63
let upper_of slot = slot land 63
let pack key lower upper = (key lsl 12) lor (lower lsl 6) lor upper
let hash key = key * 0x9E3779B97F4A7C1
let shard_of key = hash key lsr 53

(* The slot of a key in its shard, or the free one where it belongs. *)
let slot shard key =
  let size = Array.length shard in
  let rec probe at =
    if shard.(at) = 0 || key_of shard.(at) = key then at else probe (if at + 1 = size then 0 else at + 1)
  in
  probe ((((hash key lsr 23) land 0x3FFFFFFF) * size) lsr 30)

(* Shards that grow by a quarter when four fifths of their slots are used. *)
type store = { slots : int array array; used : int array }

let empty () = { slots = Array.init shards (fun _ -> Array.make 8 0); used = Array.make shards 0 }

let set store key lower upper =
  let s = shard_of key in
  let shard = store.slots.(s) in
  let at = slot shard key in
  let is_new = shard.(at) = 0 in
  shard.(at) <- pack key lower upper;
  if is_new then begin
    store.used.(s) <- store.used.(s) + 1;
    let size = Array.length shard in
    if 5 * store.used.(s) > 4 * size then begin
      let larger = Array.make (size + (size / 4)) 0 in
      Array.iter (fun entry -> if entry <> 0 then larger.(slot larger (key_of entry)) <- entry) shard;
      store.slots.(s) <- larger
    end
  end

(* The claims of a store, which is empty afterwards. *)
let packed m store =
  let count = Array.fold_left ( + ) 0 store.used in
  let all = Array.make count 0 and filled = ref 0 in
  Array.iteri (fun s shard ->
      Array.iter (fun entry -> if entry <> 0 then (all.(!filled) <- entry; incr filled)) shard;
      store.slots.(s) <- [||]) store.slots;
  (* Keys are the upper bits. *)
  Array.stable_sort (fun (a : int) b -> compare a b) all;
  let at = ref (-1) in
  packed_claims m count (fun () -> incr at; let entry = all.(!at) in (key_of entry, lower_of entry, upper_of entry))

(* The claims that prove [c] under [rules]. *)
let expand ?(quiet = false) rules table c =
  let nodes = ref 0 in
  let given = empty () and proved = empty () in
  if c.effort > 0 then
    for i = 0 to c.count - 1 do
      let claim = claim_in c.claims i in
      set given (key claim.about) claim.lower claim.upper
    done;
  let look store key n =
    let shard = store.slots.(shard_of key) in
    let entry = shard.(slot shard key) in
    if entry = 0 then (0, n) else (lower_of entry, upper_of entry)
  in
  (* True if the score of [p], with [n] seeds in play, is at least [s]. *)
  let rec at_least p n s =
    if s <= 0 then true
    else if s > n then false
    else if over p || n <= c.rests_on then look_up table p >= s
    else
      let key = key p in
      let low, high = look proved key n and low', high' = look given key n in
      if max low low' >= s then true else if min high high' < s then false else search p key n s
  and search p key n s =
    incr nodes;
    let moves = List.rev (moves rules c.m p) in
    let moves = List.stable_sort (fun a b -> compare (b.again, b.stored) (a.again, a.stored)) moves in
    let reaches o =
      let rest = n - o.stored in
      if o.again then at_least o.after rest (s - o.stored) else not (at_least (swap o.after) rest (n - s + 1))
    in
    (* First the moves that need no search. *)
    let quick o =
      let rest = n - o.stored in
      let next = if o.again then o.after else swap o.after in
      if o.stored >= s then true
      else if over next || rest <= c.rests_on then reaches o
      else
        let key = Data.key next in
        let low, high = look proved key rest and low', high' = look given key rest in
        if o.again then max low low' >= s - o.stored else min high high' <= n - s
    in
    let yes = List.exists quick moves || List.exists reaches moves in
    let low, high = look proved key n in
    if yes then set proved key (max low s) high else set proved key low (min high (s - 1));
    yes
  in
  let prove p lower upper =
    let n = seeds p in
    let key = key p in
    let low, high = look proved key n in
    if low < lower && not (search p key n lower) then failwith "a claim is false";
    if high > upper && search p key n (upper + 1) then failwith "a claim is false"
  in
  if c.effort > 0 then begin
    for i = 0 to c.count - 1 do
      let claim = claim_in c.claims i in
      if seeds claim.about > c.rests_on then prove claim.about claim.lower claim.upper
    done;
    List.iter (fun (pits, values) ->
        match after_moves rules c.game true pits with
        | Some (g, same) when seeds g.rows > c.rests_on && not (over g.rows) ->
            let lower, upper = score_bounds g same values in
            prove g.rows lower upper
        | _ -> ()) c.statements
  end;
  if not quiet && c.effort > 0 then
    Printf.printf "%6.1f s: %d claims of the certificate became %d without searches, by a search of %d nodes\n%!"
      (Sys.time ()) c.count (Array.fold_left ( + ) 0 proved.used) !nodes;
  if c.effort > 0 then packed c.m proved else c.claims
