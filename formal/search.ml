(* Turns a certificate with searches into one without: searches for each claim, and keeps each bound that it proves.
   Nothing here is trusted. The verified checker checks every bound that is kept. *)

open Kalah
open Data
open Files

(* Claims by the key of their position. They are in shards, which have the order of keys: 256 for each number of seeds, or
   fewer. In its shard, a claim is in the first slot from its place on that is free or has its key. A slot has 8 bytes: the
   number of the position among those with as many seeds or fewer, times 2^14, and two bounds of 7 bits. It is 0 if it is
   free. *)
type store = { m : int; shards : Bytes.t array; used : int array }

let empty m = { m; shards = Array.make (127 * 256) Bytes.empty; used = Array.make (127 * 256) 0 }

(* Positions with fewer than [n] seeds in play. *)
let below m n = if n = 0 then 0 else width ((2 * m) + 1) (n - 1)

let entry shard at = Int64.to_int (Bytes.get_int64_le shard (8 * at))
let set_entry shard at entry = Bytes.set_int64_le shard (8 * at) (Int64.of_int entry)
let slots shard = Bytes.length shard / 8
let bounds entry = ((entry lsr 7) land 127, entry land 127)

let shard_of m key =
  let n = key lsr 44 and rank = key land ((1 lsl 44) - 1) in
  (256 * n) + (256 * rank / width (2 * m) n)

(* The slot of a number in its shard, or the free one where it belongs. *)
let slot shard number =
  let size = slots shard in
  let rec probe at =
    let found = entry shard at in
    if found = 0 || found lsr 14 = number then at else probe (if at + 1 = size then 0 else at + 1)
  in
  probe (((((number * 0x9E3779B97F4A7C1) lsr 23) land 0x3FFFFFFF) * size) lsr 30)

let number_of m key = below m (key lsr 44) + (key land ((1 lsl 44) - 1))

(* The bounds in [store] of the position of [key], if it has any. *)
let look { m; shards; _ } key =
  let shard = shards.(shard_of m key) in
  if slots shard = 0 then None
  else
    let found = entry shard (slot shard (number_of m key)) in
    if found = 0 then None else Some (bounds found)

(* A shard grows by an eighth when five sixths of its slots are used. *)
let set { m; shards; used } key lower upper =
  let s = shard_of m key and number = number_of m key in
  if 6 * (used.(s) + 1) > 5 * slots shards.(s) then begin
    let shard = shards.(s) in
    let larger = Bytes.make (8 * (slots shard + (slots shard / 8) + 8)) '\000' in
    for at = 0 to slots shard - 1 do
      let moved = entry shard at in
      if moved <> 0 then set_entry larger (slot larger (moved lsr 14)) moved
    done;
    shards.(s) <- larger
  end;
  let at = slot shards.(s) number in
  if entry shards.(s) at = 0 then used.(s) <- used.(s) + 1;
  set_entry shards.(s) at ((number lsl 14) lor (lower lsl 7) lor upper)

(* The claims of a store, which is empty afterwards. *)
let packed { m; shards; used } =
  let s = ref (-1) and sorted = ref [||] and at = ref 0 in
  let rec next () =
    if !at < Array.length !sorted then begin
      let found = !sorted.(!at) and n = !s / 256 in
      incr at;
      let lower, upper = bounds found in
      ((n lsl 44) lor ((found lsr 14) - below m n), lower, upper)
    end
    else begin
      incr s;
      sorted := Array.init (slots shards.(!s)) (entry shards.(!s));
      shards.(!s) <- Bytes.empty;
      Array.stable_sort (fun (a : int) b -> compare a b) !sorted;
      (* Free slots come first. *)
      at := Array.length !sorted - used.(!s);
      next ()
    end
  in
  packed_claims m (Array.fold_left ( + ) 0 used) next

(* The claims that prove [c] under [rules]. *)
let expand ?(quiet = false) rules table (c : certificate) =
  let nodes = ref 0 in
  let given = empty c.m and proved = empty c.m in
  if c.effort > 0 then
    for i = 0 to c.count - 1 do
      let claim = claim_in c.claims i in
      set given (key claim.about) claim.lower claim.upper
    done;
  let look store key n = Option.value (look store key) ~default:(0, n) in
  (* True if the score of [p], with [n] seeds in play, is at least [s]. *)
  let rec at_least p n s =
    if s <= 0 then true
    else if s > n then false
    else if over p || n <= c.rests_on then look_up table p >= s
    else
      let key = key p in
      let low, high = look proved key n and low', high' = look given key n in
      if Int.max low low' >= s then true else if Int.min high high' < s then false else search p key n s
  and search p key n s =
    incr nodes;
    let moves = List.rev (moves rules c.m p) in
    let order o = o.stored + if o.again then 128 else 0 in
    let moves = List.stable_sort (fun a b -> order b - order a) moves in
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
        if o.again then Int.max low low' >= s - o.stored else Int.min high high' <= n - s
    in
    let yes = List.exists quick moves || List.exists reaches moves in
    let low, high = look proved key n in
    if yes then set proved key (Int.max low s) high else set proved key low (Int.min high (s - 1));
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
      (seconds ()) c.count (Array.fold_left ( + ) 0 proved.used) !nodes;
  if c.effort > 0 then packed proved else c.claims
