(* The numbers that the theorems speak about: a table's scores, and the claims of a certificate.

   The theorems hold for any table and any claims. So nothing here can make a false statement pass, as long as
   [rank_in], [look_in], [claim_in] and [find_in] are functions: equal arguments give equal results, and no number is
   negative. They are, since they only read strings and arrays in memory that nothing changes. Strings cannot be written
   to, and each read of one is checked against its length. *)

open Kalah

(* Rule sets, with their numbers in files. Number 2 has relays. *)
let rule_sets = [ (0, "empty-capture", empty_capture); (1, "standard", standard); (3, "single-move", single_move) ]

(* Tables *)

(* C(p + i - 1, i) is at 128 * i + p, or 2^60 if that is less. Nothing outside this file can write to it: data.mli. *)
let choose =
  let c = Array.make (128 * 34) 0 in
  Array.fill c 0 128 1;
  for i = 1 to 33 do
    for p = 1 to 127 do
      c.((128 * i) + p) <- min (1 lsl 60) (c.((128 * i) + p - 1) + c.((128 * (i - 1)) + p))
    done
  done;
  c

(* A row's number among those with as many seeds, times 128, plus the seeds. *)
let number row =
  let rec go i sum rank = function
    | [] -> (rank lsl 7) lor sum
    | [ s ] -> (rank lsl 7) lor (sum + s)
    | s :: rest ->
        let sum = sum + s in
        go (i + 128) sum (rank + choose.(i + sum)) rest
  in
  go 128 0 0 row

(* Rows of [m] pits with [k] seeds. *)
let width m k = choose.((128 * (m - 1)) + k + 1)

(* Boards whose numbers fit below: ranks of positions in 44 bits, seeds in 7, and scores of tables in frames. *)
let limits =
  "the limits are 16 pits a side, 126 seeds in play (62 in tables), 2^44 ways to place these seeds, and 2^32 in a frame"
let within_limits m seeds = 1 <= m && m <= 16 && 0 <= seeds && seeds <= 126 && width (2 * m) seeds <= 1 lsl 44
let within_frames m seeds = width m (seeds / 2) * width m ((seeds + 1) / 2) < 1 lsl 32
let within_tables m seeds = within_limits m seeds && seeds <= 62 && within_frames m seeds

(* A frame of a layer: docs/format.md, "Frame". Its profile, groups and patches begin at these places of the file
   [bytes]. [bases] has the last byte of each group, so that a look-up reads few parts of memory. *)
type frame = { bytes : string; profile : int; groups : int; patches : int; width : int; bases : string }

(* The ranks in files of rows, by their seeds and their numbers, and the frames, by the seeds of both rows. *)
type table = { ranks : int array array; frames : frame array array }

let byte f at = Char.code (String.get f at)
let long f at = Int32.to_int (String.get_int32_le f at)
let longer f at = Int64.to_int (String.get_int64_le f at)
let padded size = (size + 63) / 64 * 64

let no_frame = { bytes = ""; profile = 0; groups = 0; patches = 0; width = 0; bases = "" }

(* The table of the [layers] from 2 seeds on, which are the bytes of files. *)
let table ranks layers =
  let n = Array.length layers + 1 in
  let frame k l =
    if k = 0 || l = 0 then no_frame
    else
      let bytes = layers.(k + l - 2) and entry = 128 + (72 * (k - 1)) in
      let profile = longer bytes entry and width = longer bytes (entry + 8) in
      let count = min (longer bytes (entry + 16)) (String.length bytes) in
      let groups = profile + padded width in
      let bases = String.init count (fun g -> bytes.[groups + (64 * g) + 63]) in
      { bytes; profile; groups; patches = groups + (64 * count); width; bases }
  in
  { ranks = Array.map Array.copy ranks; frames = Array.init (n + 1) (fun k -> Array.init (n + 1 - k) (frame k)) }

(* A row's rank in files; 0 for rows of more seeds than the table has. *)
let rank_in { ranks; _ } =
  fun row ->
    let number = number row in
    let k = number land 127 in
    if k < Array.length ranks then ranks.(k).(number lsr 7) land max_int else 0

(* The code of 4 bits at a place of the group that begins at [at]. *)
let half f at place = (byte f (at + (place lsr 1)) lsr (4 * (place land 1))) land 15

(* The same in a group with a patch. *)
let patched f group patch place =
  let exceptions = byte f (patch + 4) in
  let rec find i =
    if i = exceptions then half f (if place < 8 then patch else group) place
    else if byte f (patch + 5 + (2 * i)) = place then byte f (patch + 6 + (2 * i))
    else find (i + 1)
  in
  find 0

(* The score of the mover's row of [k] seeds with the rank [a] against the row of [l] seeds with the rank [b]; 0 without
   such a frame. The check fixes [k], [l] and [a] and varies [b]. So what depends on them only is computed first. *)
let look_in { frames; _ } =
  fun k l ->
    let frame = if k < Array.length frames && l < Array.length frames.(k) then frames.(k).(l) else no_frame in
    if frame.width = 0 then fun _ _ -> 0
    else
      fun a ->
        let profile = byte frame.bytes (frame.profile + a) - 64 in
        fun b ->
          let index = (b * frame.width) + a in
          (* This is index / 126: a frame has fewer than 2^32 positions. *)
          let g = ((index + 1) * 1090785345) lsr 37 in
          let base = byte frame.bases g in
          if base < 128 then
            (* As [half] in this group: 64 g + place / 2 = index / 2 + g. *)
            let code = (byte frame.bytes (frame.groups + (index lsr 1) + g) lsr (4 * (index land 1))) land 15 in
            (base + code + profile) land 255
          else
            let group = frame.groups + (64 * g) in
            let code = patched frame.bytes group (frame.patches + long frame.bytes group) (index - (126 * g)) in
            (base - 128 + code + profile) land 255

let score_in table = numbered (rank_in table) (look_in table)

(* Claims *)

(* The first [n] pits of a list, and the others. *)
let split n pits = (List.filteri (fun i _ -> i < n) pits, List.filteri (fun i _ -> i >= n) pits)

(* Sequence ranks: docs/certificates.md. The seeds in play are in the upper bits of a key. *)
let key p =
  let rec go i sum rank = function
    | [ _ ] | [] -> rank
    | s :: rest ->
        let sum = sum + s in
        go (i + 128) sum (rank + choose.(i + sum)) rest
  in
  (seeds p lsl 44) lor go 128 0 0 (p.own @ p.other)

let position_of m key =
  let rec go i last rank pits =
    if i = 0 then last :: pits
    else
      let rec largest p = if choose.((128 * i) + p) <= rank then p else largest (p - 1) in
      let p = largest last in
      go (i - 1) p (rank - choose.((128 * i) + p)) ((last - p) :: pits)
  in
  let own, other = split m (go ((2 * m) - 1) ((key lsr 44) land 127) (key land ((1 lsl 44) - 1)) []) in
  { own; other }

(* Claims, sorted by key, in pages of 16,384 and blocks of 64. A page begins with 12 bytes for each of its blocks: the key
   of its first claim, and the place of its claims in the page. There, a claim has numbers in LEB128: the difference of its
   key to the one before (the first claim of a block has none), and its bounds. With the lower bound l, and u less than
   the seeds in play as the upper bound, these are 3 l if u = 0, or 3 u + 1 if l = 0, or else 3 l + 2 and u. *)
let in_page = 16384
let in_block = 64

type claims = { m : int; count : int; firsts : int array; pages : string array }

let claims m count pages = { m; count; firsts = Array.map (fun page -> longer page 0) pages; pages = Array.copy pages }

let count_of { count; _ } = count

(* The number in LEB128 at a place, and the place after it. *)
let rec leb page at shift sum =
  if shift > 56 then invalid_arg "a number of a claim";
  let b = byte page at in
  let sum = sum lor ((b land 127) lsl shift) in
  if b < 128 then sum land max_int else leb page (at + 1) (shift + 7) sum

let number_at page at = let b = byte page at in if b < 128 then b else leb page at 0 0
let rec after page at = if byte page at < 128 then at + 1 else after page (at + 1)

(* The place after the bounds at a place. *)
let after_bounds page at =
  let code = number_at page at and at = after page at in
  if code mod 3 = 2 then after page at else at

let key_after key difference = (key + difference) land max_int

let claim_in { m; count; pages; _ } i =
  let page = pages.(i / in_page) and j = i mod in_page in
  let entry = 12 * (j / in_block) in
  let rec walk left at key =
    if left > 0 then
      let at = after_bounds page at in
      walk (left - 1) (after page at) (key_after key (number_at page at))
    else
      let code = number_at page at in
      let kind = code mod 3 and bound = code / 3 in
      let below = if kind = 0 then 0 else if kind = 1 then bound else number_at page (after page at) in
      { about = position_of m key; lower = (if kind = 1 then 0 else bound); upper = Int.max 0 ((key lsr 44) - below) }
  in
  walk (j mod in_block) (long page (entry + 8)) (longer page entry land max_int)

(* The last of the numbers [first] to [last] for which [f] is at most [key]; [first] if it is for none. *)
let rec last_up_to f (key : int) first last =
  if first >= last then first
  else
    let middle = (first + last + 1) / 2 in
    if f middle <= key then last_up_to f key middle last else last_up_to f key first (middle - 1)

(* The number of the claim about [p], or that of another claim, or [count]. *)
let find_in { count; firsts; pages; _ } p =
  if count = 0 then 0
  else
    let key = key p in
    let k = last_up_to (fun k -> firsts.(k)) key 0 (Array.length firsts - 1) in
    let page = pages.(k) and first = in_page * k in
    let claims = Int.min in_page (count - first) in
    let b = last_up_to (fun b -> longer page (12 * b)) key 0 ((claims - 1) / in_block) in
    let last = Int.min claims (in_block * (b + 1)) - 1 in
    let rec walk i at other =
      if other = key then first + i
      else if other > key || i = last then count
      else
        let at = after_bounds page at in
        walk (i + 1) (after page at) (key_after other (number_at page at))
    in
    walk (in_block * b) (long page ((12 * b) + 8)) (longer page (12 * b))
