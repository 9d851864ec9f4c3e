(* Reads tables and certificates, and computes tables in memory. Nothing here is trusted. *)

open Kalah
open Data

(* Seconds since the beginning. *)
let seconds =
  let start = Unix.gettimeofday () in
  fun () -> Unix.gettimeofday () -. start

let read path =
  let file = open_in_bin path in
  let contents = really_input_string file (in_channel_length file) in
  close_in file;
  contents

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

(* The rows with up to [n] seeds by their ranks in files, and these ranks by the numbers of the rows. *)
let rows_of m n =
  let rank = rank_in_file m n in
  let rows = Array.init (n + 1) (fun k -> Array.make (width m k) []) in
  let ranks =
    Array.init (n + 1) (fun k ->
        let ranks = Array.make (width m k) 0 in
        List.iter (fun row ->
            rows.(k).(rank row k) <- row;
            ranks.(number row lsr 7) <- rank row k) (all_rows m k);
        ranks)
  in
  (rows, ranks)

(* The tables of up to [n] seeds in [folder]. *)
let of_files folder name m n =
  let layer seeds = read (Printf.sprintf "%s/%s-%d-%02d.kalah" folder name m seeds) in
  table (snd (rows_of m n)) (Array.init (max 0 (n - 1)) (fun i -> layer (i + 2)))

(* A frame's profile, groups and patches, from the scores by index: docs/format.md, "Packing". [base_of] chooses the base
   of the residuals of a group. *)
let packed_frame base_of rows scores =
  let size = Bytes.length scores in
  let score index = Bytes.get_uint8 scores index in
  let sums = Array.make rows 0 in
  for index = 0 to size - 1 do sums.(index mod rows) <- sums.(index mod rows) + score index done;
  let profile = Array.map (fun sum -> sum / (size / rows)) sums in
  let head = Bytes.make (padded rows) '\000' and groups = Buffer.create size and patches = Buffer.create 64 in
  Array.iteri (Bytes.set_uint8 head) profile;
  for g = 0 to ((size + 125) / 126) - 1 do
    let first = 126 * g in
    let residuals = List.init (min 126 (size - first)) (fun i -> score (first + i) - profile.((first + i) mod rows)) in
    let base = base_of residuals in
    let group = Bytes.make 64 '\000' and exceptions = Buffer.create 16 in
    List.iteri (fun place residual ->
        let code = residual - base in
        if 0 <= code && code < 16 then
          let at = place / 2 in
          Bytes.set_uint8 group at (Bytes.get_uint8 group at lor (code lsl (4 * (place land 1))))
        else begin
          Buffer.add_uint8 exceptions place;
          Buffer.add_uint8 exceptions (code land 255)
        end) residuals;
    let count = Buffer.length exceptions / 2 in
    Bytes.set_uint8 group 63 (base + 64 + if count > 0 then 128 else 0);
    if count > 0 then begin
      let at = Buffer.length patches in
      Buffer.add_bytes patches (Bytes.sub group 0 4);
      Buffer.add_uint8 patches count;
      Buffer.add_buffer patches exceptions;
      Bytes.set_int32_le group 0 (Int32.of_int at)
    end;
    Buffer.add_bytes groups group
  done;
  String.concat "" [ Bytes.to_string head; Buffer.contents groups; Buffer.contents patches ]

(* The base with the fewest exceptions. *)
let best_base residuals =
  let least = List.fold_left min 127 residuals and most = List.fold_left max (-128) residuals in
  let fits base = List.length (List.filter (fun r -> base <= r && r <= base + 15) residuals) in
  let rec search base best =
    if base > most - 15 then best else search (base + 1) (if fits base > fits best then base else best)
  in
  search (least + 1) least

(* A layer with a directory and [frames], from 1 seed in the mover's row on, and without digests and checksums. *)
let packed_layer rows frames =
  let directory = Bytes.make (padded (128 + (72 * Array.length frames))) '\000' in
  let set at number = Bytes.set_int64_le directory at (Int64.of_int number) in
  let at = ref (Bytes.length directory) in
  Array.iteri (fun i (size, frame) ->
      let entry = 128 + (72 * i) in
      set entry !at;
      set (entry + 8) (Array.length rows.(i + 1));
      set (entry + 16) ((size + 125) / 126);
      at := !at + String.length frame) frames;
  String.concat "" (Bytes.to_string directory :: List.map snd (Array.to_list frames))

(* The ranks and the layers of up to [n] seeds, computed with the moves of the extracted program. *)
let computed_layers ?(base_of = best_base) rules m n =
  let rows, ranks = rows_of m n in
  let layers = Array.make (max 0 (n - 1)) "" in
  let below seeds = table ranks (Array.sub layers 0 (seeds - 2)) in
  for seeds = 2 to n do
    let lower = below seeds in
    let lower = score_in lower and rank = rank_in (table ranks [||]) in
    let size k = width m k * width m (seeds - k) in
    let frames = Array.init (seeds - 1) (fun i -> Bytes.make (size (i + 1)) '\255') in
    let rec score p =
      let k = sum p.own in
      if k + sum p.other < seeds then lower p
      else begin
        let frame = frames.(k - 1) and at = (rank p.other * width m k) + rank p.own in
        if Bytes.get_uint8 frame at = 255 then Bytes.set_uint8 frame at (best rules m seeds (look_up score) p);
        Bytes.get_uint8 frame at
      end
    in
    for k = 1 to seeds - 1 do
      Array.iter (fun other -> Array.iter (fun own -> ignore (score { own; other })) rows.(k)) rows.(seeds - k)
    done;
    let pack i frame = (Bytes.length frame, packed_frame base_of (width m (i + 1)) frame) in
    layers.(seeds - 2) <- packed_layer rows (Array.mapi pack frames)
  done;
  (ranks, layers)

let computed rules m n =
  let ranks, layers = computed_layers rules m n in
  table ranks layers

(* Pages of claims, sorted by key, as data.ml reads them. [next] gives the key and the bounds of the next claim. *)
let packed_pages count next =
  let page i =
    let size = min in_page (count - (in_page * i)) in
    let blocks = (size + in_block - 1) / in_block in
    let index = Bytes.create (12 * blocks) and body = Buffer.create (4 * size) in
    let rec leb n =
      if n < 128 then Buffer.add_uint8 body n else (Buffer.add_uint8 body (n land 127 lor 128); leb (n lsr 7))
    in
    let last = ref 0 in
    for j = 0 to size - 1 do
      let key, lower, upper = next () in
      if j mod in_block = 0 then begin
        let entry = 12 * (j / in_block) in
        Bytes.set_int64_le index entry (Int64.of_int key);
        Bytes.set_int32_le index (entry + 8) (Int32.of_int ((12 * blocks) + Buffer.length body))
      end
      else leb (key - !last);
      last := key;
      let below = (key lsr 44) - upper in
      if below = 0 then leb (3 * lower) else if lower = 0 then leb ((3 * below) + 1) else (leb ((3 * lower) + 2); leb below)
    done;
    Bytes.to_string index ^ Buffer.contents body
  in
  let pages = Array.make ((count + in_page - 1) / in_page) "" in
  for i = 0 to Array.length pages - 1 do pages.(i) <- page i done;
  pages

let packed_claims m count next = claims m count (packed_pages count next)

type certificate = {
  name : string;  (* of the rule set *)
  m : int;
  rests_on : int;  (* seeds of the largest table *)
  game : game;
  statements : (int list * (int * int)) list;  (* pits of openings, at last none; bounds of the value after them *)
  effort : int;  (* 0: no claim needs a search *)
  count : int;
  claims : claims;
}

(* Calls [use] with a channel of the contents of [length] bytes of zstd frames from [first] in a file. *)
let unpacked path first length use =
  let file = Filename.quote path in
  let command = Printf.sprintf "tail -c +%d %s | head -c %d | zstd -qdc" (first + 1) file length in
  let channel = Unix.open_process_in command in
  let result = use channel in
  if Unix.close_process_in channel <> WEXITED 0 then failwith "zstd fails";
  result

(* The claims in the blocks of a certificate with [count] claims: a function that gives their keys and bounds in turn. *)
let claims_of channel =
  let byte () = input_byte channel in
  let rec leb () = let b = byte () in if b < 128 then b else b - 128 + (leb () lsl 7) in
  let block = ref [||] and at = ref 0 in
  let read_block () =
    let group _ = let n = byte () in (n, leb ()) in
    let ranks (n, claims) =
      let rank = ref 0 in
      Array.init claims (fun _ -> rank := !rank + leb (); (n lsl 44) lor !rank)
    in
    let groups = List.map ranks (List.map group (List.init (leb ()) Fun.id)) in
    let keys = Array.concat groups in
    let lower = Array.map (fun _ -> byte ()) keys in
    block := Array.mapi (fun i key -> (key, lower.(i), (key lsr 44) - byte ())) keys;
    at := 0
  in
  fun () ->
    if !at = Array.length !block then read_block ();
    incr at;
    !block.(!at - 1)

(* Reads a certificate: docs/certificates.md, "The file". The program `zstd` unpacks its claims. *)
let certificate path =
  let file = open_in_bin path in
  let head = really_input_string file 128 in
  let size = longer head 32 in
  let f = head ^ really_input_string file size and length = in_channel_length file - 160 - size in
  close_in file;
  (* A bound of any size. Beyond 2^40, all are trivial or false. *)
  let value at = Int64.to_int (max (-0x10000000000L) (min 0x10000000000L (String.get_int64_le f at))) in
  let _, name, _ =
    try List.find (fun (number, _, _) -> number = byte f 12) rule_sets
    with Not_found -> failwith "relays are not covered"
  in
  let m = byte f 13 and count = longer f 16 in
  let pit i = long f (136 + (4 * i)) in
  let rows = { own = List.init m pit; other = List.init m (fun i -> pit (m + i)) } in
  let values at = (value at, value (at + 8)) in
  let bounds = 136 + (8 * m) in
  let rec openings left at =
    if left = 0 then [ ([], values bounds) ]
    else
      let moves = String.get_uint16_le f (at + 16) in
      (List.init moves (fun i -> byte f (at + 18 + i) - 1), values at) :: openings (left - 1) (at + 18 + moves)
  in
  let claims =
    if count = 0 then claims m 0 [||]
    else unpacked path (128 + size) length (fun channel -> packed_claims m count (claims_of channel))
  in
  { name; m; rests_on = byte f 15; game = { own_store = long f 128; other_store = long f 132; rows };
    statements = openings (long f 28) (bounds + 16); effort = byte f 14; count; claims }

(* Bounds of the score in [g] that bounds of the value need: docs/certificates.md, "When the statement holds". The value
   is that of the mover if [same], else of the other player. *)
let score_bounds g same (least, most) =
  let n = seeds g.rows in
  let lowest = g.own_store - g.other_store - n in
  let least, most = if same then (least, most) else (-most, -least) in
  (* Shifts divide down, as bounds below the lowest value need. *)
  (max 0 ((least - lowest + 1) asr 1), min n ((most - lowest) asr 1))
