(* The numbers that the theorems speak about: a table's scores, and the claims of a certificate.

   The theorems hold for any table and any claims. So nothing here can make a false statement pass, as long as
   [score_in], [claim_in] and [find_in] are functions: equal arguments give equal results, and no number is negative.
   They are, since they only read strings and arrays that nothing changes any more. *)

open Kalah

(* Rule sets, with their numbers in files. Number 2 has relays. *)
let rule_sets = [ (0, "empty-capture", empty_capture); (1, "standard", standard); (3, "single-move", single_move) ]

(* Tables *)

(* C(p + i - 1, i) is at 64 * i + p, or 2^60 if that is less. Nothing outside this file can write to it: data.mli. *)
let choose =
  let c = Array.make (64 * 32) 0 in
  Array.fill c 0 64 1;
  for i = 1 to 31 do
    for p = 1 to 63 do
      c.((64 * i) + p) <- min (1 lsl 60) (c.((64 * i) + p - 1) + c.((64 * (i - 1)) + p))
    done
  done;
  c

(* A row's number among those with as many seeds, times 64, plus the seeds. *)
let number row =
  let rec go i sum rank = function
    | [] -> (rank lsl 6) lor sum
    | [ s ] -> (rank lsl 6) lor (sum + s)
    | s :: rest ->
        let sum = sum + s in
        go (i + 64) sum (rank + choose.(i + sum)) rest
  in
  go 64 0 0 row

(* Rows of [m] pits with [k] seeds. *)
let width m k = choose.((64 * (m - 1)) + k + 1)

(* Boards whose numbers fit below: ranks of positions in 44 bits, seeds in 6. *)
let limits = "the limits are 16 pits a side, 62 seeds in play, and 2^44 ways to place these seeds"
let within_limits m seeds = 1 <= m && m <= 16 && 0 <= seeds && seeds <= 62 && width (2 * m) seeds <= 1 lsl 44

(* A table has a string for each number of seeds in the mover's row and in the other row. *)
type table = { m : int; frames : string array array }

(* A table that nobody else holds. *)
let copy table = { table with frames = Array.map Array.copy table.frames }

let score_in table p =
  let a = number p.own and b = number p.other in
  let k = a land 63 in
  Char.code table.frames.(k).(b land 63).[((b lsr 6) * width table.m k) + (a lsr 6)]

(* Claims *)

(* The first [n] pits of a list, and the others. *)
let split n pits = (List.filteri (fun i _ -> i < n) pits, List.filteri (fun i _ -> i >= n) pits)

(* Sequence ranks: docs/certificates.md. The seeds in play are in the upper bits of a key. *)
let key p =
  let rec go i sum rank = function
    | [ _ ] | [] -> rank
    | s :: rest ->
        let sum = sum + s in
        go (i + 64) sum (rank + choose.(i + sum)) rest
  in
  (seeds p lsl 44) lor go 64 0 0 (p.own @ p.other)

let position_of m key =
  let rec go i last rank pits =
    if i = 0 then last :: pits
    else
      let rec largest p = if choose.((64 * i) + p) <= rank then p else largest (p - 1) in
      let p = largest last in
      go (i - 1) p (rank - choose.((64 * i) + p)) ((last - p) :: pits)
  in
  let own, other = split m (go ((2 * m) - 1) (key lsr 44) (key land ((1 lsl 44) - 1)) []) in
  { own; other }

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

(* Shards that nobody else holds. The others are freed one by one. *)
let taken slots =
  let take s =
    let shard = Array.copy slots.(s) in
    slots.(s) <- [||];
    shard
  in
  Array.init shards take

(* Claim [i] is in slot [i / shards] of shard [i mod shards]. *)
let count slots = shards * Array.fold_left (fun most shard -> max most (Array.length shard)) 0 slots

(* The claim in a slot. A free slot, or one beyond the shard, claims nothing about a position with two seeds. *)
let claim_in slots m i =
  let shard = slots.(i mod shards) and at = i / shards in
  let entry = if at < Array.length shard then shard.(at) else 0 in
  if entry = 0 then
    let row = List.init m (fun pit -> if pit = 0 then 1 else 0) in
    { about = { own = row; other = row }; lower = 0; upper = 2 }
  else { about = position_of m (key_of entry); lower = lower_of entry; upper = upper_of entry }

let find_in slots p =
  let key = key p in
  let s = shard_of key in
  (shards * slot slots.(s) key) + s
