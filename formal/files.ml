(* Reads tables and certificates, and computes tables in memory. Nothing here is trusted. *)

open Kalah
open Data

let read path =
  let file = open_in_bin path in
  let contents = really_input_string file (in_channel_length file) in
  close_in file;
  contents

let empty_frames m n =
  Array.init (n + 1) (fun k -> Array.init (n + 1 - k) (fun l -> Bytes.make (width m k * width m l) '\255'))

(* Each frame is free once it is copied. *)
let frozen m frames =
  let freeze row k =
    let frame = Bytes.to_string row.(k) in
    row.(k) <- Bytes.empty;
    frame
  in
  { m; frames = Array.map (fun row -> Array.init (Array.length row) (freeze row)) frames }

(* Ranks in files, of rows of [m] pits with up to [n] seeds: docs/indexing.md. *)
let rank_in_file m n =
  let width = (m - 1) * n + 1 in
  let count = Array.init (m + 1) (fun _ -> Array.make ((n + 1) * width) 0) in
  for k = 0 to n do
    count.(1).(k * width) <- 1
  done;
  for pits = 2 to m do
    for k = 0 to n do
      for p = 0 to width - 1 do
        let below = if k > 0 && p >= pits - 1 then count.(pits).(((k - 1) * width) + p - pits + 1) else 0 in
        count.(pits).((k * width) + p) <- count.(pits - 1).((k * width) + p) + below
      done
    done
  done;
  let below = Array.make ((n + 1) * (width + 1)) 0 in
  for k = 0 to n do
    for p = 1 to width do
      below.((k * (width + 1)) + p) <- below.((k * (width + 1)) + p - 1) + count.(m).((k * width) + p - 1)
    done
  done;
  let rec potential pits = function [] -> 0 | s :: rest -> (s * (pits - 1)) + potential (pits - 1) rest in
  let rec walk pits k p rank = function
    | s :: rest when pits >= 3 ->
        let k' = k - s and p' = p - (s * (pits - 1)) in
        let c = count.(pits) in
        walk (pits - 1) k' p' (rank + c.((k * width) + p) - c.((k' * width) + p')) rest
    | _ -> rank
  in
  fun row k ->
    let p = potential m row in
    walk m k p below.((k * (width + 1)) + p) row

(* The tables of up to [n] seeds in [folder]: docs/format.md, "Looking up a score". *)
let of_files folder name m n =
  let rank = rank_in_file m n in
  (* Numbers of the rows with k seeds, by their ranks in files. *)
  let numbers =
    Array.init (n + 1) (fun k ->
        let numbers = Array.make (width m k) 0 in
        List.iter (fun row -> numbers.(rank row k) <- number row lsr 6) (all_rows m k);
        numbers)
  in
  let frames = empty_frames m n in
  let up x = (x + 63) / 64 * 64 in
  for seeds = 2 to n do
    let f = read (Printf.sprintf "%s/%s-%d-%02d.kalah" folder name m seeds) in
    let long at = Int64.to_int (String.get_int64_le f at) and byte at = Char.code f.[at] in
    for k = 1 to seeds - 1 do
      let entry = 128 + (72 * (k - 1)) in
      let frame = long entry and rows = long (entry + 8) in
      let groups = frame + up rows in
      let patches = groups + (64 * long (entry + 16)) in
      let code at place =
        let half at = (byte (at + (place / 2)) lsr (4 * (place land 1))) land 15 in
        if byte (at + 63) < 128 then half at
        else
          let patch = patches + Int32.to_int (String.get_int32_le f at) in
          let rec find i =
            if i = byte (patch + 4) then half (if place < 8 then patch else at)
            else if byte (patch + 5 + (2 * i)) = place then byte (patch + 6 + (2 * i))
            else find (i + 1)
          in
          find 0
      in
      let into = frames.(k).(seeds - k) in
      let index = ref 0 in
      Array.iter (fun other ->
          Array.iteri (fun rank own ->
              let at = groups + (64 * (!index / 126)) in
              let score = (byte (at + 63) land 127) - 64 + code at (!index mod 126) + byte (frame + rank) in
              Bytes.set_uint8 into ((other * rows) + own) (score land 255);
              incr index) numbers.(k)) numbers.(seeds - k)
    done
  done;
  frozen m frames

(* The table of up to [n] seeds, computed with the moves of the extracted program. *)
let computed rules m n =
  let frames = empty_frames m n in
  let rec score p =
    let a = number p.own and b = number p.other in
    let k = a land 63 and l = b land 63 in
    let frame = frames.(k).(l) and at = ((b lsr 6) * width m k) + (a lsr 6) in
    if Bytes.get_uint8 frame at = 255 then Bytes.set_uint8 frame at (best rules m (k + l) (look_up score) p);
    Bytes.get_uint8 frame at
  in
  for seeds = 2 to n do
    for k = 1 to seeds - 1 do
      let mine = all_rows m k in
      List.iter (fun other -> List.iter (fun own -> ignore (score { own; other })) mine) (all_rows m (seeds - k))
    done
  done;
  frozen m frames

type certificate = {
  name : string;  (* of the rule set *)
  m : int;
  rests_on : int;  (* seeds of the largest table *)
  game : game;
  statements : (int list * (int * int)) list;  (* pits of openings, at last none; bounds of the value after them *)
  effort : int;  (* 0: no claim needs a search *)
  count : int;
  claim : int -> claim;
}

(* Unpacks zstd frames by the program `zstd`. *)
let unpacked frames =
  let packed = Filename.temp_file "claims" ".zst" and contents = Filename.temp_file "claims" "" in
  let remove () = List.iter Sys.remove [ packed; contents ] in
  Fun.protect ~finally:remove (fun () ->
      let out = open_out_bin packed in
      output_string out frames;
      close_out out;
      if Sys.command (Filename.quote_command "zstd" ~stdout:contents [ "-qdc"; packed ]) <> 0 then failwith "zstd fails";
      read contents)

(* Reads a certificate: docs/certificates.md, "The file". The program `zstd` unpacks its claims. *)
let certificate path =
  let f = read path in
  let long at = Int32.to_int (String.get_int32_le f at) and number at = Int64.to_int (String.get_int64_le f at) in
  (* A bound of any size. Beyond 2^40, all are trivial or false. *)
  let value at = Int64.to_int (max (-0x10000000000L) (min 0x10000000000L (String.get_int64_le f at))) in
  let _, name, _ =
    try List.find (fun (number, _, _) -> number = Char.code f.[12]) rule_sets
    with Not_found -> failwith "relays are not covered"
  in
  let m = Char.code f.[13] in
  let count = number 16 and prefix = number 32 in
  let pit i = long (136 + (4 * i)) in
  let rows = { own = List.init m pit; other = List.init m (fun i -> pit (m + i)) } in
  let values at = (value at, value (at + 8)) in
  let bounds = 136 + (8 * m) in
  let rec openings left at =
    if left = 0 then [ ([], values bounds) ]
    else
      let moves = String.get_uint16_le f (at + 16) in
      (List.init moves (fun i -> Char.code f.[at + 18 + i] - 1), values at) :: openings (left - 1) (at + 18 + moves)
  in
  let c = if count = 0 then "" else unpacked (String.sub f (128 + prefix) (String.length f - 160 - prefix)) in
  let at = ref 0 in
  let byte () = incr at; Char.code c.[!at - 1] in
  let rec leb () = let b = byte () in if b < 128 then b else b - 128 + (leb () lsl 7) in
  let keys = Array.make count 0 and low = Bytes.create count and high = Bytes.create count in
  let first = ref 0 in
  while !first < count do
    let groups = List.init (leb ()) (fun _ -> let n = byte () in (n, leb ())) in
    let claim = ref !first in
    List.iter (fun (n, claims) ->
        let rank = ref 0 in
        for _ = 1 to claims do
          rank := !rank + leb ();
          keys.(!claim) <- (n lsl 44) lor !rank;
          incr claim
        done) groups;
    for i = !first to !claim - 1 do Bytes.set_uint8 low i (byte ()) done;
    for i = !first to !claim - 1 do Bytes.set_uint8 high i ((keys.(i) lsr 44) - byte ()) done;
    first := !claim
  done;
  let claim i =
    { about = position_of m keys.(i); lower = Bytes.get_uint8 low i; upper = Bytes.get_uint8 high i }
  in
  { name; m; rests_on = Char.code f.[15]; game = { own_store = long 128; other_store = long 132; rows };
    statements = openings (long 28) (bounds + 16); effort = Char.code f.[14]; count; claim }

(* Bounds of the score in [g] that bounds of the value need: docs/certificates.md, "When the statement holds". The value
   is that of the mover if [same], else of the other player. *)
let score_bounds g same (least, most) =
  let n = seeds g.rows in
  let lowest = g.own_store - g.other_store - n in
  let least, most = if same then (least, most) else (-most, -least) in
  (* Shifts divide down, as bounds below the lowest value need. *)
  (max 0 ((least - lowest + 1) asr 1), min n ((most - lowest) asr 1))
